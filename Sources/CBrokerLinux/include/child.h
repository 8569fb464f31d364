#ifndef CONTACTBROKER_CLINUX_CHILD_H
#define CONTACTBROKER_CLINUX_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/* Runs a program on some bytes, and waits for it. Not for a loop.

   It is given no arguments and no environment; the bytes are its standard input, its standard output is what comes back,
   nothing else is open in it. It is killed after so many milliseconds, or when it writes more than there is room for, and is gone
   when this returns.

   How many bytes it wrote; -ECHILD where it did not end by itself with 0, -ETIMEDOUT, -EFBIG, or -errno. */
ssize_t clinux_filter(
    const char *path, const void *input, size_t size, void *output, size_t room, int milliseconds);

#endif
