/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What is said of the order of the reads and the number of threads, and why.
 */
#include "unit.h"
#include "prefetch/session.h"

static struct pf_report report;

static const char *own_order, *own_threads;

static void add(struct pf_session *s, struct pf_report *r)
{
	(void)s;
	r->order = own_order;
	r->threads = own_threads;
}

/* A session that has ended; its first note is of memory. */
static struct pf_session *begin(void)
{
	static const struct pf_filesystem type = { .report = add };
	static struct pf_session s;

	memset(&report, 0, sizeof(report));
	s = (struct pf_session) {
		.type = &type, .stopped = true, .options.budget = 1 << 20,
		.last.threads = 3
	};
	return &s;
}

/* It is the n-th note. */
static void says(size_t n, const char *about, const char *decision,
		 const char *reason)
{
	char line[512];

	snprintf(line, sizeof(line), "%s: %s (%s)", about, decision, reason);
	assert_true(report.notes.count > n);
	assert_string_equal(report.notes.line[n], line);
}

TEST(order)
{
	static const struct {
		unsigned spindles;
		bool seek_bound;
		uint64_t latency_ns, qd8_ns;
		const char *unmeasured, *order, *reason;
	} rows[] = {
		{ 0, false, 0, 0, NULL, "any",
		  "not seek-bound: the kernel reports no spindle" },
		{ 0, true, 0, 0, NULL, "in device order",
		  "seek-bound: the disk is unknown" },
		{ 1, true, 0, 0, NULL, "in device order",
		  "seek-bound: the kernel reports a single spindle" },
		{ 1, true, 0, 0, "it is too small", "in device order",
		  "seek-bound: the kernel reports a single spindle; not measured: "
		  "it is too small" },
		{ 2, true, 0, 0, "it is too small", "in device order",
		  "seek-bound: the kernel reports several spindles; not measured: "
		  "it is too small" },
		{ 2, false, 9000000, 2500000, NULL, "any",
		  "not seek-bound: a small read takes 9.00 ms, with eight in flight "
		  "2.50 ms each" },
		{ 1, true, 12000000, 10000000, NULL, "in device order",
		  "seek-bound, single spindle: a small read takes 12.00 ms, with "
		  "eight in flight 10.00 ms each" },
		{ 0, true, 12000000, 10000000, NULL, "in device order",
		  "seek-bound: a small read takes 12.00 ms, with eight in flight "
		  "10.00 ms each" },
	};
	size_t i;

	own_order = "any";
	for (i = 0; i < COUNT(rows); i++) {
		struct pf_session *s = begin();

		s->topo.spindles = s->topo.disks = rows[i].spindles;
		s->last.speed.seek_bound = rows[i].seek_bound;
		s->last.speed.latency_ns = rows[i].latency_ns;
		s->last.speed.latency_qd8_ns = rows[i].qd8_ns;
		s->last.unmeasured = rows[i].unmeasured;
		pf_session_report(s, &report);
		says(1, "threads", "3", rows[i].seek_bound ?
		     "one per spindle, at most two" : "two keep a device busy");
		says(2, "order", rows[i].order, rows[i].reason);
		assert_int_equal(report.notes.count, 3);
	}
}

/* Without an engine there is no order. */
TEST(threads)
{
	struct pf_session *s = begin();

	own_order = NULL;
	own_threads = "a reason";
	pf_session_report(s, &report);
	says(1, "threads", "3", "a reason");
	assert_int_equal(report.notes.count, 2);
	s->settings.threads = 5;
	pf_session_report(s, &report);
	says(3, "threads", "3", "as configured");
	own_threads = NULL;
}

/* The first reason why nothing is read stays; the list ends where it is full. */
TEST(list)
{
	struct pf_notes *notes = &report.notes;
	unsigned i;

	begin();
	pf_report_note_off(notes, "off", "first");
	pf_report_note_off(notes, "asleep", "second");
	assert_true(notes->off);
	assert_string_equal(notes->why_off, "first");
	says(1, "prefetch", "asleep", "second");
	for (i = 0; i < PF_MAX_NOTES; i++)
		pf_report_note(notes, "about: what (why %u)", i);
	assert_int_equal(notes->count, PF_MAX_NOTES);
	says(PF_MAX_NOTES - 1, "about", "what", "why 13");
}

UNIT_MAIN(NULL, NULL)
