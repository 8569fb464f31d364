#ifndef CAFFINITY_H
#define CAFFINITY_H

#include <sys/types.h>

// The processors on which a thread may run. Swift cannot use cpu_set_t's macros. Every function returns -errno if it
// fails.

/// Writes the processors on which the calling thread may run, lowest first; returns their number, at most `size`.
int caffinity_allowed(int *processors, int size);

/// Lets a thread (0: the caller) run on these processors only.
int caffinity_set(pid_t thread, const int *processors, int count);

#endif
