/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The wrapper of all programs: executes the stock program, which PROGRAM names,
 * with the caller's arguments.  If prefetching is wanted and possible, our
 * libraries are preloaded into the program.  The stock program runs after any
 * failure here.
 *
 * Decides whether they are preloaded, but not into a program that refers to the
 * function UNFOLLOWED, unless that is empty.  The library reads the settings, and may
 * still do nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "status.h"

#define SUFFIX "-prefetch"
#define LIBRARY PROGRAM SUFFIX ".so"
#define ACCEL PROGRAM "-accel.so"

#define SAY(...) say(PROGRAM SUFFIX ": " __VA_ARGS__)

/* A closed pipe or a limit on file sizes must not end this process, nor a terminal stop
 * it: there would be no check. */
__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	void (*pipe)(int) = signal(SIGPIPE, SIG_IGN);
	void (*size)(int) = signal(SIGXFSZ, SIG_IGN);
	void (*terminal)(int) = signal(SIGTTOU, SIG_IGN);
	va_list ap;

	va_start(ap, format);
	vdprintf(STDERR_FILENO, format, ap);
	va_end(ap);
	signal(SIGPIPE, pipe);
	signal(SIGXFSZ, size);
	signal(SIGTTOU, terminal);
}

static const char *get(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value && !getauxval(AT_SECURE) ? value : NULL;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The directory of a path, with the slash at its end. */
static bool directory_of(const char *path, char *directory, struct stat *st)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) + 1 : 0;

	if (!len || len >= PATH_MAX - sizeof(LIBRARY))
		return false;
	memcpy(directory, path, len);
	directory[len] = '\0';
	return !stat(directory, st);
}

/* Prefetching is on if the program was called by a name that says so, or
 * through a link in another directory, because then an administrator has replaced
 * the stock program by it.  The stock program prints the name that it was called
 * by. */
static bool is_wanted(char *name, const char *called, const char *self)
{
	const char *value = get("PREFETCH");
	size_t len = name ? strlen(name) : 0, cut = strlen(SUFFIX);
	bool by_name = len > cut && !strcmp(name + len - cut, SUFFIX);
	char directory[PATH_MAX];
	struct stat a, b;

	if (by_name)
		name[len - cut] = '\0';
	/* The dynamic linker preloads nothing with raised privileges. */
	if (getauxval(AT_SECURE))
		return false;
	if (value)
		return strcmp(value, "0");
	if (by_name)
		return !setenv("PREFETCH", "1", 1);
	return directory_of(called, directory, &a) &&
	       directory_of(self, directory, &b) && !is_same(&a, &b);
}

#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static bool read_head(int fd, ElfW(Ehdr) *head, struct stat *st)
{
	bool done = fd >= 0 && !fstat(fd, st) &&
		    read(fd, head, sizeof(*head)) == sizeof(*head) &&
		    !memcmp(head->e_ident, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return done;
}

/* If memory is limited the program may need all of it: the library and the stacks
 * of its threads could make a repair fail. */
static bool is_limited(int resource)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/* Does the program refer to this function?  Its file has the names of all functions
 * that it calls in libraries. */
static bool refers_to(const char *program, const char *function)
{
	int fd = open(program, FLAGS);
	struct stat st = { .st_size = 0 };
	char *file = fd >= 0 && !fstat(fd, &st) ? malloc((size_t)st.st_size) : NULL;
	ssize_t size = file ? read(fd, file, (size_t)st.st_size) : -1;
	bool refers = size > 0 && memmem(file, (size_t)size, function,
					 strlen(function) + 1);

	free(file);
	if (fd >= 0)
		close(fd);
	return refers;
}

/* The address sanitizer's library ends the program if another one is loaded before it.
 * If the user preloads it, it is in this process, too; or the program needs it.  The
 * other sanitizers do not mind.  In a sanitized build of ours it is in each process, and
 * the tests see to its position. */
static bool has_asan(const char *program)
{
#ifdef __SANITIZE_ADDRESS__
	(void)program;
	return false;
#else
	return dlsym(RTLD_DEFAULT, "__asan_init") || refers_to(program, "__asan_init");
#endif
}

/* Why this library cannot be preloaded into this program; NULL if it can.  One that
 * dlopen() refuses would put a message of the dynamic linker into the program's
 * output, or end it.  A file that was cut short would raise SIGBUS; its last part is
 * the table of sections.  The program's dynamic linker opens the library by the name
 * that the kernel knows, which differs where a library of the user's translates
 * paths. */
static const char *try_library(const char *library, const char *program)
{
	ElfW(Ehdr) own, other;
	struct stat st, unused;
	int fd;

	if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA))
		return "memory is limited (RLIMIT_AS or RLIMIT_DATA)";
	if (!*library || strpbrk(library, " :\t"))
		return "its path is unknown, or contains a blank or a colon";
	fd = (int)syscall(SYS_openat, AT_FDCWD, library, FLAGS);
	if (!read_head(fd, &own, &st))
		return "the preload library is missing, unreadable or empty";
	if (own.e_shoff > (uint64_t)st.st_size || (uint64_t)st.st_size -
	    own.e_shoff < (uint64_t)own.e_shnum * own.e_shentsize)
		return "the preload library is truncated";
	if (!read_head(open(program, FLAGS), &other, &unused) ||
	    memcmp(own.e_ident, other.e_ident, EI_VERSION) ||
	    own.e_machine != other.e_machine)
		return "the preload library and the program have different "
		       "architectures";
	if (has_asan(program))
		return "the address sanitizer must be loaded first";
	return dlopen(library, RTLD_NOW) ? NULL : dlerror();
}

