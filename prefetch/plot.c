/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2prefetch plot: draws traces side by side, on one scale.  Decides what is
 * drawn; gnuplot draws it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "engine/blockset.h"
#include "options.h"

#define FILES_MOST 4
#define STAGES_MOST 12

/* Most points of one kind in a picture: of a longer series only every n-th
 * point is drawn. */
#define POINTS_MOST 6000u

/* Pixels of one trace's column, and of the picture's height. */
#define WIDTH 640
#define HEIGHT 760

/* A label does not fit to the right of this fraction of the width. */
#define LABEL_END 0.85

#define USAGE "e2prefetch plot -o FILE.png|.svg|.html TRACE..."

/* Blocks that were read ahead and not used yet are counted up to 64 TiB, in so
 * much memory. */
#define BLOCK 4096u
#define BLOCKS ((UINT64_C(64) << 40) / BLOCK)
#define SET_BYTES (64u << 20)

/* Stages that begin within this fraction of the width share a label, which is
 * above the picture. */
#define LABEL_WIDTH 0.14

/* Colours that the colour-blind tell apart; bench/report.py has the same. */
#define WAITED "#d55e00"
#define MEMORY "#8c8c8c"
#define READ_AHEAD "#0072b2"

enum kind { HIT, WAIT, REQUEST, AHEAD, KINDS };

static const char *const kind_names[KINDS] = {
	"hit", "wait", "request", "ahead"
};

struct point {
	double x, y;		/* seconds and GiB, or MiB ahead */
};

struct series {
	struct point *point;
	size_t used, room;
};

struct range {
	double at;			/* seconds */
	uint64_t first;			/* blocks */
	uint32_t count;
	bool asked;			/* by a thread that reads ahead */
};

struct trace {
	char name[64];
	struct series of[KINDS];
	double began[STAGES_MOST];	/* seconds, by stage; < 0: never */
	char stage[STAGES_MOST][16];
	uint64_t first;			/* ns */
	double end;			/* seconds */
	bool prefetch;
	struct range *range;		/* requests and reads */
	size_t ranges, room;
};

static bool add(struct series *s, double x, double y)
{
	if (s->used == s->room) {
		size_t room = s->room ? s->room * 2 : 1024;
		struct point *p = realloc(s->point, room * sizeof(*p));

		if (!p)
			return false;
		s->point = p;
		s->room = room;
	}
	s->point[s->used++] = (struct point){ x, y };
	return true;
}

static uint64_t number(struct json_object *line, size_t i)
{
	return json_object_get_uint64(json_object_array_get_idx(line, i));
}

/* Keep a range for count_ahead(). */
static bool add_range(struct trace *t, double at, bool asked, uint64_t offset,
		      uint64_t length)
{
	uint64_t first = offset / BLOCK, count;

	if (!length || length > UINT32_MAX || first >= BLOCKS)
		return true;
	if (t->ranges == t->room) {
		size_t room = t->room ? t->room * 2 : 1024;
		struct range *r = realloc(t->range, room * sizeof(*r));

		if (!r)
			return false;
		t->range = r;
		t->room = room;
	}
	count = (offset % BLOCK + length + BLOCK - 1) / BLOCK;
	if (count > BLOCKS - first)
		count = BLOCKS - first;
	t->range[t->ranges++] = (struct range){
		at, first, (uint32_t)count, asked
	};
	return true;
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct range *)a)->at;
	double y = ((const struct range *)b)->at;

	return (x > y) - (x < y);
}

/* What the threads asked for is ahead of the check until it reads it. */
static bool count_ahead(struct trace *t)
{
	struct e2pf_blockset *ahead = e2pf_blockset_new();
	bool fine = ahead;
	size_t i;

	if (fine)
		e2pf_blockset_clear(ahead, SET_BYTES);
	qsort(t->range, t->ranges, sizeof(*t->range), by_time);
	for (i = 0; i < t->ranges && fine; i++) {
		const struct range *r = &t->range[i];

		if (r->asked)
			e2pf_blockset_add(ahead, r->first, r->count);
		else if (!e2pf_blockset_remove(ahead, r->first, r->count))
			continue;
		fine = add(&t->of[AHEAD], r->at,
			   (double)e2pf_blockset_size(ahead) * BLOCK /
			   (1u << 20));
	}
	e2pf_blockset_free(ahead);
	free(t->range);
	return fine;
}

