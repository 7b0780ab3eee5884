// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * A FUSE filesystem with one file, `disk', whose reads and writes take the time
 * that a modelled device would take.  A second file, `control', returns the
 * counters when read and accepts the commands `reset', which also parks the
 * heads, and `trace PATH'.
 *
 * One thread does everything: it takes requests from the kernel without
 * waiting, hands them to the simulation of sim.c, and answers each when it is
 * due.  More threads would need locks and two more context switches per
 * request, which the machine cannot spare at 80 us per request.  sim.c decides
 * how long a request takes.
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "diskmodel.h"

#define INO_DISK	2
#define INO_CONTROL	3
#define MAX_IO		(1 << 20)
#define CACHE_S		86400.0
#define BATCH_DEPTH	2
#define BATCH_TIME	40000	/* ns */
#define MAX_LATE	60000	/* ns */

/* A request of the kernel on its way through the model. */
struct io {
	struct dm_req req;
	fuse_req_t fuse;
	int error;
};

struct server {
	struct dm_serve *opt;
	struct dm_sim *sim;
	struct dm_stats stats;
	uint64_t size;
	uint64_t stopped;	/* until then, ns */
	uint64_t late;		/* ns by which timers wake us late: by 5 us on
				   one machine, by 50 on another, which is half
				   a flash read */
	int fd;
	char *data;		/* MAX_IO bytes */
};

static struct server *server_of(fuse_req_t fuse)
{
	return fuse_req_userdata(fuse);
}

static void fill_stat(const struct server *sv, fuse_ino_t ino,
		      struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_mode = ino == FUSE_ROOT_ID ? S_IFDIR | 0700 : S_IFREG | 0600;
	st->st_nlink = ino == FUSE_ROOT_ID ? 2 : 1;
	st->st_uid = getuid();
	st->st_gid = getgid();
	st->st_blksize = 4096;
	if (ino == INO_DISK) {
		st->st_size = (off_t)sv->size;
		st->st_blocks = (blkcnt_t)(sv->size / 512);
	}
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->want &= ~(unsigned int)(FUSE_CAP_SPLICE_READ |
				      FUSE_CAP_SPLICE_WRITE |
				      FUSE_CAP_SPLICE_MOVE);
	conn->want |= conn->capable & (FUSE_CAP_ASYNC_READ |
				       FUSE_CAP_ASYNC_DIO);
	/* Direct I/O counts as background; a loop device has 128 tags. */
	conn->max_background = 512;
	conn->congestion_threshold = 512;
	conn->max_write = MAX_IO;
}

static void op_lookup(fuse_req_t fuse, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;

	memset(&e, 0, sizeof(e));
	if (parent == FUSE_ROOT_ID && !strcmp(name, "disk"))
		e.ino = INO_DISK;
	else if (parent == FUSE_ROOT_ID && !strcmp(name, "control"))
		e.ino = INO_CONTROL;
	if (!e.ino) {
		fuse_reply_err(fuse, ENOENT);
		return;
	}
	e.attr_timeout = e.entry_timeout = CACHE_S;
	fill_stat(server_of(fuse), e.ino, &e.attr);
	fuse_reply_entry(fuse, &e);
}

static void op_getattr(fuse_req_t fuse, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	fill_stat(server_of(fuse), ino, &st);
	fuse_reply_attr(fuse, &st, CACHE_S);
}

/* Allows setting times and truncating `control'; neither has an effect. */
static void op_setattr(fuse_req_t fuse, fuse_ino_t ino, struct stat *attr,
		       int to_set, struct fuse_file_info *fi)
{
	(void)attr;
	if (ino == INO_DISK && (to_set & FUSE_SET_ATTR_SIZE))
		fuse_reply_err(fuse, EPERM);
	else
		op_getattr(fuse, ino, fi);
}

static void op_open(fuse_req_t fuse, fuse_ino_t ino,
		    struct fuse_file_info *fi)
{
	const struct server *sv = server_of(fuse);

