# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""Sets up and takes down what a timing run needs.

A Workspace is a directory in /dev/shm with copies of images.  A Device is one
image behind one model: a diskmodel process, its FUSE mount, and a loop
device on the file it serves; or the plain image file on this machine's own
disk.  Which runs are made, and how figures are presented, is
decided elsewhere.
"""
import contextlib
import ctypes
import fcntl
import glob
import json
import mmap
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BENCH_BUILD", HERE)
PREFIX = "e2prefetch-bench-"
BLKFLSBUF = 0x1261


class RigError(Exception):
    """Something prevents a run; the text says what."""


def say(words):
    print(words, file=sys.stderr, flush=True)


def find_program(name):
    """A program of this directory, as built."""
    path = os.path.join(BUILD, name)
    if not os.access(path, os.X_OK):
        raise RigError(f"{path} is not built: run make, or set BENCH_BUILD to "
                       "the directory it is in")
    return path


def default_ours(program):
    """The wrapper of the build tree."""
    return os.path.abspath(os.path.join(BUILD, "..", program, program))


def model_path(name):
    """The parameter file of a model, as NAME or NAME:KEY=VALUE..."""
    name = name.partition(":")[0]
    if "/" in name:
        return name
    path = os.path.join(HERE, "models", name + ".conf")
    if not os.path.exists(path):
        raise RigError(f"{name}: no such model; there are " +
                       ", ".join(sorted(models())))
    return path


def model_options(name):
    """The options of diskmodel for a model, as in model_path()."""
    return [f"--set={key}={value}" for key, value in model_keys(name).items()
            if key != "about"]


def models():
    return [os.path.basename(p)[:-5]
            for p in glob.glob(os.path.join(HERE, "models", "*.conf"))
            if not p.endswith("/zero.conf")]


def model_keys(name):
    """The parameters of a model as a dictionary of strings."""
    keys = {}
    with open(model_path(name)) as f:
        lines = f.read().splitlines() + name.split(":")[1:]
    for line in lines:
        key, eq, value = (word.strip() for word in
                          line.partition("#")[0].partition("="))
        if key == "like":
            keys.update(model_keys(value))
        elif eq:
            keys[key] = value
    return keys


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_on_signals():
    """Make SIGTERM and SIGHUP clean up as Ctrl-C does.  Only the first signal
    counts: timeout sends two."""
    def ignore(_signum, _frame):
        pass

    def handler(signum, _frame):
        set_handlers(ignore)
        raise KeyboardInterrupt(signum)

    def set_handlers(function):
        for signum in SIGNALS:
            # In the background a shell has SIGINT ignored.
            if signal.getsignal(signum) != signal.SIG_IGN:
                signal.signal(signum, function)

    set_handlers(handler)


@contextlib.contextmanager
def undisturbed():
    """Signals that would stop this program wait until the block ends."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def caches_dropped():
    """How often anybody has dropped caches on this machine."""
    with open("/proc/vmstat") as f:
        return sum(int(number) for key, number in map(str.split, f)
                   if key in ("drop_pagecache", "drop_slab"))


class Stack(contextlib.ExitStack):
    """What is set up on it is taken down whatever signals come meanwhile.  Set
    up and push in one undisturbed() block."""

    def __exit__(self, *details):
        with undisturbed():
            return super().__exit__(*details)


def need_modelled():
    """Fail if this process cannot use a modelled device."""
    if os.geteuid():
        raise RigError("modelled devices take root")
    for path in ("/dev/fuse", "/dev/loop-control"):
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        except OSError as e:
            raise RigError(f"no modelled device: {path}: {e.strerror}") from e


def output_of(*args):
    p = subprocess.run(args, stdin=subprocess.DEVNULL, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise RigError(f"{args[0]}: {p.stderr.strip()}")
    return p.stdout.strip()


def mem_available():
    with open("/proc/meminfo") as f:
        for line in f:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


@contextlib.contextmanager
def process(command, **details):
    """A Popen that does not outlive the block."""
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL, **details)
    try:
        yield p
    finally:
        if p.poll() is None:
            p.kill()
            p.wait()


@contextlib.contextmanager
def only_run(files):
    """No other run has these files in use until the block ends, if the image has
    several: of all block devices a check takes those with the right UUID, of another
    run, too, whose devices may go at any time."""
    with open(files[-1], "rb") as f:
        if len(files) > 1:
            fcntl.flock(f, fcntl.LOCK_EX)
        yield


def image_path(text, directory=None):
    """The path of a file, or of a named image, which is made if necessary.  When
    this program is stopped, so is who makes it, and has the time to clean up."""
    if os.path.isfile(text):
        return os.path.abspath(text)
    command = [sys.executable, os.path.join(HERE, "images"),
               *(["--dir", directory] if directory else []), text]
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, text=True)
    try:
        path, _ = p.communicate()
    except BaseException:
        with undisturbed():
            p.terminate()
            p.wait()
        raise
    if p.returncode:
        raise RigError(f"no such image: {text}")
    return path.strip()