static bool take_event(struct trace *t, struct json_object *line)
{
	struct json_object *first = json_object_array_get_idx(line, 0);
	const char *name = json_object_get_string(first);
	uint64_t ns = number(line, 1), offset = number(line, 2);
	double at, gib = (double)offset / (1u << 30);
	int k;

	if (!name || !ns)
		return true;
	if (!t->first)
		t->first = ns;
	at = ns < t->first ? 0 : (double)(ns - t->first) / 1e9;
	if (at > t->end)
		t->end = at;
	if (!strcmp(name, "stage") && offset < STAGES_MOST)
		t->began[offset] = at;
	for (k = 0; k < AHEAD; k++)
		if (!strcmp(name, kind_names[k]))
			return add(&t->of[k], at, gib) &&
			       add_range(t, at, k == REQUEST, offset,
					 number(line, 3));
	return true;
}

/* Text from a trace goes into gnuplot's script: copy only characters that have
 * no special meaning there. */
static void plain(char *to, size_t size, const char *from)
{
	size_t i;

	for (i = 0; from && from[i] && i + 1 < size; i++)
		to[i] = strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstu"
			       "vwxyz0123456789.-", from[i]) ? from[i] : ' ';
	to[i] = '\0';
}

static bool take_header(struct trace *t, struct json_object *o)
{
	struct json_object *list;
	size_t i;

	if (!json_object_object_get_ex(o, "e2prefetch_trace", &list) ||
	    json_object_get_int(list) != 1)
		return false;
	if (json_object_object_get_ex(o, "prefetch", &list))
		t->prefetch = json_object_get_boolean(list);
	if (json_object_object_get_ex(o, "stages", &list) &&
	    json_object_is_type(list, json_type_array))
		for (i = 0; i < json_object_array_length(list) &&
		     i < STAGES_MOST; i++)
			plain(t->stage[i], sizeof(t->stage[i]),
			      json_object_get_string(
				      json_object_array_get_idx(list, i)));
	return true;
}

/* Read the lines of a trace: a header, then events.  Returns NULL, or what is
 * wrong. */
static const char *take_lines(struct trace *t, FILE *f)
{
	char *text = NULL;
	size_t room = 0;
	bool header = false, fine = true;

	while (fine && getline(&text, &room, f) > 0) {
		struct json_object *line = json_tokener_parse(text);

		if (!header)
			fine = header = json_object_is_type(line,
				json_type_object) && take_header(t, line);
		else if (json_object_is_type(line, json_type_array))
			fine = take_event(t, line);
		json_object_put(line);
	}
	free(text);
	if (!header)
		return "not a trace";
	return fine ? NULL : strerror(ENOMEM);
}

static const char *read_trace(struct trace *t, const char *path)
{
	const char *base = strrchr(path, '/'), *why;
	FILE *f = fopen(path, "re");
	int i;

	if (!f)
		return strerror(errno);
	plain(t->name, sizeof(t->name), base ? base + 1 : path);
	for (i = 0; i < STAGES_MOST; i++)
		t->began[i] = -1;
	why = take_lines(t, f);
	fclose(f);
	if (!count_ahead(t) && !why)
		why = strerror(ENOMEM);
	return why;
}

