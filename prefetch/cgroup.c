/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <limits.h>
#include <string.h>

#include "cgroup.h"
#include "lib/sysfile.h"

struct visit {
	const char *sysroot, *controller;
	void (*group)(void *ctx, const char *directory, int version);
	void *ctx;
};

/* The group `path` in the hierarchy at `mount`, and each one above it.  In a
 * container that sees its host's paths only the top exists. */
static void visit_path(const struct visit *v, const char *mount,
		       const char *path, int version)
{
	const char *slash = *mount ? "/" : "";
	char dir[PATH_MAX], *end;
	size_t top;

	if (e2pf_path(dir, sizeof(dir), "%s/sys/fs/cgroup%s%s", v->sysroot,
		      slash, mount))
		return;
	top = strlen(dir);
	if (e2pf_path(dir, sizeof(dir), "%s/sys/fs/cgroup%s%s%s", v->sysroot,
		      slash, mount, strstr(path, "/..") ? "" : path))
		return;
	for (;;) {
		v->group(v->ctx, dir, version);
		end = strrchr(dir + top, '/');
		if (!end)
			return;
		*end = '\0';
	}
}

/* "4:memory:/path", and "0::/path" of version 2. */
static void visit_line(void *ctx, char *path)
{
	const struct visit *v = ctx;
	const char *id = strsep(&path, ":");
	const char *controllers = strsep(&path, ":");

	if (!controllers || !path)
		return;
	if (!strcmp(controllers, v->controller))
		visit_path(v, v->controller, path, 1);
	else if (!*controllers && !strcmp(id, "0"))
		visit_path(v, "", path, 2);
}

void pf_cgroup_visit(const char *sysroot, const char *controller,
		     void (*group)(void *ctx, const char *directory,
				   int version),
		     void *ctx)
{
	struct visit v = { sysroot, controller, group, ctx };

	(void)e2pf_read_lines(sysroot, "proc/self/cgroup", visit_line, &v);
}
