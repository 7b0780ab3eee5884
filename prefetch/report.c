/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The notes of what was decided, times for people, and the system log.  Decides nothing.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "report.h"
#include "settings.h"

void pf_report_note(struct pf_notes *notes, const char *format, ...)
{
	va_list args;

	if (notes->count >= PF_MAX_NOTES)
		return;
	va_start(args, format);
	vsnprintf(notes->line[notes->count++], sizeof(notes->line[0]), format,
		  args);
	va_end(args);
}

void pf_report_note_off(struct pf_notes *notes, const char *decision,
			const char *reason)
{
	pf_report_note(notes, "prefetch: %s (%s)", decision, reason);
	if (!notes->off)
		       snprintf(notes->why_off, sizeof(notes->why_off), "%s",
				reason);
	notes->off = true;
}

void pf_report_print(const struct pf_report *r, const char *program,
		     FILE *out)
{
	size_t i;

	for (i = 0; i < r->notes.count; i++)
		fprintf(out, "%s: %s\n", program, r->notes.line[i]);
}

const char *pf_report_format_seconds(double seconds, char *text, size_t size)
{
	if (seconds < 9.95)
		snprintf(text, size, "%.1f s", seconds);
	else if (seconds < 120)
		snprintf(text, size, "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(text, size, "%.0f min", seconds / 60);
	else
		snprintf(text, size, "%.1f h", seconds / 3600);
	return text;
}

void pf_report_to_syslog(const char *device, const char *sentence)
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
	pf_settings_copy_printable(line + strlen(line),
				   sizeof(line) - strlen(line), text);
	if (sendto(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (const struct sockaddr *)&log, sizeof(log)) < 0)
		errno = 0;
	close(fd);
}
