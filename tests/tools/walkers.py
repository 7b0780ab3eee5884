#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""Lists the directories below DIRECTORY, with several threads of the kernel.

    walkers.py together|in-turn THREADS DIRECTORY

together: each lists a part of them, and computes for two milliseconds after each
directory.  in-turn: each lists one, and then it is the next one's turn.
"""

import os
import sys
import threading
import time

WAY, THREADS, TOP = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def walk_part(number):
    subtrees = sorted(entry.path for entry in os.scandir(TOP) if entry.is_dir())
    for subtree in subtrees[number::THREADS]:
        for path, _, _ in os.walk(subtree):
            os.write(1, path.encode() + b"\n")
            compute(0.002)


def together():
    """In processes: threads of Python do not compute at the same time."""
    children = []
    for number in range(THREADS):
        child = os.fork()
        if not child:
            walk_part(number)
            os._exit(0)
        children.append(child)
    return any([os.waitpid(child, 0)[1] for child in children])


def in_turn():
    walk = os.walk(TOP)
    turns = [threading.Semaphore(0) for _ in range(THREADS)]

    def take_turns(number):
        path = TOP
        while path:
            turns[number].acquire()
            path, _, _ = next(walk, ("", 0, 0))
            os.write(1, path.encode() + b"\n")
            turns[(number + 1) % THREADS].release()

    threads = [threading.Thread(target=take_turns, args=[n]) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    turns[0].release()
    for thread in threads:
        thread.join()


sys.exit(together() if WAY == "together" else in_turn())
