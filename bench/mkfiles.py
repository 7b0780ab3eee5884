# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""Fills a mounted filesystem with the metadata of many files: directories,
inodes, extent trees, indirect blocks.  Data blocks are allocated, but their
contents do not matter.  The same arguments make the same calls in the same
order.  `images' makes and mounts the filesystem.
"""
import ctypes
import errno
import os


class Random:
    """Vigna's xorshift64*: good enough to scatter, and the same everywhere."""

    def __init__(self, seed):
        self.state = (seed * 2654435761 + 88172645463325252) & (1 << 64) - 1

    def __call__(self, below):
        s = self.state
        s ^= s >> 12
        s ^= s << 25 & (1 << 64) - 1
        self.state = s = s ^ s >> 27
        return ((s * 2685821657736338717 & (1 << 64) - 1) >> 16) % below


def dir_path(n):
    """d0012/d0034: with 100 per level the upper directories fit into one
    block."""
    return f"d{n // 100:04}/d{n % 100:04}"


def make_dir(n, top="."):
    if n % 100 == 0:
        os.makedirs(f"{top}/d{n // 100:04}", exist_ok=True)
    os.mkdir(f"{top}/{dir_path(n)}")
    return f"{top}/{dir_path(n)}"


def shuffle(rnd, items):
    for k in range(len(items), 1, -1):
        j = rnd(k)
        items[j], items[k - 1] = items[k - 1], items[j]


def make(path, flags=0):
    return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | flags, 0o644)


def tail(rnd, most):
    """A number below @most; the cube of a fraction gives a long tail."""
    i = rnd(1000)
    return most * (i * i // 1000 * i // 1000) // 1000


def small(rnd, bs, dirs, files, blocks, written=False):
    """Directories of files of 0 to BLOCKS blocks, written or only allocated."""
    for n in range(dirs):
        path = make_dir(n)
        for f in range(files):
            fd = make(f"{path}/file-{f:05}.{rnd(1000):03}")
            if written:
                os.write(fd, bytes((1 + rnd(blocks)) * bs))
            elif blocks:
                os.posix_fallocate(fd, 0, bs * (1 + rnd(blocks)))
            os.close(fd)


def written(rnd, bs, dirs, files, blocks):
    small(rnd, bs, dirs, files, blocks, True)


def fragmented(rnd, bs, dirs, files, least, most):
    """Files of LEAST to MOST extents of one block, most of them near LEAST.
    Only even logical blocks are used, so that extents cannot be merged.  Eight
    files grow in turns so that their trees interleave."""
    for first in range(0, files, 8):
        grow = []
        for f in range(first, min(first + 8, files)):
            fd = make(f"{dir_path(rnd(dirs))}/frag-{f:06}")
            grow.append((fd, least + tail(rnd, most - least)))
        for i in range(max(want for _, want in grow)):
            for fd, want in grow:
                if i < want:
                    os.posix_fallocate(fd, 2 * bs * i, bs)
        for fd, _ in grow:
            os.close(fd)


def indirect(rnd, bs, dirs, files, chunks, blocks, together):
    """Sparse files with CHUNKS indirect blocks each, and BLOCKS blocks in each
    of those.  TOGETHER files grow at a time, in random order; files in the same
    block group take its blocks in turn."""
    data, reach = bytes(blocks * bs), bs * (bs // 4)
    for first in range(0, files, together):
        fds = [make(f"{dir_path(rnd(dirs))}/scat-{f:06}")
               for f in range(first, min(first + together, files))]
        for i in range(chunks):
            shuffle(rnd, fds)
            for fd in fds:
                os.pwrite(fd, data, 12 * bs + reach * i)
        for fd in fds:
            os.close(fd)


def aged_path(files, n):
    return f"{dir_path(n // files)}/aged-{n % files:05}"


def grow_by(rnd, fd, least, most):
    os.write(fd, bytes(least + rnd(most - least + 1)))
    os.close(fd)


def grown(rnd, _bs, dirs, files, least, most):
    """Directories of files of LEAST to MOST bytes."""
    for n in range(dirs):
        make_dir(n)
        for f in range(n * files, (n + 1) * files):
            grow_by(rnd, make(aged_path(files, f)), least, most)


def changed(rnd, _bs, dirs, files, least, most, count, every):
    """COUNT times, one of these files is written again, appended to, or deleted
    and made again.  Every EVERY times, everything is synchronised."""
    libc = ctypes.CDLL(None, use_errno=True)
    for i in range(1, count + 1):
        path, how = aged_path(files, rnd(dirs * files)), rnd(4)
        if how == 0:
            os.unlink(path)
        grow_by(rnd, make(path, os.O_APPEND if how == 1 else os.O_TRUNC),
                least, most)
        if i % every == 0 or i == count:
            top = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
            if libc.syncfs(top):
                raise OSError(ctypes.get_errno(), "syncfs")
            os.close(top)


def inline(_rnd, _bs, files, first, jobs):
    """FILES files of 2000 bytes in one directory, numbered from FIRST on, each
    job making its part of them, in turns."""
    for i in range(files // jobs):
        for n in range(jobs):
            fd = make(f"file_{first + n * (files // jobs) + i}")
            os.write(fd, b"\xab" * 2000)
            os.close(fd)


def every(_rnd, _bs, files, step):
    """Of these files each STEPth is overwritten in its first 20 bytes."""
    for i in range(0, files, step):
        fd = make(f"file_{i}")
        os.pwrite(fd, b"\xcd" * 20, 0)
        os.close(fd)


def extend(rnd, path, off, blocks, bs):
    """Allocate 1 to BLOCKS blocks, most of them near 1; a full filesystem is
    part of its age."""
    fd = make(path)
    try:
        os.posix_fallocate(fd, off, bs * (1 + tail(rnd, blocks)))
    except OSError as e:
        if e.errno != errno.ENOSPC:
            raise
    os.close(fd)


def age(rnd, bs, files, rounds, blocks, grow, one_path):
    """In each round FILES files of up to BLOCKS blocks are created where ONE_PATH
    says; then of all files an eighth is deleted, an eighth rewritten, and an
    eighth grows, GROW times."""
    every, number = [], 0
    for _ in range(rounds):
        for i in range(files):
            every.append(f"{one_path(i)}/aged-{number}")
            number += 1
            extend(rnd, every[-1], 0, blocks, bs)
        for _ in range(len(every) // 8):
            k = rnd(len(every))
            os.unlink(every[k])
            every[k] = every[-1]
            every.pop()
            path = every[rnd(len(every))]
            os.truncate(path, 0)
            extend(rnd, path, 0, blocks, bs)
            for _ in range(grow):
                path = every[rnd(len(every))]
                extend(rnd, path, os.stat(path).st_size, blocks // 4 // grow, bs)


def aged(rnd, bs, dirs, files, rounds, blocks):
    """A filesystem that ages in directories, which grow."""
    for n in range(dirs):
        make_dir(n)
    age(rnd, bs, files, rounds, blocks, 1, lambda _: dir_path(rnd(dirs)))


def rooted(rnd, bs, dirs, files, rounds, blocks, grow=1):
    """One whose directories are made while it ages, DIRS in each round, each in
    one of those that are there."""
    directories = ["."]

    def one_path(i):
        if i * dirs // files != (i + 1) * dirs // files:
            directories.append(f"{directories[rnd(len(directories))]}/d{len(directories)}")
            os.mkdir(directories[-1])
        return directories[rnd(len(directories))]

    age(rnd, bs, files, rounds, blocks, grow, one_path)


def hashed(rnd, bs, outer, inner, files, blocks, listed=0):
    """OUTER directories, with INNER in each unless that is 0, and FILES files of
    BLOCKS blocks in any of them, named as by a hash.  With LISTED, `list' has the
    names in another order."""
    names, top = [f"{n:0{len(f'{outer - 1:x}')}x}" for n in range(outer)], []
    for name in names:
        os.mkdir(name)
        for n in range(inner):
            os.mkdir(f"{name}/{n:02x}")
            top.append(f"{name}/{n:02x}")
    top, paths = top or names, []
    for _ in range(files):
        digits = "".join(f"{rnd(1 << 32):08x}" for _ in range(8))
        paths.append(f"{top[rnd(len(top))]}/{digits}")
        fd = make(paths[-1])
        if blocks:
            os.posix_fallocate(fd, 0, bs * blocks)
        os.close(fd)
    if listed:
        shuffle(rnd, paths)
        with open("list", "w") as f:
            f.writelines(path + "\n" for path in paths)


def generations(rnd, bs, copies, dirs, files, changed):
    """Copies of DIRS directories of FILES files, as rsnapshot keeps them: a file is
    linked from the copy before, but for one of CHANGED.  The newest is `daily.0'."""
    for copy in range(copies):
        here, before = f"daily.{copies - 1 - copy}", f"daily.{copies - copy}"
        for n in range(dirs):
            make_dir(n, here)
            for f in range(files):
                name = f"{dir_path(n)}/file-{f:05}"
                if copy and rnd(changed):
                    os.link(f"{before}/{name}", f"{here}/{name}")
                    continue
                fd = make(f"{here}/{name}")
                os.posix_fallocate(fd, 0, bs * (1 + rnd(4)))
                os.close(fd)


KINDS = {f.__name__: f for f in (small, written, fragmented, indirect, grown,
                                 changed, inline, every, aged, rooted, hashed,
                                 generations)}


def fill(directory, seed, kind, *numbers):
    before = os.getcwd()
    os.chdir(directory)
    try:
        KINDS[kind](Random(seed), os.stat(".").st_blksize, *numbers)
    finally:
        os.chdir(before)
