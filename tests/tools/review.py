#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""Compares a source tree with what was reviewed for our interposers.

  review.py TREE	which files differ from reviewed.txt

It prints the line that goes there after a review.  reviewed.txt has a line for each
reviewed text of a file: the sha256 of its words without comments, its name, and the
release in which it was read first.  The status is 0 if everything was reviewed.
"""
import hashlib
import os
import re
import sys

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reviewed.txt")

# Strings are kept, comments are not.
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|/\*.*?\*/|//[^\n]*',
                     re.S)


def words_of(path):
    """The words of a file, as bytes."""
    with open(path, encoding='utf-8', errors='replace') as source:
        text = COMMENT.sub(lambda m: m[1] or ' ', source.read())
    return ' '.join(re.findall(r'\w+|[^\w\s]', text)).encode()


def release_of(tree):
    with open(os.path.join(tree, 'version.h'), encoding='utf-8') as version:
        return re.search(r'E2FSPROGS_VERSION\s+"([^"]+)"', version.read())[1]


def changes(tree):
    """Yields (file, sum, release of its last review) for what was not reviewed."""
    known = {}
    with open(RECORD, encoding='utf-8') as record:
        for line in record:
            if not line.startswith('#'):
                digest, path, release = line.split()
                known.setdefault(path, {})[digest] = release
    for path, sums in known.items():
        digest = hashlib.sha256(words_of(os.path.join(tree, path))).hexdigest()
        if digest not in sums:
            yield path, digest, list(sums.values())[-1]


def main(tree):
    release, found = release_of(tree), list(changes(tree))
    for path, digest, last in found:
        print(f'compare {path} with that of {last}, and ours; afterwards:\n'
              f'{digest} {path} {release}')
    if found:
        return 1
    print(f'All of {release} was reviewed. This line of configure.ac accepts it:\n'
          f'E2FSPROGS_REVIEWED={release}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