	if (ino == INO_DISK && sv->opt->read_only &&
	    (fi->flags & O_ACCMODE) != O_RDONLY) {
		fuse_reply_err(fuse, EROFS);
		return;
	}
	/* The page cache above this file would hide the model. */
	fi->direct_io = true;
	fuse_reply_open(fuse, fi);
}

/* The effect of bad sectors on a request. */
struct fault {
	uint64_t delay;
	bool stops;
	int error;
};

static struct fault find_fault(struct server *sv, enum dm_op op, uint64_t off,
			       uint64_t len)
{
	struct dm_range *r, *end = sv->opt->bad + sv->opt->nr_bad;
	struct fault fault = { .delay = 0 };
	uint64_t stop = off + len;

	/* It ends with the first that cannot be read. */
	for (r = sv->opt->bad; r < end; r++) {
		if (off >= r->off + r->len || r->off >= stop || r->readable)
			continue;
		fault.error = EIO;
		stop = r->off + 1;
	}
	for (r = sv->opt->bad; r < end; r++) {
		if (off >= r->off + r->len || r->off >= stop)
			continue;
		fault.delay += r->delay;
		fault.stops |= r->stops;
		if (op != DM_READ)
			continue;
		sv->stats.bad_touches++;
		sv->stats.bad_touched += !r->touched;
		r->touched = true;
	}
	return fault;
}

/* Submit a request for `disk' to the model. */
static void queue(fuse_req_t fuse, enum dm_op op, uint64_t off, size_t len,
		  int error)
{
	struct server *sv = server_of(fuse);
	uint64_t now = dm_now();
	struct fault fault = find_fault(sv, op, off, len);
	struct io *io = malloc(sizeof(*io));

	if (!io) {
		fuse_reply_err(fuse, ENOMEM);
		return;
	}
	if (now < sv->stopped)
		fault.delay += sv->stopped - now;
	if (fault.stops)
		sv->stopped = now + fault.delay;
	io->req = (struct dm_req){
		.off = off, .len = (uint32_t)len, .op = op, .owner = io,
		.delay = fault.delay,
	};
	io->fuse = fuse;
	io->error = fault.error ? fault.error : error;
	if (dm_sim_submit(sv->sim, &io->req, now)) {
		fuse_reply_err(fuse, ENOMEM);
		free(io);
		return;
	}
	dm_stats_begin(&sv->stats, now);
}

static void op_read(fuse_req_t fuse, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	struct server *sv = server_of(fuse);
	char text[DM_JSON_SIZE];
	int n;

	(void)fi;
	if (ino == INO_DISK) {
		if ((uint64_t)off >= sv->size)
			size = 0;
		else if (size > sv->size - (uint64_t)off)
			size = (size_t)(sv->size - (uint64_t)off);
		queue(fuse, DM_READ, (uint64_t)off, size > MAX_IO ? MAX_IO :
		      size, 0);
		return;
	}
	n = dm_stats_json(&sv->stats, dm_now(), text, sizeof(text));
	if (off >= n)
		n = 0;
	else
		n -= (int)off;
	fuse_reply_buf(fuse, text + off * !!n, (size_t)n < size ? (size_t)n :
		       size);
}

static void forget_touched(struct dm_serve *opt)
{
	unsigned int i;

	for (i = 0; i < opt->nr_bad; i++)
		opt->bad[i].touched = false;
}

static int command(struct server *sv, const char *text, size_t size)
{
	char line[PATH_MAX + 16];

	if (size >= sizeof(line))
		return ENAMETOOLONG;
	memcpy(line, text, size);
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (!strcmp(line, "reset")) {
		forget_touched(sv->opt);
		dm_stats_reset(&sv->stats, dm_now());
		return dm_sim_reset(sv->sim) ? ENOMEM : 0;
	}
	if (strncmp(line, "trace", 5) || (line[5] != ' ' && line[5] != '\0'))
		return EINVAL;
	return dm_trace_open(&sv->stats, line[5] ? line + 6 : NULL) ? errno : 0;
}

