/* Failing allocations, for a program that lets them fail itself (faults.c). */
#ifndef PCC_TESTS_PLANTED_FAULTS_H
#define PCC_TESTS_PLANTED_FAULTS_H

#include <stdbool.h>

/* From now on calls are counted from 1; the n-th fails (0: none), and with `rest` all that follow. */
void faults_plant(unsigned long n, bool rest);
/* Calls since then. */
unsigned long faults_calls(void);
/* In between none is counted, and none fails. */
void faults_pause(bool on);
/* Blocks that have been handed out and not been given back. */
long faults_live(void);

#endif
