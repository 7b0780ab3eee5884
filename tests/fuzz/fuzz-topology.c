/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds descriptions of arbitrary machines to the detection of spindles and of
 * memory and processor limits.  Aborts if the results are inconsistent.
 *
 * The first five bytes are the type and number of the device.  Then come lines
 * in the format of topology-trees.txt, which describe a file tree in memory:
 * the calls that access files are replaced at link time (--wrap) for paths
 * below VROOT, and are the real ones for all other paths.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device/budget.h"
#include "fuzz.h"
#include "device/topology.h"

#define VROOT "/virtual"
#define MOST_NODES 256
#define MOST_LINKS 16
#define FIRST_FD 1000000
#define MOST_OPEN 8
#define PROCESSORS 6u

enum kind { FOLDER, REGULAR, LINK };

struct node {
	char *path;		/* without a leading slash */
	char *text;		/* content or link target */
	size_t size;
	enum kind kind;
};

struct opened {
	bool used;
	const struct node *node;
	size_t at;
};

struct listing {
	bool used;
	char folder[PATH_MAX];
	size_t next;
	struct dirent entry;
};

static struct node tree[MOST_NODES];
static size_t nodes;
static struct opened opened[MOST_OPEN];
static struct listing listing[MOST_OPEN];

int __real_open(const char *path, int flags, ...);
ssize_t __real_read(int fd, void *buf, size_t size);
int __real_close(int fd);
int __real_access(const char *path, int mode);
ssize_t __real_readlink(const char *path, char *buf, size_t size);
char *__real_realpath(const char *path, char *resolved);
DIR *__real_opendir(const char *path);
struct dirent *__real_readdir(DIR *dir);
int __real_closedir(DIR *dir);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_read(int fd, void *buf, size_t size);
int __wrap_close(int fd);
int __wrap_access(const char *path, int mode);
ssize_t __wrap_readlink(const char *path, char *buf, size_t size);
char *__wrap_realpath(const char *path, char *resolved);
DIR *__wrap_opendir(const char *path);
struct dirent *__wrap_readdir(DIR *dir);
int __wrap_closedir(DIR *dir);

static void require(bool true_thing)
{
	if (!true_thing)
		abort();
}

