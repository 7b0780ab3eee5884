/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "settings.h"
#include "system_log.h"

void e2pf_system_log(const char *device, const char *sentence)
{
	struct sockaddr_un log = { .sun_family = AF_UNIX, "/dev/log" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char text[1024], line[1100];

	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%s: %s: %s",
		 program_invocation_short_name, device, sentence);
	/* 30: a daemon, for information. */
	snprintf(line, sizeof(line), "<30>e2prefetch[%d]: ", (int)getpid());
	e2pf_printable(line + strlen(line), sizeof(line) - strlen(line), text);
	if (sendto(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (const struct sockaddr *)&log, sizeof(log)) < 0)
		errno = 0;
	close(fd);
}