def own_mounts():
    """See mounts that nobody else sees: a filesystem would stay mounted if a
    process took a copy of all mounts meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    clone_newns = 0x20000
    if libc.unshare(clone_newns):
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


class Workspace(Stack):
    """A directory that is removed when the with block ends."""

    def __init__(self, root=None):
        super().__init__()
        self.root = root or ("/dev/shm" if os.path.isdir("/dev/shm")
                             else tempfile.gettempdir())

    def __enter__(self):
        with undisturbed():
            self.path = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-",
                                         dir=self.root)
            self.callback(shutil.rmtree, self.path, ignore_errors=True)
        return super().__enter__()

    def copy_of(self, image, read_only=False):
        """A copy of @image that a run may write to; the image itself if it is
        only read and is in the same filesystem."""
        if read_only and os.stat(image).st_dev == os.stat(self.path).st_dev:
            return image
        need = os.stat(image).st_blocks * 512
        # The page cache of the device needs as much again.
        if self.root == "/dev/shm" and mem_available() < 2 * need + (1 << 30):
            raise RigError(f"{image} takes {need >> 20} MiB, twice that and "
                           "1 GiB must be available; choose a smaller scale")
        path = os.path.join(self.path, os.path.basename(image))
        subprocess.run(["cp", "--sparse=always", "--reflink=auto", image,
                        path], check=True)
        return path


def image_files(path):
    """The files of an image, one per device: NAME.img, NAME.img.2, ..."""
    files = [path]
    while os.path.exists(f"{path}.{len(files) + 1}"):
        files.append(f"{path}.{len(files) + 1}")
    return files


@contextlib.contextmanager
def cgroup(limit):
    """A function that puts the calling process into a new memory cgroup,
    of @limit bytes, page cache included."""
    first, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
    if not os.path.isdir(first):
        first, name = "/sys/fs/cgroup", "memory.max"
    path = os.path.join(first, f"{PREFIX}{os.getpid()}-memory")

    def enter():
        with open(os.path.join(path, "cgroup.procs"), "w") as f:
            f.write(str(os.getpid()))

    try:
        os.mkdir(path)
    except OSError as e:
        raise RigError(f"no memory cgroup: {e.strerror}") from e
    try:
        with open(os.path.join(path, name), "w") as f:
            f.write(str(limit))
        yield enter
    except OSError as e:
        raise RigError(f"{path}: {e.strerror}") from e
    finally:
        remove_group(path)


def remove_group(path):
    """Remove a cgroup.  A process that was killed in it may take a
    moment to leave."""
    for left in range(50, -1, -1):
        try:
            os.rmdir(path)
            return
        except OSError:
            if not left:
                raise
            time.sleep(0.1)


class Device:
    """One device to check.  .path is passed to the checker."""

    def __init__(self, path, point):
        self.path, self.point = path, point

    def command(self, text):
        with open(os.path.join(self.point, "control"), "w") as f:
            f.write(text + "\n")

    def counters(self):
        with open(os.path.join(self.point, "control")) as f:
            return json.loads(f.read())

    def make_cold(self):
        fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.ioctl(fd, BLKFLSBUF, 0)
        finally:
            os.close(fd)


class PlainFile:
    """The image file itself, on its own disk, without counters."""

    def __init__(self, path):
        self.path = path

    def command(self, text):
        pass

    def counters(self):
        return {}

    def make_cold(self):
        with open(self.path, "rb") as f:
            os.fsync(f.fileno())
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        # fincore(1) looks at each page there could be.
        if os.path.getsize(self.path) > (1 << 40):
            return
        left = int(output_of("fincore", "-bno", "RES", self.path))
        if left > (1 << 20):
            raise RigError(f"{self.path}: {left >> 20} MiB stay in the page "
                           "cache; is it on tmpfs?")


def write_attribute(dev, name, value):
    path = f"/sys/block/{os.path.basename(dev)}/queue/{name}"
    try:
        with open(path, "w") as f:
            f.write(str(value))
        return True
    except OSError:
        return False


def set_queue(dev, keys):
    """Set the queue attributes that such a device would have."""
    write_attribute(dev, "rotational", int(keys.get("rotational", "0")))
    write_attribute(dev, "scheduler", "mq-deadline") or \
        write_attribute(dev, "scheduler", "none")
    largest = keys.get("max_request", "1280K")
    if largest.endswith("K"):
        write_attribute(dev, "max_sectors_kb", largest[:-1])
    # Last: from 6.17 on Linux sets it to twice the largest request when that of a
    # rotational device is written.
    readahead = keys.get("read_ahead", "128K")
    write_attribute(dev, "read_ahead_kb", readahead.rstrip("K"))


def start_model(stack, image, model, point, options):
    """Run diskmodel until the stack unwinds."""
    ready, told = os.pipe()
    with contextlib.ExitStack() as pipe:
        pipe.callback(os.close, ready)

        def stop():
            p.terminate()
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
                subprocess.run(["umount", "--lazy", point])

        try:
            command = [find_program("diskmodel"), *model_options(model),
                       f"--ready-fd={told}", "--follow-parent", *options, image, point]
            # Its own session: Ctrl-C must reach the owner of the loop device
            # before the server below it.
            with undisturbed():
                p = subprocess.Popen(command, pass_fds=[told],
                                     start_new_session=True,
                                     stdin=subprocess.DEVNULL)
                stack.callback(stop)
        finally:
            os.close(told)
        if os.read(ready, 1) != b"r":
            raise RigError(f"diskmodel ended with {p.wait()}")


def detach(dev):
    """Detach the loop device; udev may hold it for a moment.  False if someone
    still does."""
    for _ in range(50):
        subprocess.run(["losetup", "--detach", dev],
                       stderr=subprocess.DEVNULL)
        if not os.path.exists(
                f"/sys/block/{os.path.basename(dev)}/loop/backing_file"):
            return True
        time.sleep(0.1)
    return False


def attach(stack, path, *options, end=detach):
    """A loop device on the file, until the stack unwinds and calls @end."""
    with undisturbed():
        dev = output_of("losetup", *options, "--find", "--show", path)
        stack.callback(end, dev)
    return dev


@contextlib.contextmanager
def device(work, image, model, options=()):
    """@image, a file that may be written to, behind @model."""
    with Stack() as stack:
        point = tempfile.mkdtemp(prefix="model-", dir=work.path)
        stack.callback(os.rmdir, point)
        start_model(stack, image, model, point, options)
        dev = attach(stack, os.path.join(point, "disk"), "--direct-io=on",
                     *(o for o in options if o == "--read-only"))
        set_queue(dev, model_keys(model))
        yield Device(dev, point)


# How a list of blocks can be read: sorted or not, bytes of gaps that are read
# through, most bytes of a read.  Reading through gaps is faster if a seek costs
# more than the transfer.
WAYS = {
    "in order": (False, 0, 128 << 10),
    "sorted": (True, 0, 512 << 10),
    "sorted, gaps of 64 KiB": (True, 64 << 10, 1 << 20),
    "sorted, gaps of 1 MiB": (True, 1 << 20, 2 << 20),
}


def merged(ranges, gap, most):
    """Ranges as [offset, length], joined where that is allowed."""
    out = []
    for off, length in ranges:
        if out and out[-1][0] <= off <= sum(out[-1]) + gap and \
                off + length - out[-1][0] <= most:
            out[-1][1] = max(out[-1][1], off + length - out[-1][0])
        else:
            out.append([off, length])
    return out


def simulate(model, requests, depth=0, size=100 << 30):
    """When each of (ns, offset, length) ends on the simulation's own clock, in
    their order, and how many commands each disk has served."""
    text = "".join("%d %d %d\n" % r for r in requests)
    out = subprocess.run(
        [find_program("diskmodel"), *model_options(model),
         f"--simulate={size}", f"--depth={depth}"], input=text, check=True,
        stdout=subprocess.PIPE, text=True).stdout.splitlines()
    ended = dict(map(int, line.split()) for line in out[:-1])
    return [ended[i] for i in range(len(requests))], \
        list(map(int, out[-1].split()[1:]))


def time_to_read(model, blocks, size, way):
    """Seconds in which the device can be read for these blocks, with 128 requests
    in flight, by one of WAYS."""
    in_order, gap, most = way
    ranges = merged([(block << 12, 4096) for block in
                     (sorted(blocks) if in_order else blocks)], gap, most)
    ended, _ = simulate(model, [(0, off, n) for off, n in ranges], 128, size)
    return max(ended, default=0) / 1e9


def path_cost(work):
    """Nanoseconds that FUSE, the loop device and timers add to a read."""
    image = os.path.join(work.path, "calibrate")
    with open(image, "wb") as f:
        f.truncate(1 << 30)
    rng, took = random.Random(1), []
    with device(work, image, "nvme") as dev, mmap.mmap(-1, 4096) as page:
        fd = os.open(dev.path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
        try:
            for _ in range(4000):
                at = rng.randrange(1 << 18) << 12
                start = time.monotonic_ns()
                os.preadv(fd, [page], at)
                took.append(time.monotonic_ns() - start)
        finally:
            os.close(fd)
    os.unlink(image)
    # The model's own time: 80 us, and 4 KiB at 1.7 GB/s.
    return max(0, sorted(took)[len(took) // 2] - 80000 - 2400)
