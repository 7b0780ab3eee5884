#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""Who writes each field of the engine.

    tests/tools/owners.py [TREE]

A part of struct e2pf_engine is a struct of the file of its name, which alone may write
its fields.  Fails if another file does, or if nobody writes one.
"""
import os, re, sys

PARTS = ("schedule", "window", "pacing", "checker", "pool")
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


def part_writes(code, part, owner):
    """Each field of this part that a file writes."""
    names = [r"\be->%s\." % part]
    for m in re.finditer(r"struct e2pf_%s \*(\w+)" % part, code):
        const = code[:m.start()].rstrip().endswith("const")
        names.append(r"\b%s->" % m[1])
        if not const and not owner:
            yield "(all, by a pointer)"
    for name in set(names):
        for m in re.finditer(name + r"(\w+)((?:\[[^]]*\]|\.\w+)*)", code):
            before, after = code[:m.start()], code[m.end():]
            if re.match(WRITE, after) or re.search(r"(?:\+\+|--)$", before) or \
                    (before.endswith("&") and not before.endswith("&&") and
                     (part, m[1]) not in SHARED):
                yield m[1]


def main():
    folder = os.path.join(sys.argv[1] if sys.argv[1:] else ".", FOLDER)
    text = {f: open(os.path.join(folder, f)).read()
            for f in sorted(os.listdir(folder)) if f[-2:] in (".c", ".h")}
    bad = []
    for part in PARTS:
        written = {field for field in SHARED if field[0] == part}
        for name, source in text.items():
            owner = name[:-2] == part
            for field in part_writes(without_comments(source), part, owner):
                written.add((part, field))
                if not owner:
                    bad.append("%s: writes %s.%s" % (name, part, field))
        bad += ["%s.%s: nobody writes it" % (part, field)
                for field in fields_of(text[part + ".h"], part)
                if (part, field) not in written]
    print("\n".join(sorted(set(bad))), end="\n" if bad else "")
    return bool(bad)


sys.exit(main())
