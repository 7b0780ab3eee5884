#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""Finds words that have another name in this project.

    tests/tools/words.py [TREE]

rejected-words.txt has them, and what to use instead.
"""
import os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
SUFFIXES = (".c", ".h", ".md", ".sh", ".py", ".am", ".ac", ".in", ".conf", ".map", ".5", ".8")
# History; and the words themselves.
WITHOUT = re.compile(r"CHANGELOG|(^|/)(check-build|autom4te\.cache|build-aux|m4)/|Makefile\.in$|words\.py$|config\.h")


def rules():
    with open(os.path.join(HERE, "rejected-words.txt"), encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                word, use = line.rstrip("\n").split(" -> ")
                use, _, but = use.partition(" but ")
                use, _, path = use.partition(" in ") if " in " in use and use.endswith("$") \
                    else (use, "", "")
                yield (re.compile(r"(?<![A-Za-z])(?:%s)(?![a-z])" % word, re.I), use,
                       re.compile(but) if but else None, re.compile(path))


def files(tree):
    for at, below, names in os.walk(tree):
        below[:] = sorted(d for d in below if not d.startswith("."))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(at, name), tree)
            if not WITHOUT.search(path) and (name.endswith(SUFFIXES) or
                                             path.startswith("debian/") and name != "changelog"):
                yield path


def main(tree="."):
    table, found = list(rules()), 0
    for path in files(tree):
        with open(os.path.join(tree, path), encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                for word, use, but, where in table:
                    for m in word.finditer(line):
                        near = "%s: %s" % (path, line[max(m.start() - 30, 0):m.end() + 30])
                        if where.search(path) and not (but and but.search(near)):
                            print('%s:%d: error: "%s": use %s' % (path, number, m[0], use))
                            found = 1
    return found


sys.exit(main(*sys.argv[1:]))
