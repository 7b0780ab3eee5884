# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""Times commands that walk a mounted filesystem on modelled disks, alone, with
e2prefetch before them, and peers; for `run --walk'.

Nothing is cached when a command begins: the filesystem is mounted anew.
"""
import contextlib
import hashlib
import json
import os
import shlex
import subprocess
import tempfile
import time

import report
import rig


def ways(args, command):
    """{label: words}, with {} for the directory: the command alone, after
    e2prefetch, and peers, beside the first command only: they take long, too."""
    words = shlex.split(command)
    path = next((w for w in words if w.startswith("{}")), "{}")
    options = shlex.split(args.options or "")
    ours = [rig.find_program("../cmd/e2prefetch"), *options, path, "--",
            *words]
    return {"alone": words, "e2prefetch": ours,
            **{label: shlex.split(peer) for label, _, peer in
               (c.partition("=") for c in args.checkers)
               if peer and command == args.walk[0]}}


def turns(args, labels):
    """The repetitions, in the given order and then in reverse: what is not ours
    takes minutes, and may be given fewer."""
    for rep in range(args.repeat):
        for label in labels if rep % 2 == 0 else labels[::-1]:
            if label == "e2prefetch" or rep < (args.repeat_alone or
                                               args.repeat):
                yield rep, label


@contextlib.contextmanager
def mounted(dev, directory, write):
    kind = subprocess.run(["blkid", "-p", "-o", "value", "-s", "TYPE", dev.path],
                          check=True, capture_output=True, text=True).stdout.strip()
    options = "noatime" if write else "ro,noatime" + (
        "" if kind == "btrfs" else ",norecovery")
    subprocess.run(["mount", "-t", kind, "-o", options, dev.path, directory],
                   check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", directory], check=True)


def run_once(args, dev, directory, words):
    """Seconds, requests, status, a digest of what was printed, in any order, and
    how often somebody dropped caches."""
    command = [w.replace("{}", directory) for w in words]
    with mounted(dev, directory, args.write), tempfile.TemporaryFile() as out, \
            rig.cgroup(args.memory_left) if args.memory_left else \
            contextlib.nullcontext() as enter:
        dev.command("reset")
        dropped = rig.caches_dropped()
        start = time.monotonic()
        with rig.process(command, stdout=out, preexec_fn=enter) as p:
            p.wait()
        seconds = time.monotonic() - start
        counters = dev.counters()
        out.seek(0)
        said = hashlib.sha256(b"".join(sorted(out))).hexdigest()[:16]
    return dict(seconds=seconds, reads=counters["reads"],
                mib=counters["read_bytes"] / (1 << 20), status=p.returncode,
                output=said, dropped=rig.caches_dropped() - dropped)


def bound(model, trace, size):
    """The time in which the device can be read for the blocks of the command
    alone, each once, in the order of the device, with gaps or without."""
    blocks = report.blocks_of(trace)
    return min(rig.time_to_read(model, blocks, size, way)
               for way in rig.WAYS.values() if way[0])


def runs_of(args, work, image, model, command, cost):
    """A row of figures: {label: its runs}, and the bound."""
    found, trace = {}, os.path.join(work.path, "trace")
    directory = tempfile.mkdtemp(prefix="walk-", dir=work.path)
    every = ways(args, command)
    for rep, label in turns(args, list(every)):
        path = work.copy_of(image) if args.write else image
        options = [f"--compensate={cost}",
                   *([] if args.write else ["--read-only"])]
        with rig.device(work, path, model, options) as dev:
            first = label == "alone" and rep == 0
            if first:
                dev.command("trace " + trace)
            row = run_once(args, dev, directory, every[label])
            if first:
                dev.command("trace")
        found.setdefault(label, []).append(row)
        print(f"{model} {label}: {row['seconds']:.2f} s, {row['reads']} "
              "requests" + (", caches dropped" if row["dropped"] else ""),
              flush=True)
        if args.write:
            os.unlink(path)
    best = bound(model, trace, os.path.getsize(image))
    os.rmdir(directory)
    return found, best


def differ(found):
    """Does e2prefetch change what the command prints, or its status?"""
    return len({(row["status"], row["output"]) for label in
                ("alone", "e2prefetch") for row in found[label]}) > 1


def row_of(image, model, command, found, best):
    least = {label: min(rows, key=lambda row: (row["dropped"], row["seconds"]))
             for label, rows in found.items()}
    alone = least["alone"]["seconds"]
    others = [f"{label} {report.figure(row['seconds'])} "
              f"({row['seconds'] / alone:.3f})" for label, row in least.items()
              if label not in ("alone", "e2prefetch")]
    ours = least["e2prefetch"]
    return [image, model, f"`{command}`", report.figure(alone),
            report.figure(ours["seconds"]), f"{ours['seconds'] / alone:.3f}",
            f"{least['alone']['reads']}, {ours['reads']}",
            report.figure(best),
            f"{ours['seconds'] / best:.2f}" if best else "",
            ", ".join(others)]


def text(args, machine, rows, result):
    return "\n".join([
        "# Walks", "",
        "The table has seconds of commands that walk a mounted filesystem with a "
        "cold cache, alone",
        "and with `e2prefetch DIRECTORY --` before them: the least of "
        f"{args.repeat}, alternating"
        f"{f', alone {args.repeat_alone}' if args.repeat_alone else ''}. The bound is",
        "the time that the modelled device takes for the blocks that the command "
        "alone reads, in block",
        "order. Written by `bench/run --walk`; commands as typed:", "",
        "    " + shlex.join(["bench/run", *args.typed]), "",
        f"{machine['date']}, {machine['processor']}, {machine['processors']} "
        f"processors, {machine['kernel']}, source",
        f"{machine['source']}, load {machine['load']}.", "",
        report.as_markdown([["image", "device", "command", "alone, s",
                             "e2prefetch, s", "ratio", "requests", "bound, s",
                             "of the bound", "peers, s (ratio)"], *rows]), "",
        report.disturbed(run for row in result for runs in row["runs"].values()
                         for run in runs), ""])


def save(args, machine, rows, result):
    """After each row: a run of all takes hours."""
    with open(os.path.join(args.out, "walks.json"), "w") as f:
        json.dump(result, f, indent=1)
    path = args.report or os.path.join(args.out, "timing-walks.md")
    with open(path, "w") as f:
        f.write(text(args, machine, rows, result))


def measure(args):
    """Make all runs, and write the report; 1 if outputs differ."""
    rig.need_modelled()
    rig.own_mounts()
    os.makedirs(args.out, exist_ok=True)
    rows, result, bad = [], [], False
    with rig.Workspace() as work:
        cost = rig.path_cost(work)
        machine = report.machine(args, cost)
        for name in args.images:
            image = rig.image_files(rig.image_path(name, args.images_dir))[0]
            label = os.path.basename(name) if os.path.isfile(name) else name
            path = image if args.write else work.copy_of(image, True)
            for model in args.models:
                for command in args.walk:
                    found, best = runs_of(args, work, path, model, command,
                                          cost)
                    bad |= differ(found)
                    rows.append(row_of(label, model, command, found, best))
                    result.append(dict(image=label, model=model, bound=best,
                                       command=command, runs=found))
                    save(args, machine, rows, result)
            if path != image:
                os.unlink(path)
    print(report.as_markdown(rows))
    if bad:
        print("The output or the status of a command differs.")
    return int(bad)
