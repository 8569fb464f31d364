#ifndef CONTACTBROKER_CLINUX_CHILD_H
#define CONTACTBROKER_CLINUX_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/* Runs a program with these bytes as its standard input, and waits for it. Do not call this function on the
   event loop.

   The program gets no arguments, no environment and no other descriptors; its standard error is /dev/null.
   This function kills the program after that many milliseconds, or if it writes more than room bytes. It also
   reaps the program.

   Returns the number of bytes that the program wrote to its standard output. Returns -ECHILD if the program
   did not exit with 0, -ETIMEDOUT or -EFBIG if it exceeded a limit, and -errno for any other failure. */
ssize_t clinux_filter(
    const char *path, const void *input, size_t size, void *output, size_t room, int milliseconds);

#endif