static void op_write(fuse_req_t fuse, fuse_ino_t ino, const char *buf,
		     size_t size, off_t off, struct fuse_file_info *fi)
{
	struct server *sv = server_of(fuse);
	int error = 0;

	(void)fi;
	if (ino == INO_CONTROL) {
		error = command(sv, buf, size);
		if (error)
			fuse_reply_err(fuse, error);
		else
			fuse_reply_write(fuse, size);
		return;
	}
	if ((uint64_t)off > sv->size || size > sv->size - (uint64_t)off) {
		fuse_reply_err(fuse, ENOSPC);
		return;
	}
	/* A write that is going to fail leaves the image unchanged. */
	if (!find_fault(sv, DM_WRITE, (uint64_t)off, size).error &&
	    pwrite(sv->fd, buf, size, off) != (ssize_t)size)
		error = errno ? errno : EIO;
	queue(fuse, DM_WRITE, (uint64_t)off, size, error);
}

static void op_fsync(fuse_req_t fuse, fuse_ino_t ino, int datasync,
		     struct fuse_file_info *fi)
{
	(void)datasync;
	(void)fi;
	if (ino == INO_DISK)
		queue(fuse, DM_FLUSH, 0, 0, 0);
	else
		fuse_reply_err(fuse, 0);
}

static const struct fuse_lowlevel_ops ops = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.fsync = op_fsync,
};

static void answer(struct server *sv, struct io *io)
{
	size_t got = 0, len = io->req.len;
	ssize_t n;

	while (!io->error && io->req.op == DM_READ && got < len) {
		n = pread(sv->fd, sv->data + got, len - got,
			  (off_t)(io->req.off + got));
		if (n <= 0) {
			io->error = EIO;
			break;
		}
		got += (size_t)n;
	}
	if (io->error || io->req.op == DM_FLUSH)
		fuse_reply_err(io->fuse, io->error);
	else if (io->req.op == DM_WRITE)
		fuse_reply_write(io->fuse, len);
	else
		fuse_reply_buf(io->fuse, sv->data, len);
	dm_stats_end(&sv->stats, &io->req, dm_now(), io->error);
	free(io);
}

/* A request that is done is answered earlier, by the time that the path to the host
 * takes. */
static void answer_due(struct server *sv, uint64_t now)
{
	struct dm_req *req;

	while ((req = dm_sim_pop(sv->sim, now + sv->opt->compensate)))
		answer(sv, req->owner);
}

static uint64_t next_due(const struct server *sv)
{
	uint64_t next = dm_sim_next(sv->sim);

	return next == DM_NEVER || next < sv->opt->compensate ? next :
		next - sv->opt->compensate;
}

/* The timer was set for @target and woke at @now. */
static void learn_lateness(struct server *sv, uint64_t target, uint64_t now)
{
	uint64_t late = now > target ? now - target : 0;

	if (late > MAX_LATE)
		late = MAX_LATE;
	/* Up at once and down slowly: early costs less than late. */
	sv->late = late > sv->late ? (sv->late + late) / 2 :
		sv->late - (sv->late - late) / 16;
}

/*
 * Sleep until a request or a signal comes or a reply is due.
 *
 * A single request must be answered on time.  With many in flight a late reply
 * delays nobody, and waking for each request takes processor time from those
 * who make them (21,000 instead of 32,000 requests/s on two processors), so
 * requests and replies are then handled in batches.  A sleep ends earlier by what
 * timers are found to be late, and the rest of the wait is spent spinning.
 */
static void wait_for_work(struct server *sv, struct pollfd *fds)
{
	uint64_t next = next_due(sv), now = dm_now(), left;
	bool busy = sv->stats.depth > BATCH_DEPTH;
	uint64_t spin = busy ? 0 : sv->late;
	struct timespec ts;
	int ready;

	fds[0].revents = fds[1].revents = 0;
	if (next == DM_NEVER) {
		poll(fds, 2, -1);
		return;
	}
	left = next > now + spin ? next - now - spin : 0;
	busy = busy && left < BATCH_TIME;
	if (busy)
		left = BATCH_TIME;
	ts.tv_sec = (time_t)(left / 1000000000);
	ts.tv_nsec = (long)(left % 1000000000);
	if (left) {
		ready = ppoll(busy ? fds + 1 : fds, busy ? 1 : 2, &ts, NULL);
		if (busy || ready)
			return;
		now = dm_now();
		learn_lateness(sv, next - spin, now);
	}
	/* A request that comes within this time cannot be answered earlier. */
	while (!busy && now < next)
		now = dm_now();
}

