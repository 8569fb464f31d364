#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

/* Makes all threads share one heap, because malloc does not return the free end of an additional heap to the kernel.
 * Blocks of 1 MiB and more get a mapping of their own, so that those of large calls are returned when they are freed.
 * Call this before a second thread starts. The few threads cause no measurable lock contention. */
void clinux_share_memory(void);

/* Returns free memory to the kernel, including memory in the middle of the heap, which malloc would keep. */
void clinux_return_memory(void);

#endif