/* The part of the path after VROOT and a slash; NULL for a real path. */
static const char *below_root(const char *path)
{
	size_t len = strlen(VROOT);

	if (strncmp(path, VROOT, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path + len;
}

static const struct node *find(const char *path)
{
	size_t i;

	for (i = 0; i < nodes; i++)
		if (!strcmp(tree[i].path, path))
			return &tree[i];
	return NULL;
}

/* Whether there is anything below this path. */
static bool is_folder(const char *path)
{
	size_t len = strlen(path), i;

	if (!len)
		return true;
	for (i = 0; i < nodes; i++)
		if (!strncmp(tree[i].path, path, len) &&
		    (tree[i].path[len] == '/' ||
		     (!tree[i].path[len] && tree[i].kind == FOLDER)))
			return true;
	return false;
}

static void leave_folder(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = '\0';
}

/* Append `part` to the folder `at`.  Returns the link with this path, if there
 * is one. */
static const struct node *enter(char *at, const char *part, size_t len)
{
	const struct node *node;
	size_t have = strlen(at);

	if (len == 1 && *part == '.')
		return NULL;
	if (len == 2 && part[0] == '.' && part[1] == '.') {
		leave_folder(at);
		return NULL;
	}
	snprintf(at + have, PATH_MAX - have, "%s%.*s", have ? "/" : "",
		 (int)len, part);
	node = find(at);
	return node && node->kind == LINK ? node : NULL;
}

/* Resolve the links in a path into `at`, PATH_MAX bytes; the last component is
 * not followed unless `follow`.  Returns 0 or an errno. */
static int resolve(const char *path, bool follow, char *at)
{
	char rest[2][2 * PATH_MAX];
	unsigned links = 0, turn = 0;
	const char *p = path;

	*at = '\0';
	for (;;) {
		const struct node *link;
		size_t len;

		p += strspn(p, "/");
		len = strcspn(p, "/");
		if (!len)
			break;
		if (!is_folder(at))
			return find(at) ? ENOTDIR : ENOENT;
		link = enter(at, p, len);
		p += len;
		if (!link || (!*p && !follow))
			continue;
		if (++links > MOST_LINKS)
			return ELOOP;
		leave_folder(at);
		if (link->text[0] == '/')
			*at = '\0';
		turn = !turn;
		if ((size_t)snprintf(rest[turn], sizeof(rest[0]), "%s%s",
				     link->text, p) >= PATH_MAX)
			return ENAMETOOLONG;
		p = rest[turn];
	}
	return is_folder(at) || find(at) ? 0 : ENOENT;
}

static int fail(int err)
{
	errno = err;
	return -1;
}

int __wrap_open(const char *path, int flags, ...)
{
	const char *below = below_root(path);
	char at[PATH_MAX];
	mode_t mode = 0;
	va_list args;
	int err, i;

	if (!below) {
		va_start(args, flags);
		if (flags & O_CREAT)
			mode = va_arg(args, mode_t);
		va_end(args);
		return __real_open(path, flags, mode);
	}
	err = resolve(below, true, at);
	if (err)
		return fail(err);
	for (i = 0; opened[i].used; i++)
		require(i + 1 < MOST_OPEN);
	/* NULL stands for a folder, which cannot be read. */
	opened[i] = (struct opened) { .used = true, .node = find(at) };
	return FIRST_FD + i;
}

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	struct opened *o;

	if (fd < FIRST_FD)
		return __real_read(fd, buf, size);
	o = &opened[fd - FIRST_FD];
	require(o->used);
	if (!o->node || o->node->kind != REGULAR)
		return fail(EISDIR);
	if (size > o->node->size - o->at)
		size = o->node->size - o->at;
	memcpy(buf, o->node->text + o->at, size);
	o->at += size;
	return (ssize_t)size;
}

int __wrap_close(int fd)
{
	if (fd < FIRST_FD)
		return __real_close(fd);
	require(opened[fd - FIRST_FD].used);
	opened[fd - FIRST_FD].used = false;
	return 0;
}

int __wrap_access(const char *path, int mode)
{
	const char *below = below_root(path);
	char at[PATH_MAX];
	int err;

	if (!below)
		return __real_access(path, mode);
	err = resolve(below, true, at);
	return err ? fail(err) : 0;
}

ssize_t __wrap_readlink(const char *path, char *buf, size_t size)
{
	const char *below = below_root(path);
	const struct node *node;
	char at[PATH_MAX];
	size_t len;
	int err;

	if (!below)
		return __real_readlink(path, buf, size);
	err = resolve(below, false, at);
	if (err)
		return fail(err);
	node = find(at);
	if (!node || node->kind != LINK)
		return fail(EINVAL);
	len = strlen(node->text);
	if (len > size)
		len = size;
	memcpy(buf, node->text, len);
	return (ssize_t)len;
}

char *__wrap_realpath(const char *path, char *resolved)
{
	const char *below = below_root(path);
	char at[PATH_MAX];
	size_t len = strlen(path);
	int err;

	if (!below)
		return __real_realpath(path, resolved);
	err = resolve(below, true, at);
	if (!err && len && path[len - 1] == '.' && !is_folder(at))
		err = ENOTDIR;
	if (!err && strlen(VROOT) + 1 + strlen(at) >= PATH_MAX)
		err = ENAMETOOLONG;
	if (err) {
		errno = err;
		return NULL;
	}
	sprintf(resolved, "%s/%s", VROOT, at);
	return resolved;
}

DIR *__wrap_opendir(const char *path)
{
	const char *below = below_root(path);
	struct listing *l = listing;
	char at[PATH_MAX];

	if (!below)
		return __real_opendir(path);
	if (resolve(below, true, at) || !is_folder(at))
		return NULL;
	while (l->used)
		require(++l < listing + MOST_OPEN);
	l->used = true;
	l->next = 0;
	strcpy(l->folder, at);
	return (DIR *)l;
}

static struct listing *as_listing(DIR *dir)
{
	struct listing *l = (struct listing *)dir;

	return l >= listing && l < listing + MOST_OPEN ? l : NULL;
}

/* Lists the direct entries of the folder.  A subfolder with several entries is
 * listed several times, which does no harm here. */
struct dirent *__wrap_readdir(DIR *dir)
{
	struct listing *l = as_listing(dir);
	size_t len;

	if (!l)
		return __real_readdir(dir);
	require(l->used);
	len = strlen(l->folder);
	while (l->next < nodes) {
		const char *path = tree[l->next++].path;

		if (strncmp(path, l->folder, len) || path[len] != '/' ||
		    !path[len + 1])
			continue;
		path += len + 1;
		snprintf(l->entry.d_name, sizeof(l->entry.d_name), "%.*s",
			 (int)strcspn(path, "/"), path);
		return &l->entry;
	}
	return NULL;
}

int __wrap_closedir(DIR *dir)
{
	struct listing *l = as_listing(dir);

	if (!l)
		return __real_closedir(dir);
	require(l->used);
	l->used = false;
	return 0;
}

static size_t unescape(char *text)
{
	char *to = text;
	const char *p;

	for (p = text; *p; p++) {
		unsigned byte;

		if (*p != '\\' || !p[1]) {
			*to++ = *p;
		} else if (*++p == 'x' && sscanf(p + 1, "%2x", &byte) == 1 &&
			   p[1] && p[2]) {
			*to++ = (char)byte;
			p += 2;
		} else {
			*to++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
		}
	}
	*to = '\0';
	return (size_t)(to - text);
}

/* Add a line in the recording's format; other lines are ignored. */
static void add_line(char *line)
{
	char *tab = strchr(line, '\t'), *arrow = strstr(line, " -> ");
	struct node *n = &tree[nodes];
	size_t len = strlen(line);

	if (nodes == MOST_NODES || !len || len >= PATH_MAX / 2 ||
	    *line == '/' || *line == '\t' || *line == ' ')
		return;
	*n = (struct node) { .path = line };
	if (tab) {
		*tab = '\0';
		n->kind = REGULAR;
		n->text = tab + 1;
		n->size = unescape(n->text);
	} else if (arrow) {
		*arrow = '\0';
		n->kind = LINK;
		n->text = arrow + 4;
	} else if (line[len - 1] == '/') {
		line[len - 1] = '\0';
	} else {
		return;
	}
	nodes++;
}

static void check_topology(const struct stat *st)
{
	struct e2pf_policy policy;
	struct e2pf_topology topo;
	unsigned i, spindles = 0;

	e2pf_topology_probe(VROOT, st, &topo);
	require(topo.leaves <= E2PF_MAX_LEAVES);
	for (i = 0; i < topo.leaves; i++) {
		require(memchr(topo.leaf[i].name, 0,
			       sizeof(topo.leaf[i].name)));
		spindles += topo.leaf[i].rotational;
	}
	require(topo.spindles == spindles);
	e2pf_policy_choose(&topo, PROCESSORS, &policy);
	require(policy.threads == PROCESSORS);
	require(policy.head_threads >= 1 &&
		policy.head_threads <= E2PF_MAX_LEAVES);
	require(topo.max_readahead >= 4096 &&
		topo.max_readahead <= 1u << 30);
	require(topo.leaves || !topo.known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct stat st = { .st_mode = S_IFREG };
	unsigned major, minor, i;
	char *text, *line, *rest;

	if (take_byte(&in) % 2)
		st.st_mode = S_IFBLK;
	major = take_number(&in, 2);
	minor = take_number(&in, 2);
	st.st_dev = st.st_rdev = makedev(major, minor);
	nodes = 0;
	rest = text = take_string(&in);
	while ((line = strsep(&rest, "\n")))
		add_line(line);
	check_topology(&st);
	e2pf_available_memory(VROOT);
	require(e2pf_available_processors(VROOT) >= 1);
	for (i = 0; i < MOST_OPEN; i++)
		require(!opened[i].used && !listing[i].used);
	free(text);
	return 0;
}