static void put_data(FILE *out, const struct trace *t, int n)
{
	int k;
	size_t i;

	for (k = 0; k < KINDS; k++) {
		const struct series *s = &t->of[k];

		fprintf(out, "$%s%d << EOD\n", kind_names[k], n);
		for (i = 0; i < s->used; i += s->used / POINTS_MOST + 1)
			fprintf(out, "%.6f %.6f\n", s->point[i].x,
				s->point[i].y);
		/* gnuplot reports a block without a point as an error. */
		if (!s->used)
			fputs("-1 -1\n", out);
		fputs("EOD\n", out);
	}
}

/* The stage that begins next after `now`; STAGES_MOST: none. */
static int next_stage(const struct trace *t, int now)
{
	double after = now < 0 ? -1 : t->began[now];
	int i, next = STAGES_MOST;

	for (i = 0; i < STAGES_MOST; i++)
		if (t->began[i] >= 0 && i != now && *t->stage[i] &&
		    (t->began[i] > after || (t->began[i] == after && i > now)) &&
		    (next == STAGES_MOST || t->began[i] < t->began[next]))
			next = i;
	return next;
}

/* "pass1" is shown as "pass 1". */
static const char *shown(const char *stage, char *text, size_t size)
{
	bool pass = !strncmp(stage, "pass", 4) && stage[4];

	snprintf(text, size, "%s%s", pass ? "pass " : "",
		 pass ? stage + 4 : stage);
	return text;
}

/* A label of the stages from `first` to `last`.  It is above the picture, where
 * no line crosses it; two rows in turn leave room for long ones. */
static void put_label(FILE *out, const struct trace *t, int first, int last,
		      double end, bool upper)
{
	double x = t->began[first];
	bool passes = !strncmp(t->stage[last], "pass", 4);
	char text[32];

	fprintf(out, "set label '%s", shown(t->stage[first], text, sizeof(text)));
	if (last != first)
		fprintf(out, " to %s", t->stage[last] + (passes ? 4 : 0));
	fprintf(out, "' at %.6f, graph %s %s font ',9'\n", x,
		upper ? "1.05" : "1.02", x > LABEL_END * end ? "right" : "left");
}

/* A line where each stage begins; the first one, opening, needs none. */
static void put_stages(FILE *out, const struct trace *t, double end)
{
	int i, first = STAGES_MOST, last = STAGES_MOST;
	bool upper = false;

	fputs("unset arrow\nunset label\n", out);
	for (i = next_stage(t, -1); i < STAGES_MOST; i = next_stage(t, i)) {
		if (!strcmp(t->stage[i], "open"))
			continue;
		fprintf(out, "set arrow from %.6f, graph 0 to %.6f, "
			"graph 1 nohead dt 2 lc rgb '#bbbbbb' back\n",
			t->began[i], t->began[i]);
		if (first < STAGES_MOST &&
		    t->began[i] - t->began[first] < LABEL_WIDTH * end) {
			last = i;
			continue;
		}
		if (first < STAGES_MOST) {
			put_label(out, t, first, last, end, upper);
			upper = !upper;
		}
		first = last = i;
	}
	if (first < STAGES_MOST)
		put_label(out, t, first, last, end, upper);
}

static void put_key(FILE *out)
{
	fputs("NaN w p pt 7 ps 1.2 lc rgb '" WAITED "' t 'waited for', "
	      "NaN w p pt 7 ps 1.2 lc rgb '" MEMORY "' t 'from memory', "
	      "NaN w p pt 7 ps 1.2 lc rgb '" READ_AHEAD "' t 'read ahead'\n",
	      out);
}

