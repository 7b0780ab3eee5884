/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library of two functions, one of which calls the other.  It is linked in
 * two ways, which test-trial.c must be able to tell apart. */

int linked_inner(int number);
int linked_outer(int number);

__attribute__((noinline))
int linked_inner(int number)
{
	return number + 1;
}

int linked_outer(int number)
{
	return linked_inner(number) * 2;
}
