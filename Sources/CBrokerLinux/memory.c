#include "memory.h"

#include <malloc.h>

void clinux_share_memory(void) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

void clinux_return_memory(void) { malloc_trim(0); }
