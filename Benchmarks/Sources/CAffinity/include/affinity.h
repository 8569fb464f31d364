#ifndef CAFFINITY_H
#define CAFFINITY_H

#include <sys/types.h>

// On which processors a thread may run. What Swift cannot say: cpu_set_t's macros. Every function answers -errno where
// it fails.

/// Writes the processors on which the calling thread may run, lowest first; answers how many there are, at most `size`.
int caffinity_allowed(int *processors, int size);

/// Lets a thread (0: the caller) run on these processors only.
int caffinity_set(pid_t thread, const int *processors, int count);

#endif
