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

enum kind { HIT, WAIT, REQUEST, DEPTH, KINDS };

static const char *const kind_names[KINDS] = {
	"hit", "wait", "request", "depth"
};

struct point {
	double x, y;		/* seconds and GiB, or requests */
};

struct series {
	struct point *point;
	size_t used, room;
};

struct trace {
	char name[64];
	struct series of[KINDS];
	double began[STAGES_MOST];	/* seconds, by stage; < 0: never */
	char stage[STAGES_MOST][16];
	uint64_t first;			/* ns */
	double end;			/* seconds */
	unsigned depth[256];		/* by worker */
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

/* Queue depth of all workers together. */
static unsigned total_depth(struct trace *t, uint64_t worker, uint64_t depth)
{
	unsigned sum = 0, i;

	if (worker < sizeof(t->depth) / sizeof(*t->depth))
		t->depth[worker] = (unsigned)depth;
	for (i = 0; i < sizeof(t->depth) / sizeof(*t->depth); i++)
		sum += t->depth[i];
	return sum;
}

static bool take_event(struct trace *t, struct json_object *line)
{
	struct json_object *first = json_object_array_get_idx(line, 0);
	const char *kind = json_object_get_string(first);
	uint64_t ns = number(line, 1);
	double at, gib = (double)number(line, 2) / (1u << 30);

	if (!kind || !ns)
		return true;
	if (!t->first)
		t->first = ns;
	at = ns < t->first ? 0 : (double)(ns - t->first) / 1e9;
	if (at > t->end)
		t->end = at;
	if (!strcmp(kind, "hit"))
		return add(&t->of[HIT], at, gib);
	if (!strcmp(kind, "wait"))
		return add(&t->of[WAIT], at, gib);
	if (!strcmp(kind, "stage") && number(line, 2) < STAGES_MOST)
		t->began[number(line, 2)] = at;
	if (strcmp(kind, "request"))
		return true;
	return add(&t->of[REQUEST], at, gib) &&
	       add(&t->of[DEPTH], at, total_depth(t, number(line, 4),
						  number(line, 5)));
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

/* A label that does not fit on the right is put on the left. */
static void put_stages(FILE *out, const struct trace *t, double end)
{
	int i;

	fputs("unset arrow\nunset label\n", out);
	for (i = 0; i < STAGES_MOST; i++)
		if (t->began[i] >= 0)
			fprintf(out, "set arrow from %.6f, graph 0 to %.6f, "
				"graph 1 nohead dt 2 lc rgb '#888888'\n"
				"set label '%s' at %.6f, graph %.2f %s font "
				"',9' front\n", t->began[i], t->began[i],
				t->stage[i], t->began[i],
				0.97 - 0.04 * (i % 5),
				t->began[i] > LABEL_END * end ?
				"right offset -0.3,0" : "offset 0.3,0");
}

static void put_columns(FILE *out, const struct trace *t, int n, double end)
{
	int i;

	for (i = 0; i < n; i++) {
		double left = (i + 0.16) / n, right = (i + 0.96) / n;

		fprintf(out, "set lmargin at screen %.4f\n"
			"set rmargin at screen %.4f\n", left, right);
		put_stages(out, &t[i], end);
		fprintf(out, "set tmargin at screen 0.92\n"
			"set bmargin at screen 0.34\n"
			"set title '%s: %.2f s'\nset xlabel ''\n"
			"set ylabel 'address, GiB'\nset yrange [0:top]\n"
			"set key at screen %.4f, 0.30 right top horizontal "
			"samplen 1\n"
			"plot $request%d w p pt 7 ps 0.25 lc rgb '#1f77b4' "
			"not, $hit%d w p pt 7 ps 0.2 lc rgb '#2ca02c' not, "
			"$wait%d w p pt 7 ps 0.3 lc rgb '#d62728' not, "
			"NaN w p pt 7 ps 1 lc rgb '#1f77b4' t 'read ahead', "
			"NaN w p pt 7 ps 1 lc rgb '#2ca02c' t 'from memory', "
			"NaN w p pt 7 ps 1 lc rgb '#d62728' t 'waited for'\n",
			t[i].name, t[i].end, right, i, i, i);
		fprintf(out, "unset label\nset tmargin at screen 0.24\n"
			"set bmargin at screen 0.08\nset title ''\n"
			"set xlabel 'seconds'\n"
			"set ylabel 'in flight, at most'\n"
			"set yrange [0:deep]\nunset key\n"
			"plot $depth%d w steps lc rgb '#1f77b4'\n", i);
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
	fprintf(out, "set terminal %s size %d,%d\nset output '", terminal,
		n * WIDTH, HEIGHT);
	for (p = file; *p; p++)
		fprintf(out, *p == '\'' ? "''" : "%c", *p);
	fprintf(out, "'\nset xrange [0:%.6f]\ntop = %.6f\ndeep = %.6f\n"
		"set grid\nset multiplot\n", end > 0 ? end : 1,
		highest(t, n, HIT, REQUEST) * 1.02 + 1e-3,
		highest(t, n, DEPTH, DEPTH) * 1.1 + 1);
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
	put_script(out, t, n, svg ? "svg background rgb 'white'" : "png", file);
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
