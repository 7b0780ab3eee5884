/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The launcher of all programs: executes the stock program, which PROGRAM names,
 * with the caller's arguments.  If prefetching is wanted and possible, the
 * module is preloaded into the program.  The stock program runs after any
 * failure here.
 *
 * Decides whether the module is preloaded.  The module reads the settings, and
 * may still do nothing.
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
#define MODULE PROGRAM SUFFIX ".so"
#define ACCEL PROGRAM "-accel.so"

#define SAY(...) say(PROGRAM SUFFIX ": " __VA_ARGS__)

/* A closed pipe or a limit on file sizes must not end this process: there would
 * be no check. */
__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	void (*pipe)(int) = signal(SIGPIPE, SIG_IGN);
	void (*size)(int) = signal(SIGXFSZ, SIG_IGN);
	va_list ap;

	va_start(ap, format);
	vdprintf(STDERR_FILENO, format, ap);
	va_end(ap);
	signal(SIGPIPE, pipe);
	signal(SIGXFSZ, size);
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

/* The folder of a path, with the slash at its end. */
static bool folder_of(const char *path, char *folder, struct stat *st)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) + 1 : 0;

	if (!len || len >= PATH_MAX - sizeof(MODULE))
		return false;
	memcpy(folder, path, len);
	folder[len] = '\0';
	return !stat(folder, st);
}

/* Prefetching is on if the program was called by a name that says so, or
 * through a link in another folder, because then somebody has put it in the
 * stock program's place.  The stock program prints the name that it was called
 * by. */
static bool is_wanted(char *name, const char *called, const char *self)
{
	const char *value = get("PREFETCH");
	size_t len = name ? strlen(name) : 0, cut = strlen(SUFFIX);
	bool by_name = len > cut && !strcmp(name + len - cut, SUFFIX);
	char folder[PATH_MAX];
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
	return folder_of(called, folder, &a) && folder_of(self, folder, &b) &&
	       !is_same(&a, &b);
}

static bool read_head(int fd, ElfW(Ehdr) *head, struct stat *st)
{
	bool done = fd >= 0 && !fstat(fd, st) &&
		    read(fd, head, sizeof(*head)) == sizeof(*head) &&
		    !memcmp(head->e_ident, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return done;
}

/* If memory is limited the program may need all of it: the module and the stacks
 * of its threads could make a repair fail. */
static bool is_limited(int resource)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/* Why the module cannot be loaded into this program; NULL if it can.  A module that
 * dlopen() refuses would put a message of the dynamic linker into the program's
 * output, or end it.  A file that was cut short would raise SIGBUS; its last part is
 * the table of sections.  The program's dynamic linker opens the module by the name
 * that the kernel knows, which differs where a library of the user's translates
 * paths. */
static const char *try_module(const char *module, const char *program)
{
	ElfW(Ehdr) own, other;
	struct stat st, unused;
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, fd;

	if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA))
		return "the address space is limited (RLIMIT_AS or RLIMIT_DATA)";
	if (!*module || strpbrk(module, " :\t"))
		return "its path is not known, or has a blank or a colon";
	fd = (int)syscall(SYS_openat, AT_FDCWD, module, flags);
	if (!read_head(fd, &own, &st))
		return "the module is missing, unreadable or empty";
	if (own.e_shoff > (uint64_t)st.st_size || (uint64_t)st.st_size -
	    own.e_shoff < (uint64_t)own.e_shnum * own.e_shentsize)
		return "the module's file is cut short";
	if (!read_head(open(program, flags), &other, &unused) ||
	    memcmp(own.e_ident, other.e_ident, EI_VERSION) ||
	    own.e_machine != other.e_machine)
		return "module and program are not of the same kind";
	return dlopen(module, RTLD_NOW) ? NULL : dlerror();
}

/* Whether the module, which knows the settings, wants the module with faster
 * functions beside it, and whether that one can be loaded. */
static bool is_accelerated(const char *module, const char *accel,
			   const char *program)
{
	void *handle = dlopen(module, RTLD_NOW | RTLD_NOLOAD);
	bool (*wants)(void);

	*(void **)&wants = handle ? dlsym(handle, "prefetch_wants_accel") : NULL;
	return wants && wants() && !try_module(accel, program);
}

/* The module comes first, so that it sees the calls that others pass on. */
static bool preload(const char *module, const char *accel, const char *users)
{
	char *list;

	if (asprintf(&list, "%s%s%s%s%s", module, *accel ? ":" : "", accel,
		     users && *users ? ":" : "", users ? users : "") < 0)
		return false;
	return !setenv("LD_PRELOAD", list, 1);
}

/* The file in the stock program's place may be another copy of this launcher,
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

int main(int argc, char **argv)
{
	const char *const places[] = {
		get(VARIABLE), STOCK, "/usr/sbin/" PROGRAM, "/sbin/" PROGRAM,
		"/usr/bin/" PROGRAM, "/bin/" PROGRAM
	};
	const char *called = (const char *)getauxval(AT_EXECFN), *why;
	const char *users = getenv("LD_PRELOAD"), *verbose;
	char self[PATH_MAX] = "", module[PATH_MAX] = "", accel[PATH_MAX] = "";
	struct stat own = { .st_ino = 0 }, last = own, st;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	bool wanted, known, endless = is_endless();
	bool asked = status_is_asked(argc, argv);
	size_t i;

	self[len > 0 ? len : 0] = '\0';
	if (len <= 0 && (!called || !realpath(called, self)))
		self[0] = '\0';
	if (*self && !stat(self, &own) && folder_of(self, module, &st)) {
		strcat(strcpy(accel, module), ACCEL);
		strcat(module, MODULE);
	}
	wanted = argc && is_wanted(argv[0], called ? called : "", self);
	for (i = 0; i < sizeof(places) / sizeof(*places) && !endless; i++) {
		known = places[i] && !stat(places[i], &st);
		/* Errors that say nothing about the file are left to
		 * execv(). */
		if (!places[i] || (known ? is_same(&st, &own) ||
				   is_same(&st, &last) : errno == ENOENT ||
				   errno == ENOTDIR))
			continue;
		if (known)
			last = st;
		why = wanted ? try_module(module, places[i]) : NULL;
		verbose = why ? get("PREFETCH_VERBOSE") : NULL;
		if (why && (asked || (verbose && strcmp(verbose, "0"))))
			SAY("module: left out (%s)\n", why);
		if (why && asked)
			return STATUS_CANNOT;
		if (wanted && !why && !is_accelerated(module, accel, places[i]))
			*accel = '\0';
		if (wanted && !why && preload(module, accel, users))
			execv(places[i], argv);
		if (!users)
			unsetenv("LD_PRELOAD");
		else if (wanted && setenv("LD_PRELOAD", users, 1))
			errno = 0;
		wanted = false;
		execv(places[i], argv);
		SAY("cannot run %s: %s\n", places[i], strerror(errno));
	}
	SAY("the stock " PROGRAM " is missing (looked for " STOCK ", and in "
	    "/usr/sbin, /sbin, /usr/bin, /bin): install " PACKAGE_OF "\n");
	return EXIT_MISSING;
}
