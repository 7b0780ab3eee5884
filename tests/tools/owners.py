#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""The order of the files of each directory, and who writes each field of the engine's parts.

    tests/tools/owners.py [TREE]

Fails if files of a directory call or include each other in a circle, if a file of the engine calls
upwards (LEVELS), has no header, or defines a function for others without its own name in it; if
anybody but LOCKERS takes the engine's lock, anything but pf_state_handle_events() wakes
somebody, or one of LOCKERS does without the lock what needs it.  A part is a struct of the file
of its name, which alone may write its fields: fails if another file does, or if nobody writes
one.
"""
import os, re, sys

DIRECTORY = "prefetch"
MODULES = ("e2fsck", "btrfs")
OTHERS = ("bench", "cmd", "e2fsck/accel", "ext4", "lib", "preload")
LEVELS = (("blockset", "cost", "elevator", "inflight"),
          ("health", "pool", "schedule", "stats", "survey", "window"),
          ("state",), ("gate",), ("claim",), ("worker",), ("engine",))
PARTS = ("cost", "gate", "health", "inflight", "pool", "schedule", "stats", "window")
# Not of the engine: what it uses, and what uses it.
BELOW = ("budget", "cgroup", "device", "filter", "share", "speed", "spindle", "tasks", "topology")
ABOVE = ("progress", "report", "session", "settings", "statistics")
LOCKERS = ("gate", "claim", "engine")
# What changes the field behind a name: an assignment, or an atomic operation on its
# address.
WRITE = r"\s*(?:=(?!=)|[-+|&^*/]=|\+\+|--)"
WAKES = r"\bpthread_cond_(?:broadcast|signal)\("
LOCKS = r"\b(?:E2PF_LOCKED|e2pf_lock_within|pthread_mutex_(?:un)?lock)\("
WAITS = r"\bpthread_cond_(?:timed)?wait\("
# What is called only with the lock, beside what headers name and what calls that in turn; and
# what runs before there is another thread.
NEED_LOCK = {"pthread_cond_wait", "pthread_cond_timedwait"}
ALONE = {"pf_engine_new"}


def without_comments(text):
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"',
                  lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def functions_of(code, but="static inline"):
    """The functions that a file defines: name and body."""
    for m in re.finditer("^(?!" + but + r")[a-z][^;{}()]*?(\w+)\([^;{}]*\)\n\{\n(.*?)^\}",
                         code, re.S | re.M):
        yield m[1], m[2]


def order(code, bad, real=""):
    """The files that each calls, but for data that no file defines.  The linker leads calls
    of the names in `real` to the file of that name."""
    home = {name: f for f, text in code.items() for name, _ in functions_of(text, "static")}
    home.update((name, "real") for name in re.findall(r"(?:\$\(wrap\)|^\t)(\w+)(?=;$|[ \\\n])", real, re.M))
    calls = {f: {home[n] for n in re.findall(r"\b(\w+)\b(?=[(,;)])", text)
                 if home.get(n, f) != f and f != "real"} for f, text in code.items()}
    circle(calls, "calls", bad)
    return calls


def circle(graph, what, bad):
    left = dict(graph)
    while left:
        free = sorted(f for f in left if not left[f] & set(left))
        if not free:
            bad.append("a circle of %s: %s" % (what, ", ".join(sorted(left))))
            break
        for f in free:
            del left[f]


def naming(code, header, bad):
    circle({f: set(re.findall(r'^#include "(\w+)\.h"', text, re.M)) - {f}
            for f, text in header.items()}, "includes", bad)
    for f, text in code.items():
        if f not in header:
            bad.append("%s.c has no header" % f)
        bad += ["%s.c: %s() is not named pf_%s_..." % (f, name, f)
                for name, _ in functions_of(text, "static") if not name.startswith("pf_%s_" % f)]


def upwards(calls, bad):
    level = {f: i for i, files in enumerate((BELOW, *LEVELS, ABOVE)) for f in files}
    bad += ["%s.c: of no level" % f for f in calls if f not in level]
    for f in calls:
        bad += ["%s.c calls upwards: %s.c" % (f, other) for other in sorted(calls[f])
                if level.get(other, 0) > level.get(f, 0)]


def waking(code, bad):
    for f, text in code.items():
        if f not in LOCKERS and re.search(LOCKS + "|" + WAITS, text):
            bad.append("%s.c takes the engine's lock, or waits" % f)
        wakes = len(re.findall(WAKES, text))
        wakes -= sum(len(re.findall(WAKES, body)) for name, body in functions_of(text)
                     if name == "pf_state_handle_events")
        if wakes:
            bad.append("%s.c wakes somebody, but not in pf_state_handle_events()" % f)


def need_lock(header):
    """The functions that a part's header declares below "... need pf_engine.lock"."""
    need = False
    for m in re.finditer(r"^/\*(.*?)\*/|\b(pf_\w+)\((?=[^;{}]*\);)", header,
                         re.S | re.M):
        if m[2] and need:
            yield m[2]
        elif m[1]:
            need = "need pf_engine.lock" in m[1] or \
                   (need and not re.search("need no lock|These do not", m[1]))