/* Whether the first library, which knows the settings, wants the one with faster
 * functions beside it, and whether that one can be loaded. */
static bool is_accelerated(const char *library, const char *accel,
			   const char *program)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	bool (*wants)(void);

	*(void **)&wants = handle ? dlsym(handle, "prefetch_wants_accel") : NULL;
	return wants && wants() && !try_library(accel, program);
}

/* This file, and the libraries beside it. */
struct self {
	struct stat st;			/* st_ino is 0: not known */
	char path[PATH_MAX];		/* empty: not known, as the others then */
	char library[PATH_MAX], accel[PATH_MAX];
};

static void find_self(struct self *self, const char *called)
{
	ssize_t len = readlink("/proc/self/exe", self->path, PATH_MAX - 1);
	struct stat st;

	self->path[len > 0 ? len : 0] = '\0';
	if (len <= 0 && (!called || !realpath(called, self->path)))
		self->path[0] = '\0';
	if (*self->path && !stat(self->path, &self->st) &&
	    directory_of(self->path, self->library, &st)) {
		strcat(strcpy(self->accel, self->library), ACCEL);
		strcat(self->library, LIBRARY);
	}
}

/* The paths at which the stock program may be: the next one, and the last one that
 * exists. */
struct candidates {
	size_t next;
	struct stat last;
};

/* The next path of the stock program; NULL: there is none.  Errors that say nothing
 * about the file are left to execv(). */
static const char *find_stock(struct candidates *p, const struct self *self)
{
	const char *const candidates[] = {
		get(VARIABLE), STOCK, "/usr/sbin/" PROGRAM, "/sbin/" PROGRAM,
		"/usr/bin/" PROGRAM, "/bin/" PROGRAM
	};

	while (p->next < sizeof(candidates) / sizeof(*candidates)) {
		const char *path = candidates[p->next++];
		struct stat st;

		if (path && stat(path, &st)) {
			if (errno != ENOENT && errno != ENOTDIR)
				return path;
		} else if (path && !is_same(&st, &self->st) &&
			   !is_same(&st, &p->last)) {
			p->last = st;
			return path;
		}
	}
	return NULL;
}

/* The value of LD_PRELOAD for this program, or NULL, and then *why, which is NULL without
 * memory.  The preload library comes first, so that it sees the calls that others pass
 * on.
 * */
static char *choose_libraries(const struct self *self, const char *program,
			      const char **why)
{
	const char *users = getenv("LD_PRELOAD"), *accel = "";
	char *list;

	*why = try_library(self->library, program);
	if (!*why && *UNFOLLOWED != '\0' && refers_to(program, UNFOLLOWED))
		*why = "this " PROGRAM " is multithreaded";
	if (*why)
		return NULL;
	if (is_accelerated(self->library, self->accel, program))
		accel = self->accel;
	if (asprintf(&list, "%s%s%s%s%s", self->library, *accel ? ":" : "", accel,
		     users && *users ? ":" : "", users ? users : "") < 0)
		return NULL;
	return list;
}

/* Returns if the program cannot be executed. */
static void execute(const char *program, char **argv, const char *libraries)
{
	const char *users = getenv("LD_PRELOAD");

	if (libraries && !setenv("LD_PRELOAD", libraries, 1)) {
		execv(program, argv);
		if (!users)
			unsetenv("LD_PRELOAD");
		else
			setenv("LD_PRELOAD", users, 1);
	}
	execv(program, argv);
	SAY("cannot run %s: %s\n", program, strerror(errno));
}

/* The file at the stock program's path may be another copy of this wrapper,
 * or a script that starts it again: count them. */
static bool is_endless(void)
{
	static const char variable[] = "PREFETCH_LAUNCHED";
	const char *set = getenv(variable);
	char count[2] = "1";

	if (set && *set >= '1' && *set <= '3')
		count[0] = (char)(*set + 1);
	return !setenv(variable, count, 1) && count[0] == '4';
}

static bool is_verbose(void)
{
	const char *value = get("PREFETCH_VERBOSE");

	return value && strcmp(value, "0");
}

int main(int argc, char **argv)
{
	const char *called = (const char *)getauxval(AT_EXECFN), *program, *why;
	bool asked = preload_status_is_asked(argc, argv), endless = is_endless(), wanted;
	struct self self = { .st.st_ino = 0 };
	struct candidates candidates = { .next = 0 };

	find_self(&self, called);
	wanted = argc && is_wanted(argv[0], called ? called : "", self.path);
	while (!endless && (program = find_stock(&candidates, &self))) {
		char *libraries = NULL;

		why = NULL;
		if (wanted)
			libraries = choose_libraries(&self, program, &why);
		if (why && (asked || is_verbose()))
			SAY("preload library: not loaded (%s)\n", why);
		if (why && asked)
			return STATUS_CANNOT;
		execute(program, argv, libraries);
		free(libraries);
		wanted = false;
	}
	SAY("no stock " PROGRAM " found (" STOCK ", or in /usr/sbin, /sbin, "
	    "/usr/bin, /bin): install " PACKAGE_OF "\n");
	return EXIT_MISSING;
}