static void put_columns(FILE *out, const struct trace *t, int n, double end)
{
	int i;

	for (i = 0; i < n; i++) {
		double left = (i + 0.16) / n, right = (i + 0.96) / n;

		fprintf(out, "set lmargin at screen %.4f\n"
			"set rmargin at screen %.4f\n", left, right);
		put_stages(out, &t[i], end);
		fprintf(out, "set tmargin at screen 0.87\n"
			"set bmargin at screen 0.36\n"
			"set title '%s: %.3g s  (%s)' offset 0,1.8\n"
			"set xlabel ''\nset ylabel 'place on the device, GiB'\n"
			"set yrange [0:top]\n"
			"set key at screen %.4f, 0.31 right top horizontal "
			"samplen 1\n"
			"plot $hit%d w p pt 7 ps 0.2 lc rgb '" MEMORY "' not, "
			"$request%d w p pt 7 ps 0.3 lc rgb '" READ_AHEAD "' not, "
			"$wait%d w p pt 7 ps 0.3 lc rgb '" WAITED "' not, ",
			t[i].prefetch ? "with prefetching" : "stock check",
			t[i].end, t[i].name, right, i, i, i);
		put_key(out);
		fprintf(out, "unset label\nset tmargin at screen 0.25\n"
			"set bmargin at screen 0.09\nset title ''\n"
			"set xlabel 'seconds'\n"
			"set ylabel 'not used yet, MiB'\n"
			"set yrange [0:deep]\nunset key\n"
			"%splot $ahead%d w fillsteps lc rgb '" READ_AHEAD "'\n",
			t[i].of[AHEAD].used ? "" : "set label 'nothing is read "
			"ahead' at graph 0.5, graph 0.5 center\n", i);
	}
}

static double highest(const struct trace *t, int n, int from, int to)
{
	double most = 0;
	size_t j;
	int i, k;

	for (i = 0; i < n; i++)
		for (k = from; k <= to; k++)
			for (j = 0; j < t[i].of[k].used; j++)
				if (t[i].of[k].point[j].y > most)
					most = t[i].of[k].point[j].y;
	return most;
}

static void put_script(FILE *out, const struct trace *t, int n,
		       const char *terminal, const char *file)
{
	double end = 0;
	const char *p;
	int i;

	for (i = 0; i < n; i++) {
		put_data(out, &t[i], i);
		if (t[i].end > end)
			end = t[i].end;
	}
	/* pngcairo draws smooth points and text, where there is one. */
	fprintf(out, "%s size %d,%d\nset output '", terminal, n * WIDTH,
		HEIGHT);
	for (p = file; *p; p++)
		fprintf(out, *p == '\'' ? "''" : "%c", *p);
	fprintf(out, "'\nset xrange [0:%.6f]\ntop = %.6f\ndeep = %.6f\n"
		"set grid lc rgb '#dddddd' lt 1\nset tics nomirror\n"
		"set border 3\nset ytics autofreq\nset multiplot\n",
		end > 0 ? end * 1.01 : 1,
		highest(t, n, HIT, REQUEST) * 1.02 + 1e-3,
		highest(t, n, AHEAD, AHEAD) * 1.1 + 1);
	put_columns(out, t, n, end);
	fputs("unset multiplot\n", out);
}

static bool ends_in(const char *file, const char *end)
{
	size_t length = strlen(file);

	return length > strlen(end) &&
	       !strcmp(file + length - strlen(end), end);
}

/* Replace this SVG file with an HTML page that contains it. */
static bool make_page(const char *file)
{
	FILE *f = fopen(file, "r+e");
	char *text = NULL, *picture = NULL;
	size_t room = 0;
	bool done;

	if (!f)
		return false;
	errno = EIO;
	if (getdelim(&text, &room, '\0', f) > 0)
		picture = strstr(text, "<svg");
	done = picture && !ftruncate(fileno(f), 0) &&
	       !fseek(f, 0, SEEK_SET) &&
	       fprintf(f, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
		       "<title>e2prefetch plot</title>\n%s", picture) > 0;
	free(text);
	return !fclose(f) && done;
}

/* Whether the file ends as a complete picture does.  gnuplot exits with 0 even
 * if the disk was full. */
static bool is_complete(const char *file, bool svg)
{
	static const char png_end[] = "IEND\xae\x42\x60\x82";
	const char *end = svg ? "</svg>" : png_end;
	char last[64] = "";
	FILE *f = fopen(file, "re");
	size_t n = 0;

	if (f && (!fseek(f, -(long)sizeof(last), SEEK_END) ||
		  !fseek(f, 0, SEEK_SET)))
		n = fread(last, 1, sizeof(last), f);
	if (f)
		fclose(f);
	return n && memmem(last, n, end, strlen(end));
}