/* Take the kernel's requests, but do not let them delay replies that are
 * due. */
static int accept_requests(struct fuse_session *se, struct server *sv,
			   struct fuse_buf *buf)
{
	unsigned int i;
	int n;

	for (i = 0; i < 64; i++) {
		n = fuse_session_receive_buf(se, buf);
		if (n == -EAGAIN || n == -EINTR)
			return 0;
		if (n <= 0)
			return -1;
		fuse_session_process_buf(se, buf);
		if (next_due(sv) <= dm_now())
			return 0;
	}
	return 0;
}

/* Until a signal comes or the mount ends. */
static void loop(struct fuse_session *se, struct server *sv, int sigfd)
{
	struct pollfd fds[2] = {
		{ .fd = fuse_session_fd(se), .events = POLLIN },
		{ .fd = sigfd, .events = POLLIN },
	};
	struct fuse_buf buf = { .mem = NULL };

	while (!fuse_session_exited(se)) {
		if (accept_requests(se, sv, &buf))
			break;
		answer_due(sv, dm_now());
		wait_for_work(sv, fds);
		if (fds[1].revents)
			break;
	}
	free(buf.mem);
}

/*
 * Like a device's, replies must be on time even if the checker keeps every
 * processor busy.
 */
static void be_punctual(void)
{
	struct sched_param rt = { .sched_priority = 1 };

	prctl(PR_SET_TIMERSLACK, 1UL);
	if (sched_setscheduler(0, SCHED_RR, &rt))
		fprintf(stderr, "diskmodel: no real-time priority: %s\n",
			strerror(errno));
}

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int mount_and_loop(struct server *sv)
{
	char *argv[] = { (char *)"diskmodel", (char *)"-o",
			 (char *)"fsname=diskmodel,subtype=diskmodel" };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	struct fuse_session *se;
	int sigfd = block_signals(), fd, ret = 1;

	se = fuse_session_new(&args, &ops, sizeof(ops), sv);
	fuse_opt_free_args(&args);
	if (!se || sigfd < 0)
		return 1;
	if (!fuse_session_mount(se, sv->opt->mountpoint)) {
		fd = fuse_session_fd(se);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		be_punctual();
		if (sv->opt->ready_fd >= 0 &&
		    write(sv->opt->ready_fd, "r", 1) == 1)
			close(sv->opt->ready_fd);
		loop(se, sv, sigfd);
		fuse_session_unmount(se);
		ret = 0;
	}
	fuse_session_destroy(se);
	close(sigfd);
	return ret;
}

static void release(struct server *sv)
{
	dm_trace_open(&sv->stats, NULL);
	dm_sim_free(sv->sim);
	free(sv->data);
	if (sv->fd >= 0)
		close(sv->fd);
}

int dm_serve(struct dm_serve *opt)
{
	struct server sv = { .opt = opt };
	off_t size;
	int ret = 1;

	sv.fd = open(opt->image, (opt->read_only ? O_RDONLY : O_RDWR) |
		     O_CLOEXEC);
	size = sv.fd < 0 ? -1 : lseek(sv.fd, 0, SEEK_END);
	if (size < 0) {
		fprintf(stderr, "diskmodel: %s: %s\n", opt->image,
			strerror(errno));
		return 1;
	}
	sv.size = (uint64_t)size;
	sv.sim = dm_sim_new(&opt->params, sv.size);
	sv.data = malloc(MAX_IO);
	dm_stats_reset(&sv.stats, dm_now());
	if (!sv.sim || !sv.data)
		fprintf(stderr, "diskmodel: out of memory\n");
	else
		ret = mount_and_loop(&sv);
	release(&sv);
	return ret;
}
