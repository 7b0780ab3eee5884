#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a source tree with what was reviewed for our replacements.

  review.py TREE		which functions and structures differ from reviewed.txt
  review.py --record TREE	add those of TREE to it, after they were reviewed

reviewed.txt beside this file has a line for each reviewed text of an item: the
sha256 of its words without comments, its file, its name, and the release in which it
was read first.  An item may have several texts.  A name of "*" without a sum stands
for all items of a file.  The status is 0 if everything was reviewed, 1 if not, 2 if
the tree cannot be read.
"""
import hashlib
import os
import re
import sys

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reviewed.txt")

# Strings are kept, comments are not.
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|/\*.*?\*/|//[^\n]*',
                     re.S)
# In kernel style what begins in the first column ends with a semicolon, or with a
# brace in the first column.
ITEM = re.compile(r'^#[ \t]*define[ \t]+(?P<macro>\w+)(?:\\\n|[^\n])*|'
                  r'^(?=[A-Za-z_])(?P<head>[^;{}]*?)'
                  r'(?:;|\{[^\n{}]*\}[^\n]*$|\{.*?^\}[^\n]*)', re.M | re.S)


def name_of(head):
    """What an item is called, from the text before its brace or semicolon."""
    words = re.sub(r'__attribute__\s*\(\(.*?\)\)|\([^()]*\*[^()]*\)', '', head)
    kind = re.match(r'(?:typedef\s+)?((?:struct|union|enum)\s+\w+)\s*$', words.strip())
    if kind:
        return '_'.join(kind[1].split())
    before = re.split(r'[(=]', words)[0]
    found = re.findall(r'\w+', re.sub(r'\[.*?\]', '', before))
    return found[-1] if found else ''


def items(path):
    """The items of a file: {name: sum}.  Several of one name are one item."""
    with open(path, encoding='utf-8', errors='replace') as source:
        text = COMMENT.sub(lambda m: m[1] or ' ', source.read())
    texts = {}
    for found in ITEM.finditer(text):
        words = ' '.join(re.findall(r'\w+|[^\w\s]', found[0]))
        name = found['macro'] or name_of(found['head'])
        texts.setdefault(name, []).append(words)
    return {name: hashlib.sha256('\n'.join(all_of).encode()).hexdigest()
            for name, all_of in texts.items()}


def release_of(tree):
    with open(os.path.join(tree, 'version.h'), encoding='utf-8') as version:
        return re.search(r'E2FSPROGS_VERSION\s+"([^"]+)"', version.read())[1]


def read_record():
    """What to look at, as {file: names}, and the reviewed (file, name, sum)."""
    wanted, known = {}, set()
    with open(RECORD, encoding='utf-8') as record:
        for line in record:
            if line.startswith('#') or not line.strip():
                continue
            digest, path, name = line.split()[:3]
            wanted.setdefault(path, set()).add(name)
            known.add((path, name, digest))
    return wanted, known


def changes(tree):
    """Yields (file, name, sum) for all that was not reviewed."""
    wanted, known = read_record()
    for path in sorted(wanted):
        full = os.path.join(tree, path)
        there = items(full) if os.path.exists(full) else {}
        names = wanted[path] | (set(there) if '*' in wanted[path] else set())
        for name in sorted(names - {'*'}):
            # What has gone from a whole file has callers there that changed.
            if name not in there and '*' in wanted[path]:
                continue
            digest = there.get(name, 'gone')
            if (path, name, digest) not in known:
                yield path, name, digest


def main(arguments):
    record = arguments[:1] == ['--record']
    if len(arguments) != 1 + record:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    tree = arguments[-1]
    try:
        release, found = release_of(tree), list(changes(tree))
    except (OSError, TypeError) as error:
        print(f'review.py: {tree} is no source of e2fsprogs: {error}', file=sys.stderr)
        return 2
    for path, name, digest in found:
        print(f'{path}: {name}{" is gone" if digest == "gone" else ""}')
    if found and record:
        with open(RECORD, 'a', encoding='utf-8') as out:
            out.writelines(f'{digest} {path} {name} {release}\n'
                           for path, name, digest in found)
    elif found:
        print(f'{len(found)} not reviewed in {release}: compare them with ours, '
              'then record them with --record')
        return 1
    print(f'All of {release} was reviewed. This line of configure.ac accepts it:\n'
          f'E2FSPROGS_REVIEWED={release}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
