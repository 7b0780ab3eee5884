# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
"""Turns results into tables, JSON, pictures and Markdown.

Nothing is measured here: a result that was saved as JSON gives the same report
again.
"""
import collections
import datetime
import itertools
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
from xml.sax.saxutils import escape

# Above FULL_SHARE the processors count as fully used; above RIG_SHARE the rig
# counts as the cause.
FULL_SHARE, RIG_SHARE = 0.9, 0.15


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
    model = "unknown"
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
        e2fsck=first_line(which("e2fsck"), "-V"),
        source=first_line("git", "-C", here, "describe", "--always",
                          "--dirty"),
        repeat=args.repeat, memory_left=args.memory_left,
        load="%.1f" % os.getloadavg()[0],
        path_cost_us=round(cost / 1000, 1))


def read_trace(path):
    """Tuples of start (ns), offset, length, operation, latency (ns)."""
    with open(path) as f:
        for line in f:
            start, off, length, op, latency = line.split()
            yield int(start), int(off), int(length), op, int(latency)


def blocks_of(path):
    """The blocks of 4 KiB that a trace reads, each once, in its order."""
    return list(dict.fromkeys(
        block for _start, off, length, op, _latency in read_trace(path)
        if op == "r" for block in range(off >> 12, (off + length + 4095) >> 12)))


PASS = re.compile(rb"Pass (\w+): Memory used.*time: *([\d.]+)/ *([\d.]+)/")
READ = re.compile(rb"Pass (\w+): I/O read: (\d+)MB")


