#define _GNU_SOURCE
#include "affinity.h"

#include <errno.h>
#include <sched.h>

int caffinity_allowed(int *processors, int size) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return -errno;
    int count = 0;
    for (int processor = 0; processor < CPU_SETSIZE && count < size; processor++) {
        if (CPU_ISSET(processor, &set)) processors[count++] = processor;
    }
    return count;
}

int caffinity_set(pid_t thread, const int *processors, int count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int place = 0; place < count; place++) CPU_SET(processors[place], &set);
    return sched_setaffinity(thread, sizeof set, &set) == 0 ? 0 : -errno;
}
