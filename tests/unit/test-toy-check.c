/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session and a checker for a filesystem that the library does not know: the
 * verdict must be the same with and without prefetching, and the statistics
 * must have the usual format.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "toy-check.h"
#include "toy-image.h"

static char path[2][32] = { "/tmp/test-toy-XXXXXX", "/tmp/test-toy-XXXXXX" };
static const char *const paths[2] = { path[0], path[1] };
static struct toy_fs fs;
static int fd[2];

/* Numbers of the blocks that the check reads a second time. */
static uint32_t list[TOY_ALL_DATA];
static unsigned listed;

static int make_files(void **state)
{
	static unsigned char cls[TOY_NODES];
	uint32_t number;
	unsigned i;

	(void)state;
	toy_new(&fs);
	toy_make(&fs, cls);
	for (i = 0; i < 2; i++) {
		fd[i] = mkstemp(path[i]);
		if (fd[i] < 0 || write(fd[i], fs.image[i], TOY_BLOCKS *
				       TOY_BLOCK) != TOY_BLOCKS * TOY_BLOCK)
			return -1;
	}
	for (number = 20; number; number--)
		list[listed++] = number;
	return 0;
}

static int end_files(void **state)
{
	(void)state;
	free(fs.image[0]);
	free(fs.image[1]);
	return unlink(path[0]) | unlink(path[1]);
}

static void evict(void)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(fsync(fd[i]), 0);
		posix_fadvise(fd[i], 0, 0, POSIX_FADV_DONTNEED);
	}
}

static struct toy_check run(struct e2pf_session *session)
{
	struct toy_check check = { .fd = { fd[0], fd[1] },
				   .session = session };

	toy_new(&check.fs);
	evict();
	toy_check(&check, list, listed);
	return check;
}

static void same_verdict(void **state)
{
	struct e2pf_session *s = toy_open(paths, NULL);
	struct e2pf_report report = { .device = NULL };
	struct toy_check alone, ahead;
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	assert_non_null(s);
	alone = run(NULL);
	ahead = run(s);
	assert_int_equal(alone.blocks, TOY_ALL_BLOCKS + listed);
	assert_int_equal(ahead.blocks, alone.blocks);
	assert_true(ahead.verdict == alone.verdict);

	out = open_memstream(&text, &size);
	assert_non_null(out);
	e2pf_session_report(s, &report);
	assert_int_equal(e2pf_report_write(&report, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "\"io_manager\":\"toy\""));
	assert_non_null(strstr(text, "\"name\":\"trees\""));
	assert_non_null(strstr(text, "\"name\":\"list\""));
	assert_non_null(strstr(text, "\"checker_reads\":323"));
	free(text);
	assert_string_equal(report.decisions.item[0].about, "memory");
	/* If /tmp is in memory, the session does not start threads. */
	if (s->last.threads)
		assert_true(s->last.planned_bytes > 0);
	e2pf_close(s);
}

/* Settings apply as in any session. */
static void settings_kept(void **state)
{
	const struct e2pf_settings settings = {
		.threads = 3, .memory = 1 << 20
	};
	struct e2pf_session *s = toy_open(paths, &settings);

	(void)state;
	assert_non_null(s);
	assert_int_equal(s->cfg.threads, 3);
	assert_true(s->cfg.budget == 1 << 20);
	run(s);
	assert_true(s->last.threads == 3 || !s->last.threads);
	e2pf_close(s);
	assert_null(toy_open((const char *const[2]) { path[0], "/none" },
			     NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_verdict),
		cmocka_unit_test(settings_kept),
	};

	return cmocka_run_group_tests(tests, make_files, end_files);
}
