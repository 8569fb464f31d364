#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

/* Gives the kernel back what was freed in the middle of the heap, which malloc would keep for later. */
void clinux_return_memory(void);

#endif
