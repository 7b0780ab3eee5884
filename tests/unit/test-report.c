/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What is said of the order of the reads and the number of threads, and why.
 */
#include "unit.h"
#include "report/report.h"

static struct e2pf_settings settings;
static struct e2pf_report report;

static struct e2pf_report *begin(void)
{
	memset(&settings, 0, sizeof(settings));
	memset(&report, 0, sizeof(report));
	report.settings = &settings;
	return &report;
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
		bool seeks;
		uint64_t latency_ns, deep_ns;
		const char *unmeasured, *order, *reason;
	} rows[] = {
		{ 0, false, 0, 0, NULL, "any",
		  "it does not seek: the kernel reports no spindle" },
		{ 0, true, 0, 0, NULL, "in device order",
		  "it seeks: the disk is unknown, or takes one request at a time" },
		{ 1, true, 0, 0, NULL, "in device order",
		  "it seeks: the kernel reports a single spindle" },
		{ 1, false, 0, 0, NULL, "any",
		  "it does not seek: this user cannot see what is cached, which sweeps "
		  "need" },
		{ 1, true, 0, 0, "it is too small", "in device order",
		  "it seeks: the kernel reports a single spindle; it was not "
		  "measured: it is too small" },
		{ 2, true, 0, 0, "it is too small", "in device order",
		  "it seeks: the kernel reports several spindles; it was not measured: "
		  "it is too small" },
		{ 2, false, 9000000, 2500000, NULL, "any",
		  "it does not seek: a small read takes 9.00 ms, with eight in flight "
		  "2.50 ms each" },
		{ 1, true, 12000000, 10000000, NULL, "in device order",
		  "it seeks as a single spindle: a small read takes 12.00 ms, with "
		  "eight in flight 10.00 ms each" },
		{ 0, true, 12000000, 10000000, NULL, "in device order",
		  "it seeks: a small read takes 12.00 ms, with eight in flight "
		  "10.00 ms each" },
	};
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		struct e2pf_report *r = begin();

		r->topo.spindles = r->topo.disks = rows[i].spindles;
		r->order = "any";
		r->engine.seeks = rows[i].seeks;
		r->engine.latency_ns = rows[i].latency_ns;
		r->engine.deep_latency_ns = rows[i].deep_ns;
		r->engine.unmeasured = rows[i].unmeasured;
		r->engine.threads = 3;
		e2pf_report_order(r);
		says(0, "threads", "3", rows[i].seeks ?
		     "one per spindle, two at most" : "two keep a device busy");
		says(1, "order", rows[i].order, rows[i].reason);
		assert_int_equal(r->notes.count, 2);
	}
	begin()->threads = "a reason";
	e2pf_report_order(&report);
	says(0, "threads", "0", "a reason");
	settings.threads = 5;
	e2pf_report_order(&report);
	says(1, "threads", "0", "as configured");
	/* Without an engine there is no order. */
	assert_int_equal(report.notes.count, 2);
}

/* The first reason why nothing is read stays; the list ends where it is full. */
TEST(list)
{
	struct e2pf_notes *notes = &begin()->notes;
	unsigned i;

	e2pf_note_off(notes, "off", "first");
	e2pf_note_off(notes, "asleep", "second");
	assert_true(notes->off);
	assert_string_equal(notes->why_off, "first");
	says(1, "prefetch", "asleep", "second");
	for (i = 0; i < E2PF_NOTES_MOST; i++)
		e2pf_note(notes, "about: what (why %u)", i);
	assert_int_equal(notes->count, E2PF_NOTES_MOST);
	says(E2PF_NOTES_MOST - 1, "about", "what", "why 13");
}

UNIT_MAIN(NULL, NULL)
