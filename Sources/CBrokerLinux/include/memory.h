#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

/* Has all threads share one heap: to be called before there is a second one. Of each further heap malloc keeps the end,
 * whatever is freed, and what few threads wait for one another is too little to measure. */
void clinux_share_memory(void);

/* Gives the kernel back what was freed in the middle of the heap, which malloc would keep for later. */
void clinux_return_memory(void);

#endif
