/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mmap I/O manager while signals are watched: the kernel is asked once, and
 * each time again after a change that the interposed sigaction() has seen.  This
 * program has that function instead of the module.
 *
 * Link with -Wl,--wrap=pthread_sigmask to count how often the kernel is asked.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "handlers.h"
#include "libext2fs/guard.h"
#include "mmap-rig.h"

#define READS 50

int __real_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);

static int queries;

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	queries += !set;
	return __real_pthread_sigmask(how, set, old);
}

/* Each case runs in a child, which exits with the line that failed, or 0. */

#define CHECK(condition) do { if (!(condition)) _exit(__LINE__ & 127); } \
	while (0)

static void assert_child(void (*child)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		/* cmocka has a handler of its own. */
		signal(SIGBUS, SIG_DFL);
		alarm(600);
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static io_channel open_channel(void)
{
	io_channel channel = NULL;

	CHECK(e2pf_mmap_io_manager->open(path_b, IO_FLAG_RW | IO_FLAG_NOCACHE,
					 &channel) == 0);
	CHECK(e2pf_mmap_io_is_mapped(channel));
	return channel;
}

/* How often the kernel is asked in this many reads of a known page. */
static int queries_of_reads(io_channel channel)
{
	static char buf[4096];
	int i;

	CHECK(io_channel_read_blk64(channel, 100, 4, buf) == 0);
	queries = 0;
	for (i = 0; i < READS; i++)
		CHECK(io_channel_read_blk64(channel, 100, 4, buf) == 0);
	return queries;
}

static io_channel open_watched(void)
{
	io_channel channel = open_channel();

	e2pf_guard_watch();
	CHECK(queries_of_reads(channel) == 1);
	CHECK(queries_of_reads(channel) == 0);
	return channel;
}

/* Read a known page after the file was truncated. */
static void read_lost_page(io_channel channel)
{
	static char buf[4096];

	CHECK(io_channel_read_blk64(channel, 100, 4, buf) == 0);
	CHECK(truncate(path_b, 0) == 0);
	CHECK(io_channel_read_blk64(channel, 100, 4, buf) ==
	      EXT2_ET_SHORT_READ);
	CHECK(truncate(path_b, IMAGE_SIZE) == 0);
}

static volatile sig_atomic_t seen;
static sigjmp_buf back;

static void die(int sig)
{
	(void)sig;
	_exit(126);
}

static void jump(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void set_handler(int sig, void (*handler)(int), int masked)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	if (masked)
		sigaddset(&action.sa_mask, masked);
	CHECK(sigaction(sig, &action, NULL) == 0);
}

static void child_asked_once(void)
{
	io_channel channel = open_watched();

	/* Other signals do not matter. */
	set_handler(SIGUSR1, die, SIGUSR2);
	CHECK(queries_of_reads(channel) == 0);
	read_lost_page(channel);
	CHECK(io_channel_close(channel) == 0);
	/* Nor do the guard's own calls. */
	channel = open_watched();
	CHECK(io_channel_close(channel) == 0);
}

static void child_handler_before(void)
{
	set_handler(SIGBUS, die, 0);
	read_lost_page(open_watched());
}

static void child_other_handler(void)
{
	io_channel channel = open_watched();

	set_handler(SIGBUS, die, 0);
	CHECK(queries_of_reads(channel) == 0);	/* it is not ours */
	read_lost_page(channel);
}

static io_channel used_in_handler;

static void use(int sig)
{
	(void)sig;
	read_lost_page(used_in_handler);
	seen = 1;
}

static void child_masking_handler(void)
{
	used_in_handler = open_watched();
	set_handler(SIGUSR1, use, SIGBUS);
	CHECK(queries_of_reads(used_in_handler) == READS);
	raise(SIGUSR1);
	CHECK(seen);
}

/* Also one that was installed before. */
static void child_masking_handler_before(void)
{
	set_handler(SIGUSR1, use, SIGBUS);
	used_in_handler = open_channel();
	e2pf_guard_watch();
	CHECK(queries_of_reads(used_in_handler) == READS);
	raise(SIGUSR1);
	CHECK(seen);
}

/* The program has its handler back, and leaves it with SIGBUS blocked. */
static void child_jump(void)
{
	io_channel channel;

	set_handler(SIGBUS, jump, 0);
	channel = open_watched();
	if (!sigsetjmp(back, 0))
		raise(SIGBUS);
	read_lost_page(channel);
}

static void *read_blocked(void *channel)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	read_lost_page(channel);
	return NULL;
}

static void child_other_thread(void)
{
	io_channel channel = open_watched();
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, read_blocked, channel) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
}

/* cmocka calls signal(), which is not interposed. */
static void child_not_watched(void)
{
	io_channel channel = open_channel();

	handlers_watch();
	CHECK(queries_of_reads(channel) == READS);
}

static void test_watched(void **unused)
{
	(void)unused;
	make_file(path_b, IMAGE_SIZE, 16);
	assert_child(child_asked_once);
	assert_child(child_handler_before);
	assert_child(child_other_handler);
	assert_child(child_masking_handler);
	assert_child(child_masking_handler_before);
	assert_child(child_jump);
	assert_child(child_other_thread);
}

static void test_not_watched(void **unused)
{
	(void)unused;
	make_file(path_b, IMAGE_SIZE, 16);
	assert_child(child_not_watched);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watched),
		cmocka_unit_test(test_not_watched),
	};

#ifdef __SANITIZE_THREAD__
	puts("1..0 # SKIP the thread sanitizer stands in for handlers");
	return 0;
#endif
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
