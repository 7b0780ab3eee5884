#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""Who writes and who reads each field of the engine.

    tests/tools/owners.py [--table] [TREE]

A part of struct e2pf_engine is a struct of the file of its name, which alone may write
its fields.  Fails if another file does.  --table prints each field with its writer and
its readers.
"""
import os, re, sys

PARTS = ("schedule", "window", "pacing", "checker", "pool")
CORE = {"cfg": "engine", "run": "engine", "gave_up": "engine",
        "source": "engine", "devices": "engine", "lock": "lock"}
FOLDER = "lib/engine"
# What changes the field behind a name: an assignment, or an atomic operation on its
# address.  The lock and the conditions are waited for anywhere.
WRITE = r"\s*(?:=(?!=)|[-+|&^*/]=|\+\+|--)"
SHARED = {("pool", "work"), ("pool", "ended"), ("checker", "gate")}


def without_comments(text):
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"',
                  lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def fields_of(text, struct):
    """The names that struct e2pf_STRUCT declares."""
    body = re.search(r"struct e2pf_%s \{(.*?)\n\};" % struct, text, re.S)[1]
    names = []
    for line in without_comments(body).split(";"):
        for declarator in line.split(","):
            name = re.search(r"(\w+)(?:\[\w+\])*\s*$", declarator.strip())
            if name:
                names.append(name[1])
    return names


def part_uses(code, part, owner):
    """(field, writes) of each use of a field of this part in a file."""
    names = [r"\be->%s\." % part]
    for m in re.finditer(r"struct e2pf_%s \*(\w+)" % part, code):
        const = code[:m.start()].rstrip().endswith("const")
        names.append(r"\b%s->" % m[1])
        if not const and not owner:
            yield "(all, by a pointer)", True
    for name in set(names):
        for m in re.finditer(name + r"(\w+)((?:\[[^]]*\]|\.\w+)*)", code):
            before, after = code[:m.start()], code[m.end():]
            writes = bool(re.match(WRITE, after)) or \
                bool(re.search(r"(?:\+\+|--)$", before)) or \
                (before.endswith("&") and not before.endswith("&&") and
                 (part, m[1]) not in SHARED)
            yield m[1], writes


def main():
    args = [a for a in sys.argv[1:] if a != "--table"]
    folder = os.path.join(args[0] if args else ".", FOLDER)
    text = {f: open(os.path.join(folder, f)).read()
            for f in sorted(os.listdir(folder)) if f[-2:] in (".c", ".h")}
    bad = 0
    for part in PARTS:
        uses = {}
        for name, source in text.items():
            owner = name[:-2] == part
            for field, writes in part_uses(without_comments(source), part, owner):
                uses.setdefault(field, (set(), set()))[not writes].add(name)
        for field in fields_of(text[part + ".h"], part):
            writers, readers = uses.get(field, (set(), set()))
            if not writers and (part, field) not in SHARED:
                print("%s.%s: nobody writes it" % (part, field))
                bad += 1
            if "--table" in sys.argv:
                print("| %s.%s | %s | %s |" % (
                    part, field, ", ".join(sorted(writers)),
                    ", ".join(sorted(readers - writers)) or "-"))
        for field, (writers, _) in uses.items():
            for name in sorted(writers):
                if name[:-2] != part:
                    print("%s: writes %s.%s" % (name, part, field))
                    bad += 1
    if "--table" in sys.argv:
        for field, owner in CORE.items():
            print("| %s | %s.c | |" % (field, owner))
    return bad > 0


sys.exit(main())