def passes(output):
    """What e2fsck -tt says of each pass."""
    found = {m[1].decode(): dict(seconds=float(m[2]), user=float(m[3]), mib=0)
             for m in PASS.finditer(output)}
    for m in READ.finditer(output):
        if m[1].decode() in found:
            found[m[1].decode()]["mib"] = int(m[2])
    return found


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
    """(seconds, how) of the quickest reading of the blocks, or None: simulated,
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


def table(result):
    """Rows of texts; the first is the heading."""
    names = list(dict.fromkeys(r["checker"] for r in result["runs"]))
    base = names[0]
    rows = [["image", "device", *(f"{n}, s" for n in names),
             *(f"{n} / {base}" for n in names[1:]), "device bound, s",
             "CPU bound, s"]]

    def add(label, model, group, best, cpu):
        rows.append([label, model,
                     *(str(group[n]) if n in group else "" for n in names),
                     *("%.2f" % (group[n].median / group[base].median)
                       if n in group and base in group else ""
                       for n in names[1:]),
                     f"{figure(best[0])} {best[1]}" if best else "",
                     figure(cpu) if cpu else ""])

    for (label, model), group in cells(result, "cold").items():
        add(label, model, group, device_bound(result, label, model),
            cpu_bound(result, label))
    for (label, _model), group in cells(result, "warm").items():
        add(label, "memory (warm)", group, None, None)
    return rows


def as_markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def file_name(*words):
    return "-".join(words).translate(str.maketrans("@/:+*", "-----", "="))


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


def disturbed(runs):
    """A sentence about the runs in which caches were dropped, or nothing."""
    count = sum(run["dropped"] > 0 for run in runs)
    return f"Somebody dropped caches during {count} of these runs." if count else ""


def requests_table(result):
    processors = result["machine"]["processors"]
    rows = [["image", "device", "checker", "requests", "MiB", "mean depth",
             "most", "device busy", "processor, s", "of the model"]]
    for (label, model), group in cells(result, "cold").items():
        for name, cell in group.items():
            run = cell.middle()
            if "reads" in run:
                rows.append([label, model, name, str(run["reads"]),
                             "%.0f" % (run["read_bytes"] / 1048576),
                             "%.1f" % run["mean_depth"],
                             str(run["max_depth"]), "%.0f %%" % (
                                 100 * run["busy_s"] / run["seconds"]),
                             "%.2f" % (run["user"] + run["system"]),
                             "%.2f%s" % (run["model_cpu"], " (rig)" if
                                         rig_decides(run, processors)
                                         else "")])
    return rows


def pass_table(result):
    """What e2fsck -tt says of each pass: its time, and what it read."""
    names = list(dict.fromkeys(r["checker"] for r in result["runs"]))
    rows = [["image", "device", "pass", *itertools.chain(
        *((f"{n}, s", "of that user", "MiB") for n in names))]]
    for (label, model), group in cells(result, "cold").items():
        runs = {name: cell.middle() for name, cell in group.items()}
        for r in runs.values():
            r["passes"]["all"] = dict(
                seconds=r["seconds"], user=r["user"],
                mib=r.get("read_bytes", 0) >> 20)
        for number in dict.fromkeys(p for r in runs.values()
                                    for p in r["passes"]):
            row = [label, model, number]
            for n in names:
                found = runs[n]["passes"].get(number) if n in runs else None
                row += [f"{found['seconds']:.2f}", f"{found['user']:.2f}",
                        f"{found['mib']}"] if found else ["", "", ""]
            rows.append(row)
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
           f"{m['repeat']} runs of each, median (least-most), order "
           f"alternating. Load before the runs {m['load']}. FUSE and the loop "
           f"device take {m['path_cost_us']} us of each request, which the "
           "models subtract."]
    if m.get("memory_left"):
        out += ["", "Runs from devices are in a memory cgroup with "
                f"{m['memory_left'] >> 20} MiB more than the stock checker's "
                "peak, page cache included."]
    out += ["", "The checker `ours` is the one with prefetching. The device "
            "bound is the least time in which the device can deliver the blocks "
            "that the stock check reads, either simulated, in one of several "
            "orders, or the time for which a check kept the device busy. The CPU "
            "bound is the time of the fastest check with everything cached. A "
            "check can overlap the two, so the larger bound is the limit.", "",
            as_markdown(table(result)), "", disturbed(result["runs"]), "",
            ("All runs of an image had the same exit status and output."
             if same_verdict(result) else
             "Runs of an image did **not** all have the same exit status and "
             "output; see result.json.")]
    if any(r["passes"] for r in result["runs"]):
        out += ["", "## Passes", "", as_markdown(pass_table(result))]
    if result["bounds"]:
        out += ["", "## Simulations behind the device bound", "",
                as_markdown(bounds_table(result))]
    out += ["", "## Requests", "", as_markdown(requests_table(result)),
            "", "(rig) marks runs in which the processors were "
            f"fully used ({100 * FULL_SHARE:.0f} %) and the model, the loop "
            "device, FUSE and other programs took more than "
            f"{100 * RIG_SHARE:.0f} % of them: these times depend more on "
            "the rig than on the checker."]
    if drawn:
        out += ["", "## Pictures"]
        out += [f"\n![{title}]({name})" for title, name in drawn]
    return "\n".join(out) + "\n"


def write(result, args):
    """Write everything into args.out, and the report to args.report if set."""
    print(as_markdown(table(result)))
    if any(r["passes"] for r in result["runs"]):
        print("\n" + as_markdown(pass_table(result)))
    with open(os.path.join(args.out, "result.json"), "w") as f:
        json.dump(result, f, indent=1)
    path = args.report or os.path.join(args.out, "timing.md")
    directory = os.path.dirname(os.path.abspath(path))
    os.makedirs(directory, exist_ok=True)
    drawn = []
    cold = cells(result, "cold")
    labels = dict.fromkeys(label for label, _model in cold)
    for label, models in itertools.product(labels, args.pictures):
        # Those of several models, joined by a plus sign, are side by side.
        shown = [(m, c, cell.low) for m in models.split("+")
                 for c, cell in cold.get((label, m), {}).items()]
        if not shown:
            continue
        name = file_name("timing", label, models) + ".svg"
        draw({f"{c}{', ' + m if '+' in models else ''}: {figure(low)} s":
              points_of(trace_path(result["traces"], m, label, c))
              for m, c, low in shown}, os.path.join(directory, name))
        drawn.append((f"{label}, {models}: when each block was read", name))
    with open(path, "w") as f:
        f.write(markdown(result, drawn))
    print(f"Report: {path}")


# Pictures: which place of the device was read when.
POINTS = 6000           # of more every n-th is drawn
WIDTH, HEIGHT, LEFT, TOP = 520, 420, 70, 70


def trace_path(directory, model, label, checker):
    return os.path.join(directory, file_name(model, label, checker) + ".trace")


def points_of(path):
    """(seconds, offset) of each read in a trace of diskmodel."""
    found = [(start, off) for start, off, _len, op, _lat in read_trace(path)
             if op == "r"]
    first = min((start for start, _ in found), default=0)
    return [((start - first) / 1e9, off) for start, off in found]


def text(x, y, words, anchor="middle", size=12):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
            f'text-anchor="{anchor}">{escape(words)}</text>')


def panel(left, title, points, end, top):
    """The reads in a frame with its axes."""
    low = TOP + HEIGHT
    marks = "".join(f"M{left + at / end * WIDTH:.1f} "
                    f"{low - HEIGHT * offset / top:.1f}h1.5"
                    for at, offset in points[::len(points) // POINTS + 1])
    return [text(left + WIDTH / 2, 24, title, size=15),
            f'<rect x="{left}" y="{TOP}" width="{WIDTH}" '
            f'height="{HEIGHT}" fill="none" stroke="black"/>',
            text(left, low + 16, "0 s"),
            text(left + WIDTH, low + 16, f"{end:.3g} s"),
            text(left - 6, TOP + 10, f"{top / 2**30:.3g} GiB", "end"),
            text(left - 6, low, "0", "end"),
            f'<path d="{marks}" stroke="#0072b2" stroke-width="1.5" '
            'fill="none"/>']


def draw(traces, path):
    """Write an SVG with {title: points} side by side, on one scale."""
    every = [p for points in traces.values() for p in points]
    end = max([p[0] for p in every] + [0.001])
    top = max([p[1] for p in every] + [1])
    step, high = LEFT + WIDTH + 20, TOP + HEIGHT + 30
    out = ['<svg xmlns="http://www.w3.org/2000/svg" '
           f'width="{step * len(traces)}" height="{high}" '
           'font-family="sans-serif">',
           '<rect width="100%" height="100%" fill="white"/>']
    for i, (title, points) in enumerate(traces.items()):
        out += panel(LEFT + i * step, title, points, end, top)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out + ["</svg>\n"]))
