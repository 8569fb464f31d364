#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

/* Makes all threads share one heap; call it before a second thread starts. malloc keeps the end of every further heap,
 * even after free. Lock contention among the few threads is too small to measure. */
void clinux_share_memory(void);

/* Returns freed memory in the middle of the heap to the kernel, which malloc would keep. */
void clinux_return_memory(void);

#endif
