#ifndef CONTACTBROKER_CLINUX_CHILD_H
#define CONTACTBROKER_CLINUX_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/* Runs a program with these bytes as its standard input, and waits for it. Do not call it on the event loop.

   The program gets no arguments, no environment and no other descriptors; its standard error is /dev/null. It is
   killed after that many milliseconds, or if it writes more than room bytes. This function reaps it.

   Returns the number of bytes of its standard output; -ECHILD if it did not exit with 0, -ETIMEDOUT, -EFBIG, or
   -errno. */
ssize_t clinux_filter(
    const char *path, const void *input, size_t size, void *output, size_t room, int milliseconds);

#endif
