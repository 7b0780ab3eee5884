/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library of two functions, one of which calls the other: linked in two
 * ways, it is what test-trial.c tells apart. */

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
