/* Flags that signal handlers set and threads read.  A signal may come in any thread, so that `volatile sig_atomic_t`
 * alone is a race; an atomic number that needs no lock is allowed in handlers, too (C11, 7.14.1.1). */
#ifndef PCC_IR_BASE_SIGNAL_FLAG_H
#define PCC_IR_BASE_SIGNAL_FLAG_H

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>

typedef _Atomic sig_atomic_t signal_flag;

static_assert(ATOMIC_INT_LOCK_FREE == 2 && sizeof(sig_atomic_t) == sizeof(int),
              "a signal handler may set no flag that takes a lock");

#endif
