/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of the self-test, as text and through the environment. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "findings.h"

static const struct findings some = { .of = {
	FINDING_LINKED, FINDING_UNREAD, FINDING_DIFFERS, FINDING_WHOLE
} };

static const struct findings none;

static void assert_same(const struct findings *a, const struct findings *b)
{
	assert_memory_equal(a, b, sizeof(*a));
}

static void there_and_back(void **state)
{
	struct findings found, back;
	char text[FINDINGS_SIZE];
	unsigned i, k;

	(void)state;
	for (i = 0; i < ABILITIES; i++)
		for (k = 0; k < FINDINGS; k++) {
			found = some;
			found.of[i] = (enum finding)k;
			findings_print(&found, text, sizeof(text));
			assert_true(findings_parse(text, &back));
			assert_same(&back, &found);
			assert_true(strlen(finding_reason((enum finding)k)));
		}
}

/* A line that is truncated, too long, or has a changed byte is rejected. */
static void whole_lines_only(void **state)
{
	char text[FINDINGS_SIZE], wrong[FINDINGS_SIZE + 1];
	struct findings back;
	size_t len, i;

	(void)state;
	findings_print(&some, text, sizeof(text));
	len = strlen(text);
	for (i = 0; i < len; i++) {
		back = some;
		memcpy(wrong, text, len + 1);
		wrong[i] = '\0';
		assert_false(findings_parse(wrong, &back));
		assert_same(&back, &none);
		wrong[i] = (char)(text[i] == 'x' ? 'y' : 'x');
		assert_false(findings_parse(wrong, &back));
	}
	snprintf(wrong, sizeof(wrong), "%s ", text);
	assert_false(findings_parse(wrong, &back));
	assert_false(findings_parse("e2fsck 1.47.0 (5-Feb-2023)", &back));
}

static void for_one_process(void **state)
{
	struct findings back = none;

	(void)state;
	unsetenv(FINDINGS_VARIABLE);
	findings_import(&back);
	assert_same(&back, &none);
	assert_true(findings_export(&some, getpid()));
	findings_import(&back);
	assert_same(&back, &some);
	assert_true(findings_export(&some, getppid()));
	findings_import(&back);
	assert_same(&back, &none);
	setenv(FINDINGS_VARIABLE, "", 1);
	findings_import(&back);
	assert_same(&back, &none);
	unsetenv(FINDINGS_VARIABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(whole_lines_only),
		cmocka_unit_test(for_one_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
