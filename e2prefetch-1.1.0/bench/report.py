# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns results into a table, CSV, JSON, pictures and Markdown.

Nothing is measured here: a result that was saved as JSON gives the same report
again.
"""
import collections
import csv
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess

# Colours that the colour-blind tell apart; those of bench/plot come first:
# what is waited for, what is read ahead.
COLOURS = ["#d55e00", "#0072b2", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"]
# What pictures call models and checkers; others keep their names.
NAMES = {
    "disk-7200-ncq": "7200 rpm disk",
    "usb-disk": "USB disk",
    "raid1-3": "3 mirrored disks",
    "raid6-6": "RAID 6 of six disks",
    "network-volume": "network volume, 3000 IOPS",
    "sata-ssd": "SATA SSD",
    "nvme": "NVMe",
    "sd-card": "SD card",
    "throttled-loop": "disk limited to 3000 IOPS by the kernel",
    "plain": "image file on this machine's disk",
    "memory": "all in memory",
    "stock": "stock e2fsck",
    "ours": "with prefetching",
}
FIELDS = ["model", "label", "checker", "mode", "rep", "seconds", "user",
          "system", "status", "output", "reads", "read_bytes", "writes",
          "busy_s", "mean_depth", "max_depth", "mean_latency_us",
          "first_thread", "model_cpu", "rest_cpu"]
# Above FULL_SHARE the processors count as fully used; above RIG_SHARE the rig
# counts as the cause.
FULL_SHARE, RIG_SHARE = 0.9, 0.15
# More points than this make a picture larger but no clearer.
MAX_POINTS = 6000


def named(result, name):
    """What a picture calls a model, a checker or an image."""
    return NAMES.get(name) or result.get("images", {}).get(name, name)


def image_in_words(path):
    """The kind of an image and how much is in it."""
    p = subprocess.run([which("dumpe2fs"), "-h", path], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    known = dict(line.partition(":")[::2] for line in p.stdout.splitlines())
    try:
        features = known["Filesystem features"].split()
        inodes = int(known["Inode count"]) - int(known["Free inodes"])
    except (KeyError, ValueError):
        return None
    kind = "ext4" if "extent" in features else \
        "ext3, indirect blocks" if "has_journal" in features else "ext2"
    if inodes > 9999:
        inodes -= inodes % 1000
    return f"{kind}, {inodes:,} inodes"


def which(name):
    return shutil.which(name, path=os.environ.get("PATH", "") +
                        ":/usr/sbin:/sbin") or name


def first_line(*command):
    try:
        p = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                           stderr=subprocess.STDOUT,
                           stdin=subprocess.DEVNULL)
    except OSError:
        return "unknown"
    return (p.stdout.strip().splitlines() or ["unknown"])[0]


def machine(args, cost):
    """The machine and programs that were measured."""
    model = memory = "unknown"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
    with open("/proc/meminfo") as f:
        memory = "%.0f GiB" % (int(f.readline().split()[1]) / 1048576)
    here = os.path.dirname(os.path.abspath(__file__))
    return dict(
        date=datetime.date.today().isoformat(), processor=model,
        processors=os.cpu_count(), memory=memory,
        kernel=f"{platform.system()} {platform.release()}",
        e2fsck=first_line(args.stock, "-V"),
        source=first_line("git", "-C", here, "describe", "--always",
                          "--dirty"),
        options=args.options, repeat=args.repeat,
        memory_left=args.memory_left,
        load="%.1f" % os.getloadavg()[0],
        path_cost_us=round(cost / 1000, 1))


def read_trace(path):
    """Tuples of start (ns), offset, length, operation, latency (ns)."""
    with open(path) as f:
        for line in f:
            start, off, length, op, latency = line.split()
            yield int(start), int(off), int(length), op, int(latency)


class Cell:
    """The repetitions of one checker on one device and image."""

    def __init__(self, runs):
        times = [r["seconds"] for r in runs]
        self.runs = runs
        self.median = statistics.median(times)
        self.low, self.high = min(times), max(times)

    def middle(self):
        """The run with the median time, or the one next to it."""
        return sorted(self.runs, key=lambda r: r["seconds"])[
            len(self.runs) // 2]

    def __str__(self):
        return f"{figure(self.median)} ({figure(self.low)}-" \
            f"{figure(self.high)})"


def figure(seconds):
    return f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}"


def cells(result, mode):
    """{(label, model): {checker: Cell}}, in the order of measurement."""
    groups = collections.OrderedDict()
    for row in result["runs"]:
        if row["mode"] == mode:
            groups.setdefault((row["label"], row["model"]), {}) \
                .setdefault(row["checker"], []).append(row)
    return collections.OrderedDict(
        (key, {name: Cell(runs) for name, runs in group.items()})
        for key, group in groups.items())


def cpu_bound(result, label):
    """The time of the fastest checker with everything cached, or None."""
    times = [cell.median for (name, _model), group in
             cells(result, "warm").items() if name == label
             for cell in group.values()]
    return min(times) if times else None


def device_bound(result, label, model):
    """(seconds, how) of the quickest reading of the blocks, or None: a replay,
    or the time that the device had something to do in a check."""
    known = [(t, how) for b in result["bounds"]
             if (b["label"], b["model"]) == (label, model)
             for how, t in b["times"].items()]
    if not known:
        return None
    for cell in cells(result, "cold").get((label, model), {}).values():
        known += [(r["busy_s"], "as " + r["checker"]) for r in cell.runs
                  if r.get("busy_s") and r.get("model_cpu")]
    return min(known)


def bound(result, label, model):
    """What a checker cannot be faster than: the device, or the processor."""
    known = [b for b in (cpu_bound(result, label),
                         (device_bound(result, label, model) or [None])[0])
             if b is not None]
    return max(known) if known else None


def table(result):
    """Rows of texts; the first is the heading."""
    names = list(dict.fromkeys(r["checker"] for r in result["runs"]))
    base = names[0]
    rows = [["image", "device", *(f"{n}, s" for n in names),
             *(f"{n} / {base}" for n in names[1:]), "device bound, s",
             "CPU bound, s"]]
    for (label, model), group in cells(result, "cold").items():
        best = device_bound(result, label, model)
        cpu = cpu_bound(result, label)
        rows.append([label, model,
                     *(str(group[n]) if n in group else "" for n in names),
                     *("%.2f" % (group[n].median / group[base].median)
                       if n in group and base in group else ""
                       for n in names[1:]),
                     f"{figure(best[0])} {best[1]}" if best else "",
                     figure(cpu) if cpu else ""])
    for (label, model), group in cells(result, "warm").items():
        rows.append([label, "memory (warm)",
                     *(str(group[n]) if n in group else "" for n in names),
                     *("%.2f" % (group[n].median / group[base].median)
                       if n in group and base in group else ""
                       for n in names[1:]), "", ""])
    return rows


def as_text(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in
                               zip(row, widths)).rstrip() for row in rows)


def as_markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def file_name(*words):
    return "-".join(words).replace("@", "-").replace("/", "-") \
        .replace(":", "-").replace("=", "").replace("+", "-")


# Pictures.

def gnuplot(script, base):
    """Draw @script as base.svg and base.png.  False on failure."""
    program = shutil.which("gnuplot")
    if not program:
        return False
    terminals = {
        "svg": "set terminal svg size {w},{h} dynamic background '#ffffff' "
               "font 'Helvetica,13'",
        "png": "set terminal png size {w},{h} background '#ffffff' "
               "font 'DejaVuSans,10' truecolor",
    }
    for kind, terminal in terminals.items():
        if kind == "png" and "pngcairo" in terminal_list(program):
            terminal = terminal.replace("terminal png", "terminal pngcairo") \
                .replace(" truecolor", "")
        w, h = script["size"]
        text = terminal.format(w=w, h=h) + \
            f"\nset output {quoted(base + '.' + kind)}\n" + script["text"]
        p = subprocess.run([program], input=text, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if p.returncode:
            print(f"gnuplot, {base}.{kind}: {p.stdout.strip()}")
            return False
    return True


def terminal_list(program):
    p = subprocess.run([program, "-e", "print GPVAL_TERMINALS"], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return p.stdout


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def bar_panel(result, label, model, group, at):
    """One device: a bar per checker, the bound as a dashed line."""
    # An outlier is cut off: it must not squeeze the bars.
    top = max(c.median for c in group.values()) * 1.3
    n = len(group)
    lines = [f"$D{at} << EOD"]
    for i, (name, c) in enumerate(group.items()):
        high = min(c.high, top * 0.86)
        lines.append(f'{i} {c.median} {c.low} {max(high, c.median)} '
                     f'{int(COLOURS[i % len(COLOURS)][1:], 16)} '
                     f'{quoted(named(result, name))} '
                     f'{quoted(figure(c.median) + " s")}')
    lines += ["EOD", f"set title {quoted(named(result, model))}",
              f"set xrange [-0.7:{n - 0.3}]", f"set yrange [0:{top}]",
              "unset arrow", "unset label"]
    limit = None if model == "memory" else bound(result, label, model)
    if limit is not None:
        lines.append(f"set arrow from -0.7,{limit} to {n - 0.3},{limit} "
                     "nohead front dt 2 lw 1.5 lc rgb '#222222'")
        lines.append(f"set label {quoted('bound ' + figure(limit) + ' s')} at "
                     "graph 0.99,0.95 right front")
    lines.append(
        f"plot $D{at} using 1:2:(0.62):5:xtic(6) with boxes lc rgb variable "
        f"fs solid 0.85 noborder notitle, '' using 1:3:(0):($4-$3) with "
        f"vectors nohead lw 3 lc rgb '#222222' notitle, '' "
        f"using 1:4:7 with labels "
        f"offset 0,0.7 notitle")
    return "\n".join(lines)


def bars(result, label, base):
    groups = [(model, group) for (name, model), group in
              cells(result, "cold").items() if name == label]
    groups += [("memory", group) for (name, _m), group in
               cells(result, "warm").items() if name == label]
    if not groups:
        return False
    columns = min(len(groups), 3)
    rows = -(-len(groups) // columns)
    title = f"{named(result, label)}: time of a check, median, least and most"
    text = [f"set multiplot layout {rows},{columns} title "
            f"{quoted(title)} noenhanced",
            "set tics nomirror", "set border 3",
            "set termoption noenhanced",
            "set boxwidth 0.62", "set bmargin 3", "set tmargin 3"]
    for at, (model, group) in enumerate(groups):
        text.append(bar_panel(result, label, model, group, at))
    text.append("unset multiplot")
    return gnuplot(dict(text="\n".join(text) + "\n",
                        size=(330 * columns, 60 + 260 * rows)), base)


def points(result, label, model, checker):
    """(seconds since the start, GiB) of each request of the traced run."""
    path = trace_path(result["traces"], model, label, checker)
    if not os.path.exists(path):
        return None
    start = next((r["start_ns"] for r in result["runs"]
                  if r["rep"] == 0 and r["mode"] == "cold" and
                  (r["model"], r["label"], r["checker"]) ==
                  (model, label, checker)), 0)
    found = [((t - start) / 1e9, off / (1 << 30))
             for t, off, _len, op, _lat in read_trace(path) if op != "f"]
    step = -(-len(found) // MAX_POINTS) or 1
    return found[::step]


def blocks_path(folder, label):
    """A list of the blocks of 4 KiB that a check needs."""
    return os.path.join(folder, file_name(label) + ".blocks")


def trace_path(folder, model, label, checker):
    return os.path.join(folder, file_name(model, label, checker) + ".trace")


def panel_title(result, group, checker):
    time = f": {figure(group[checker].median)} s" if checker in group else ""
    return named(result, checker) + time


def addresses(result, label, model, checkers, base):
    """Where each request went, one panel per checker, the same scales."""
    data = [(c, points(result, label, model, c)) for c in checkers]
    data = [(c, p) for c, p in data if p]
    if not data:
        return False
    right = max(max(t for t, _ in p) for _, p in data)
    top = max(max(a for _, a in p) for _, p in data)
    group = cells(result, "cold").get((label, model), {})
    title = f"{named(result, label)}; {named(result, model)}: " \
        "when each block was read"
    text = ["set termoption noenhanced",
            f"set multiplot layout 1,{len(data)} title "
            f"{quoted(title)}",
            "set tics nomirror", "set border 3", "set xlabel 'seconds'",
            "set grid lc rgb '#dddddd' lt 1",
            f"set xrange [0:{right * 1.02}]", f"set yrange [0:{top * 1.02}]",
            "set tmargin 4"]
    for i, (checker, found) in enumerate(data):
        text += [f"$D{i} << EOD", *(f"{t:.4f} {a:.4f}" for t, a in found),
                 "EOD", f"set title {quoted(panel_title(result, group, checker))}",
                 "set ylabel 'place on the device, GiB'" if not i
                 else "unset ylabel",
                 f"plot $D{i} using 1:2 with points pt 7 ps 0.25 lc rgb "
                 f"'{COLOURS[i % len(COLOURS)]}' notitle"]
    text.append("unset multiplot")
    return gnuplot(dict(text="\n".join(text) + "\n",
                        size=(480 * len(data), 420)), base)


def pictures(result, folder, prefix):
    """Draw everything.  Returns tuples (title, file names, name to show)."""
    drawn = []
    labels = list(dict.fromkeys(r["label"] for r in result["runs"]))
    for label in labels:
        name = file_name(prefix, "times", label)
        if bars(result, label, os.path.join(folder, name)):
            drawn.append((f"{named(result, label)}: time of a check on each "
                          "device, the bound dashed", [name + ".svg", name + ".png"],
                          name + ".svg"))
        for (name_of, model), group in cells(result, "cold").items():
            if name_of != label or result.get("plain"):
                continue
            name = file_name(prefix, "addresses", label, model)
            # With a point per request the SVG would be too large to publish.
            if addresses(result, label, model, list(group),
                         os.path.join(folder, name)):
                drawn.append((f"{named(result, label)}, "
                              f"{named(result, model)}: when each block was "
                              "read", [name + ".png"],
                              name + ".png"))
    return drawn


# The report.

def bounds_table(result):
    rows = []
    for b in result["bounds"]:
        if not rows:
            rows.append(["image", "device", "blocks of 4 KiB",
                         *(f"{how}, s" for how in b["times"])])
        rows.append([b["label"], b["model"], str(b["blocks"]),
                     *(figure(t) for t in b["times"].values())])
    return rows


def rig_decides(run, processors):
    """Were the processors fully used, and was the rig the cause?"""
    if not run.get("model_cpu"):
        return False
    time = run["seconds"] * processors
    rig = run["model_cpu"] + run["rest_cpu"]
    return rig > RIG_SHARE * time and \
        rig + run["user"] + run["system"] > FULL_SHARE * time


def processor_table(result):
    rows = [["image", "device", "checker", "elapsed, s",
             "first thread, s", "other threads, s", "model, s",
             "rest, s", "of all processors"]]
    processors = result["machine"]["processors"]
    for (label, model), group in cells(result, "cold").items():
        for name, cell in group.items():
            run = cell.middle()
            first = run.get("first_thread")
            if first is None or "rest_cpu" not in run:
                continue
            own = run["user"] + run["system"]
            used = own + run["model_cpu"] + run["rest_cpu"]
            share = used / run["seconds"] / processors
            rows.append([label, model, name, figure(run["seconds"]),
                         "%.2f" % first, "%.2f" % max(0, own - first),
                         "%.2f" % run["model_cpu"], "%.2f" % run["rest_cpu"],
                         "%.0f %%%s" % (100 * min(share, 1), " (rig)" if
                                        rig_decides(run, processors)
                                        else "")])
    return rows


def requests_table(result):
    rows = [["image", "device", "checker", "requests", "MiB", "mean depth",
             "most", "device busy"]]
    for (label, model), group in cells(result, "cold").items():
        for name, cell in group.items():
            run = cell.middle()
            if "reads" in run:
                rows.append([label, model, name, str(run["reads"]),
                             "%.0f" % (run["read_bytes"] / 1048576),
                             "%.1f" % run["mean_depth"],
                             str(run["max_depth"]), "%.0f %%" % (
                                 100 * run["busy_s"] / run["seconds"])])
    return rows


def heads_table(result):
    """What the disks of a model did in a run, on average."""
    rows = [["image", "device", "checker", "disks", "commands per disk",
             "seeks", "backwards", "mean seek, MiB", "crossings",
             "idle, s", "range of idle, s", "mean depth per disk"]]
    for (label, model), group in cells(result, "cold").items():
        for name, cell in group.items():
            run = cell.middle()
            heads = run.get("heads")
            if not heads or "busy_s" not in heads[0]:
                continue
            n = len(heads)
            seeks = sum(h["seeks"] for h in heads)
            idle = [max(0, run["seconds"] - h["busy_s"]) for h in heads]
            rows.append([
                label, model, name, str(n),
                "%.0f" % (sum(h["requests"] for h in heads) / n),
                "%.0f" % (seeks / n), "%.0f %%" % (
                    100 * sum(h["back"] for h in heads) / (seeks or 1)),
                "%.0f" % (sum(h["distance"] for h in heads) /
                          (seeks or 1) / 1048576),
                "%.0f" % (sum(h["crossings"] for h in heads) / n),
                "%.2f" % (sum(idle) / n),
                "%.2f-%.2f" % (min(idle), max(idle)),
                "%.1f" % (sum(h["waiting_s"] for h in heads) / n /
                          run["seconds"])])
    return rows


def reader_table(result):
    """How long another reader of the device waited."""
    rows = [["image", "device", "checker", "elapsed, s", "its requests",
             "half, ms", "90 %, ms", "99 %, ms"]]

    def add(label, model, name, elapsed, t):
        rows.append([label, model, name, elapsed, str(t["requests"]),
                     *("%.1f" % (t[f"p{n}_us"] / 1000)
                       for n in (50, 90, 99))])

    alone = {(a["label"], a["model"]): a for a in result.get("alone", [])}
    for (label, model), group in cells(result, "cold").items():
        if (label, model) in alone:
            add(label, model, "none", "", alone[label, model])
        for name, cell in group.items():
            run = cell.middle()
            if "tenant" in run:
                add(label, model, name, figure(run["seconds"]),
                    run["tenant"])
    return rows


def same_verdict(result):
    """Did all checkers agree on each image and device?"""
    seen = collections.defaultdict(set)
    for r in result["runs"]:
        seen[r["label"], r["model"]].add((r["status"], r["output"]))
    return all(len(v) == 1 for v in seen.values())


def markdown(result, drawn):
    m = result["machine"]
    out = ["# Timing", "",
           "Written by `bench/run`; do not edit. bench/README.md describes the "
           "devices and images.", "",
           f"{m['date']}, source {m['source']}, {m['processors']} x "
           f"{m['processor']}, {m['memory']}, {m['kernel']}, {m['e2fsck']}. "
           f"Options `{m['options']}`, {m['repeat']} runs of each, median "
           "(least-most), order alternating. Load before the runs "
           f"{m['load']}. FUSE and the loop device take "
           f"{m['path_cost_us']} us of each request, which the models "
           "subtract."]
    if m.get("memory_left"):
        out += ["", "Runs from devices are in a memory control group with "
                f"{m['memory_left'] >> 20} MiB more than the stock checker's "
                "peak, page cache included."]
    if result.get("plain"):
        out += ["", "These are **plain image files** with their pages "
                f"evicted, not modelled devices ({result['plain']}). The "
                "times are those of this machine's own storage."]
    out += ["", "The checker `ours` is e2fsck with prefetching. The device "
            "bound is the least time in which the device was seen to deliver the "
            "blocks that stock e2fsck reads: in a replay in one of several "
            "orders, or during a check that kept it busy for so long; the CPU "
            "bound is the time of the fastest check with everything cached. A "
            "check can overlap the two, so the larger bound is the limit.", "",
            as_markdown(table(result)), "",
            ("All runs of an image had the same exit status and output."
             if same_verdict(result) else
             "Runs of an image did **not** all have the same exit status and "
             "output; see the CSV file.")]
    if result["bounds"]:
        out += ["", "## Replays behind the device bound", "",
                as_markdown(bounds_table(result))]
    if not result.get("plain"):
        out += ["", "## Requests", "", as_markdown(requests_table(result)),
                "", "For throttled-loop and plain the kernel counts requests, "
                "including those of other programs."]
    heads = heads_table(result)
    if len(heads) > 1:
        out += ["", "## Heads", "",
                "Average per disk. A crossing is a movement over the whole of "
                "the image's part of the disk. Idle time is without a command, "
                "including time in which only the checker computes. Depth "
                "counts the queues of the host and the drive together.", "",
                as_markdown(heads)]
    readers = reader_table(result)
    if len(readers) > 1:
        out += ["", "## The other reader", "",
                "Latency of the requests of another reader of the same "
                "device, alone and during a check.", "",
                as_markdown(readers)]
    used = processor_table(result)
    if len(used) > 1:
        out += ["", "## Processor time", "",
                "The checker's first thread is the check itself; its other "
                "threads prefetch, and the self-test before the check counts "
                "with them. The rest is everything else: the loop device, FUSE "
                "in the kernel, other programs. (rig) marks runs in which the "
                f"processors were fully used ({100 * FULL_SHARE:.0f} %) and the "
                "model and the rest took more than "
                f"{100 * RIG_SHARE:.0f} % of them: these times depend more on "
                "the rig than on the checker.", "", as_markdown(used)]
    if drawn:
        out += ["", "## Pictures"]
        for title, _names, shown in drawn:
            out += ["", f"![{title}]({shown})"]
    return "\n".join(out) + "\n"


def large():
    """Figures that are measured by hand: they take a quarter of an hour and
    27 GB of disk."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "large.md")
    with open(path) as f:
        return "\n" + f.read()


def write(result, args):
    """Write everything into args.out, and the report to args.report if set."""
    rows = table(result)
    print(as_text(rows))
    with open(os.path.join(args.out, "runs.csv"), "w", newline="") as f:
        w = csv.DictWriter(f, FIELDS, extrasaction="ignore")
        w.writeheader()
        w.writerows(result["runs"])
    with open(os.path.join(args.out, "result.json"), "w") as f:
        json.dump(result, f, indent=1)
    drawn = pictures(result, args.out, "timing")
    path = args.report or os.path.join(args.out, "timing.md")
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    for _title, names, _shown in drawn:
        for name in names:
            source = os.path.join(args.out, name)
            if not os.path.exists(os.path.join(folder, name)) or \
                    not os.path.samefile(source, os.path.join(folder, name)):
                shutil.copyfile(source, os.path.join(folder, name))
    with open(path, "w") as f:
        f.write(markdown(result, drawn))
        if args.report:
            f.write(large())
    print(f"Report: {path}")
