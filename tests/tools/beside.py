#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""What a command that e2prefetch runs is given, and that nothing outlives it.

    beside.py WAY RUNS PREFETCHER ARG...	WAY: pid group timeout terminal all start state
"""

import ctypes
import json
import os
import pty
import random
import signal
import sys
import tempfile
import time

SIGNALS = [signal.SIGTERM, signal.SIGINT]
RUN = str(os.getpid())
LIBC = ctypes.CDLL(None)
SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 36, 37


def write(path, text):
    with open(path + ".new", "w", encoding="ascii") as out:
        out.write(text)
    os.rename(path + ".new", path)


def count(path):
    """A command: write how many signals come."""
    number = 0
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    write(path, "ready")
    while signal.sigtimedwait(SIGNALS, 0.3 if number else 60):
        number += 1
    write(path, str(number))


def state(path):
    """A command: write what it was given."""
    status = dict(line.split(":\t", 1) for line in open("/proc/self/status", encoding="ascii"))
    keep = "Umask", "PPid", "NSpgid", "NSsid", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt"
    adopts = ctypes.c_int()
    LIBC.prctl(GET_CHILD_SUBREAPER, ctypes.byref(adopts))
    given = {name: status[name] for name in keep if name in status}
    given["PID"] = os.getpid()
    given["nice"] = os.nice(0)
    given["adopts"] = adopts.value
    given["environment"] = sorted(f"{k}={v}" for k, v in os.environ.items() if k != "_")
    files = [fd for fd in sorted(map(int, os.listdir("/proc/self/fd"))) if os.path.exists(f"/proc/self/fd/{fd}")]
    given["files"] = [(fd, os.readlink(f"/proc/self/fd/{fd}")) for fd in files]
    given["files"] = [file for file in given["files"] if "/proc/" not in file[1]]
    try:
        given["child"] = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        given["child"] = None
    write(path, json.dumps(given, indent=1))


def processes():
    """The PIDs of all that this run has started and that have not ended."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:
                if f"E2PF_TEST_RUN={RUN}\0".encode() in environ.read():
                    found.add(int(pid))
        except OSError:
            pass
    return found


def await_end():
    """The command has ended.  Returns the seconds until all others have."""
    began = time.monotonic()
    while processes():
        if time.monotonic() - began > 60:
            sys.exit("a reader outlives its command")
        time.sleep(0.0005)
    return time.monotonic() - began


def begin(way, arguments, prepare=None):
    """Returns the PID of the command, and its terminal."""
    pid, terminal = pty.fork() if way == "terminal" else (os.fork(), -1)
    if not pid:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if way != "terminal":
            os.setpgid(0, 0)
        if prepare:
            prepare()
        os.execvpe(arguments[0], arguments, dict(os.environ, E2PF_TEST_RUN=RUN))
    return pid, terminal


def send(way, pid, terminal):
    if way == "pid":
        os.kill(pid, signal.SIGTERM)
    elif way == "group":
        os.killpg(pid, signal.SIGTERM)
    elif way == "terminal":
        os.write(terminal, b"\3")
    elif way == "all":
        # As systemd stops the processes of a unit.
        for one in sorted(processes()):
            os.kill(one, signal.SIGTERM)


def content(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except FileNotFoundError:
        return None


def run_counted(way, prefix, path):
    """Send a signal.  Returns how many have come, and how long the reader was left."""
    command = prefix + [sys.executable, __file__, "count", path]
    pid, terminal = begin(way, ["timeout", "1"] * (way == "timeout") + command)
    while way != "timeout" and not content(path):
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            sys.exit("the command has ended before the signal")
        time.sleep(0.005)
    send(way, pid, terminal)
    os.waitpid(pid, 0)
    seconds = await_end()
    if terminal >= 0:
        os.close(terminal)
    return content(path), seconds


def run_early(prefix):
    """A signal at any time after the start ends the command."""
    pid, _ = begin("pid", prefix + ["sleep", "100"])
    time.sleep(random.random() * 0.05)
    os.kill(pid, signal.SIGTERM)
    status = os.waitpid(pid, 0)[1]
    await_end()
    return str(int(os.WIFSIGNALED(status)))


def adopt():
    LIBC.prctl(SET_CHILD_SUBREAPER, 1)


def block_child():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])


def ignore():
    for number in signal.SIGCHLD, signal.SIGPIPE, signal.SIGHUP:
        signal.signal(number, signal.SIG_IGN)


def close_files():
    for fd in 0, 1, 2:
        os.close(fd)


def leave_open():
    os.dup2(1, 9)


def run_state(prefix, prepare, path):
    pid, _ = begin("state", prefix + [sys.executable, __file__, "state", path], prepare)
    os.waitpid(pid, 0)
    given = json.loads(content(path))
    for name in "PID", "NSpgid":
        if int(given.pop(name)) != pid:
            sys.exit(f"{name} is not the one of the process that was started")
    return given


def main(way, *rest):
    if way in ("count", "state") and len(rest) == 1:
        return globals()[way](rest[0])
    runs, prefix = int(rest[0]), list(rest[1:]) + ["--"]
    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/out"
        if way == "state":
            for prepare in None, adopt, block_child, ignore, close_files, leave_open:
                alone, ours = run_state([], prepare, path), run_state(prefix, prepare, path)
                if alone != ours:
                    sys.exit(f"{prepare}:\n{alone}\n{ours}")
            return 0
        numbers, longest = {}, 0
        for _ in range(runs):
            seconds = 0
            if way == "start":
                number = run_early(prefix)
            else:
                number, seconds = run_counted(way, prefix, path)
                os.unlink(path)
            numbers[number] = numbers.get(number, 0) + 1
            longest = max(longest, seconds)
        print(f"{way}: signals that came, runs: {numbers}; a reader for {longest * 1000:.1f} ms")
        # timeout(1) sends it to its child, and then to their group.
        return bool(set(numbers) - ({"1", "2"} if way == "timeout" else {"1"}))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