/* Have gnuplot write the picture to an existing file.  Returns NULL, or what
 * went wrong. */
static const char *run_gnuplot(const struct trace *t, int n, bool svg,
			       const char *file)
{
	/* If gnuplot cannot open its output file it prints the picture on
	 * standard output. */
	FILE *out = popen("exec gnuplot >/dev/null 2>&1", "we");

	if (!out)
		return strerror(errno);
	put_script(out, t, n, svg ? "set terminal svg background rgb 'white'" :
		   "png = strstrt(GPVAL_TERMINALS, 'pngcairo') ? "
		   "'pngcairo' : 'png'\n"
		   "set terminal @png background rgb 'white'", file);
	if (pclose(out))
		return "gnuplot failed";
	return is_complete(file, svg) ? NULL :
	       "the picture is incomplete (is the disk full?)";
}

/* Write a new file beside `file`, and rename it when it is complete. */
static const char *write_picture(const struct trace *t, int n,
				 const char *file)
{
	bool page = ends_in(file, ".html");
	bool svg = page || ends_in(file, ".svg");
	const char *why = NULL;
	char *beside;
	mode_t mask;
	int fd;

	if (asprintf(&beside, "%s.XXXXXX", file) < 0)
		return strerror(ENOMEM);
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0) {
		why = strerror(errno);
		free(beside);
		return why;
	}
	mask = umask(0);
	umask(mask);
	if (fchmod(fd, 0666 & ~mask))
		why = strerror(errno);
	close(fd);
	if (!why)
		why = run_gnuplot(t, n, svg, beside);
	if (!why && ((page && !make_page(beside)) || rename(beside, file)))
		why = strerror(errno);
	if (why)
		unlink(beside);
	free(beside);
	return why;
}

static int failed(const char *file, const char *why)
{
	fprintf(stderr, "e2prefetch: plot: %s: %s\n", file, why);
	return EXIT_OPERATIONAL;
}

static int plot(const char *output, char **files, int n)
{
	static struct trace trace[FILES_MOST];
	const char *why;
	int i, status, k;

	for (i = 0, status = 0; i < n && !status; i++) {
		why = read_trace(&trace[i], files[i]);
		if (why)
			status = failed(files[i], why);
	}
	if (!status) {
		why = write_picture(trace, n, output);
		if (why)
			status = failed(output, why);
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < KINDS; k++)
			free(trace[i].of[k].point);
	return status;
}

static const struct option long_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

int plot_command(int argc, char **argv)
{
	const char *output = NULL;
	int c, n;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+o:h", long_options,
				NULL)) != -1) {
		if (c == 'h')
			return puts("Usage: " USAGE) < 0;
		output = c == 'o' ? optarg : "";
	}
	n = argc - optind;
	if (!output || !*output || n < 1 || n > FILES_MOST) {
		fprintf(stderr, "e2prefetch: plot: usage: " USAGE
			" (at most %d traces)\n", FILES_MOST);
		return EXIT_USAGE;
	}
	if (strchr(output, '\n') ||
	    (!ends_in(output, ".png") && !ends_in(output, ".svg") &&
	     !ends_in(output, ".html"))) {
		fprintf(stderr, "e2prefetch: plot: the output name must end in "
			".png, .svg or .html and contain no newline\n");
		return EXIT_USAGE;
	}
	/* Checked before hours of events are read. */
	if (system("gnuplot --version >/dev/null 2>&1")) {
		fprintf(stderr, "e2prefetch: plot: gnuplot is not installed\n");
		return EXIT_OPERATIONAL;
	}
	/* If gnuplot ends early, the failed write is reported as an error. */
	signal(SIGPIPE, SIG_IGN);
	return plot(output, argv + optind, n);
}
