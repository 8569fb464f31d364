#include "memory.h"

#include <malloc.h>

void clinux_return_memory(void) { malloc_trim(0); }
