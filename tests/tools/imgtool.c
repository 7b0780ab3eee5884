// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * imgtool: functions for the shell tests that no standard tool has.  It
 * compares files without reading their holes, and runs a program under a given
 * name, for a limited time or on a terminal.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK		65536

__attribute__((noreturn))
static void die(const char *what)
{
	fprintf(stderr, "imgtool: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644);

	if (fd < 0)
		die(path);
	return fd;
}

static off_t size_of(int fd, const char *path)
{
	off_t end = lseek(fd, 0, SEEK_END);

	if (end < 0)
		die(path);
	return end;
}

/* Start of the next data at or after pos; end if there is none. */
static off_t next_data(int fd, off_t pos, off_t end)
{
	off_t data = lseek(fd, pos, SEEK_DATA);

	if (data >= 0)
		return data;
	return errno == ENXIO ? end : pos;
}

static size_t read_at(int fd, unsigned char *buf, size_t want, off_t pos,
		      const char *path)
{
	size_t got = 0;

	while (got < want) {
		ssize_t n = pread(fd, buf + got, want - got, pos + got);

		if (n < 0)
			die(path);
		if (!n)
			break;
		got += n;
	}
	return got;
}

/* Print where the files first differ, as cmp does, and return 1; 0 if they do
 * not. */
static int differ(const char *pa, const char *pb)
{
	static unsigned char a[CHUNK], b[CHUNK];
	int fa = open_or_die(pa, O_RDONLY);
	int fb = open_or_die(pb, O_RDONLY);
	off_t end = size_of(fa, pa), pos = 0;
	size_t got, i = 0;

	if (end != size_of(fb, pb)) {
		printf("%s and %s differ in size: %jd, %jd\n", pa, pb,
		       (intmax_t)end, (intmax_t)size_of(fb, pb));
		return 1;
	}
	for (;; pos += got) {
		off_t da = next_data(fa, pos, end);
		off_t db = next_data(fb, pos, end);

		pos = da < db ? da : db;
		if (pos >= end)
			break;
		got = read_at(fa, a, CHUNK, pos, pa);
		if (got != read_at(fb, b, CHUNK, pos, pb)) {
			printf("%s changed while it was read\n", pb);
			return 1;
		}
		if (!memcmp(a, b, got))
			continue;
		while (a[i] == b[i])
			i++;
		printf("%s and %s differ at byte %jd: %02x, %02x\n", pa, pb,
		       (intmax_t)pos + (intmax_t)i, a[i], b[i]);
		return 1;
	}
	close(fa);
	close(fb);
	return 0;
}

/* A B [A B...]: compare the files of each pair. */
static int cmd_cmp(char **argv)
{
	int status = 0;

	for (; argv[0] && argv[1]; argv += 2)
		status |= differ(argv[0], argv[1]);
	return status;
}

/* In a child: argv is the program's, behind its path. */
__attribute__((noreturn))
static void start(char **argv)
{
	const char *program = argv[1];

	argv[1] = argv[0];
	execv(program, argv + 1);
	die(program);
}

/* SECONDS ARGV0 PROGRAM ARGS: run a program; the alarm stays set across
 * exec. */
static int cmd_run(char **argv)
{
	alarm((unsigned)atoi(argv[0]));
	start(argv + 1);
}

/* The answer to a question: yes, no, the default, or rarely "yes to all". */
static char answer(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % 60 ? "yyyyyynnn "[(*seed >> 40) % 10] : 'a';
}

/*
 * SEED ARGV0 PROGRAM ARGS: run a program with a terminal as its standard input
 * and output, and answer its questions, which end in ">? ".
 */
static int cmd_terminal(char **argv)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	uint64_t seed = strtoull(argv[0], NULL, 10);
	static char buf[CHUNK];
	char last[4] = "", key;
	ssize_t got, i;
	int status;
	pid_t child;

	if (master < 0 || grantpt(master) || unlockpt(master))
		die("terminal");
	slave = open_or_die(ptsname(master), O_RDWR | O_NOCTTY);
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		dup2(slave, 0);
		dup2(slave, 1);
		start(argv + 1);
	}
	close(slave);
	while ((got = read(master, buf, sizeof(buf))) > 0) {
		if (write(1, buf, (size_t)got) != got)
			die("output");
		/* Two threads of e2fsck may ask at a time. */
		for (i = 0; i < got; i++) {
			memmove(last, last + 1, 2);
			last[2] = buf[i];
			if (strcmp(last, ">? "))
				continue;
			key = answer(&seed);
			if (write(master, &key, 1) != 1)
				die("terminal");
		}
	}
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static const struct command {
	const char *name;
	int args;
	int (*run)(char **argv);
} commands[] = {
	{ "cmp", 2, cmd_cmp },
	{ "run", 3, cmd_run },
	{ "terminal", 3, cmd_terminal },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name) &&
		    argc - 2 >= commands[i].args)
			return commands[i].run(argv + 2);
	fprintf(stderr, "Usage: imgtool cmp|run|terminal ARGUMENTS\n");
	return 2;
}
