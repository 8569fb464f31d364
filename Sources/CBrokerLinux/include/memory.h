#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

/* Makes all threads share one heap. Call it before a second thread starts. malloc does not return the end of a further
 * heap to the kernel, even after free. The few threads cause no measurable lock contention. */
void clinux_share_memory(void);

/* Returns freed memory in the middle of the heap to the kernel, which malloc would keep. */
void clinux_return_memory(void);

#endif
