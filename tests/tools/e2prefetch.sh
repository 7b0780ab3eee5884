# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# What the tests of the command e2prefetch share.

. "$srcdir/tools/lib.sh"
. "$srcdir/tools/compare.sh"

# run STATUS ARG...: e2prefetch exits with STATUS.
run() { exits "$1" "$PREFETCHER" "${@:2}"; }

# failed ARG...: the device cannot be read, and one line says why.
failed() { run 8 "$@" && [ ! -s "$dir/out" ] && one_line; }

# with_stats FILE COMMAND...
with_stats() { PREFETCH_STATS=$1 "${@:2}"; }

# runs ARG...: with these arguments the command runs, with its status and output.
runs()
{
	run 3 "$@" -- sh -c 'echo said; exit 3' && [ "$(cat "$dir/out")" = said ]
}

# A library to be preloaded: after STALL_AFTER reads no read ends; no read of a thread
# ends before the file E2PF_GO exists, or, with SLOW, within a tenth of a second; the time
# of day is set back by an hour each time after it was read; and a lock that is forgotten
# ends the program.
preloaded()
{
	cat >"$dir/odd.c" <<-'END'
	#include "locks.h"
	#include <sys/syscall.h>
	#include <sys/uio.h>
	#include <time.h>
	static int reads;
	int clock_gettime(clockid_t clock, struct timespec *ts)
	{
		int result = syscall(SYS_clock_gettime, clock, ts);
		ts->tv_sec += clock == CLOCK_REALTIME ? 3600 : 0;
		return result;
	}
	ssize_t slow(int fd, void *buf, size_t n, off64_t at)
	{
		ssize_t (*real)(int, void *, size_t, off64_t) =
			dlsym(RTLD_NEXT, "pread64");
		const char *after = getenv("STALL_AFTER"), *go = getenv("E2PF_GO");
		while (after && reads >= atoi(after))
			pause();
		reads++;
		/* The filesystem is opened, by whichever thread. */
		if (getenv("SLOW") && at >= 1 << 20 && gettid() != getpid())
			usleep(100000);
		while (go && at >= 1 << 20 && gettid() != getpid() &&
		       access(go, F_OK))
			usleep(10000);
		return real(fd, buf, n, at);
	}
	ssize_t pread(int, void *, size_t, off_t)
		__attribute__((alias("slow")));
	ssize_t pread64(int, void *, size_t, off64_t)
		__attribute__((alias("slow")));
	ssize_t slow_now(int fd, const struct iovec *v, int n, off64_t at, int f)
	{
		return slow(fd, v->iov_base, v->iov_len, at);
	}
	ssize_t preadv2(int, const struct iovec *, int, off_t, int)
		__attribute__((alias("slow_now")));
	ssize_t preadv64v2(int, const struct iovec *, int, off64_t, int)
		__attribute__((alias("slow_now")));
	END
	"${CC:-cc}" -D_GNU_SOURCE -I"$srcdir/rigs" -shared -fPIC -o "$dir/odd.so" \
		"$dir/odd.c" -ldl
}

# make_images NAME: sets $dir, $image, and $big, which has inode tables of 32 MiB, and a
# journal with indirect blocks.
make_images()
{
	small_image "$1"
	big=$E2PF_TMP/big
	truncate -s 512M "$big"
	mke2fs -q -F -t ext3 -j -N 131072 "$big" >/dev/null 2>&1 ||
		tap_bail "no large image"
}

# setup_e2prefetch PROGRAM...: these are needed, too.
setup_e2prefetch()
{
	[ -x "$PREFETCHER" ] || tap_skip_all "not built: $PREFETCHER"
	setup mke2fs debugfs timeout "$@"
}