def locking(code, header, bad):
    """Is what needs the lock called with it?"""
    need, more = set(), NEED_LOCK.union(*(need_lock(text) for text in header.values()))
    declared = set(more)
    for f in set(code) - {"state", *LOCKERS, *PARTS}:
        bad += ["%s.c: %s() needs the lock" % (f, name)
                for name in re.findall(r"\b(\w+)\(", code[f]) if name in more]
    bodies = {(f, name): body for f in LOCKERS for name, body in functions_of(code[f])
              if name not in ALONE}
    while not more <= need:
        need, more = need | more, set()
        for (f, name), body in bodies.items():
            for m in re.finditer(r"\b(?:%s)\(" % "|".join(need), body):
                held = re.findall(LOCKS, body[:m.start()])
                if held and "unlock" in held[-1]:
                    bad.append("%s.c: %s() has released the lock" % (f, name))
                elif not held:
                    more.add(name)
    bad += ["%s.c: %s() needs the lock" % (f, name) for f, name in bodies
            if name in need - declared and
            not re.search(r"^static [^;{}()]*\b%s\(" % name, code[f], re.M)]


def fields_of(text, struct):
    """The names that struct pf_STRUCT declares."""
    body = re.search(r"struct pf_%s \{(.*?)\n\};" % struct, text, re.S)[1]
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
    for m in re.finditer(r"struct pf_%s \*(\w+)" % part, code):
        if owner or not code[:m.start()].rstrip().endswith("const"):
            names.append(r"\b%s->" % m[1])
    for name in set(names):
        for m in re.finditer(name + r"(\w+)((?:\[[^]]*\]|\.\w+)*)", code):
            before, after = code[:m.start()], code[m.end():]
            if re.match(WRITE, after) or re.search(r"(?:\+\+|--)$", before) or \
                    (before.endswith("&") and not before.endswith("&&")):
                yield m[1]


def ownership(code, header, bad):
    for part in PARTS:
        written = set()
        for f, text in code.items():
            for field in part_writes(text, part, f == part):
                if f != part:
                    bad.append("%s.c: writes %s.%s" % (f, part, field))
                written.add(field)
        bad += ["%s.%s: nobody writes it" % (part, field)
                for field in fields_of(header[part], part) if field not in written]


def read_directory(*path):
    """The code of its .c files, and the text of its headers."""
    directory = os.path.join(*path)
    text = {f: open(os.path.join(directory, f)).read()
            for f in sorted(os.listdir(directory)) if f[-2:] in (".c", ".h")}
    return ({f[:-2]: without_comments(t) for f, t in text.items() if f.endswith(".c")},
            {f[:-2]: t for f, t in text.items() if f.endswith(".h")})


def main():
    tree = sys.argv[1] if len(sys.argv) > 1 else "."
    everything, header = read_directory(tree, DIRECTORY)
    code = {f: t for f, t in everything.items() if f not in BELOW + ABOVE}
    bad = []
    calls = order(everything, bad)
    upwards(calls, bad)
    naming(code, header, bad)
    waking(code, bad)
    locking(code, header, bad)
    ownership(code, header, bad)
    for directory in MODULES:
        real = "".join(open(os.path.join(tree, directory, f)).read()
                       for f in os.listdir(os.path.join(tree, directory))
                       if f == "Makefile.am" or f.endswith(".map"))
        order(read_directory(tree, directory)[0], bad, real)
    for directory in OTHERS:
        order(read_directory(tree, directory)[0], bad)
    print("\n".join(sorted(set(bad))), end="\n" if bad else "")
    return bool(bad)


sys.exit(main())
