#ifndef CONTACTBROKER_CTESTCALLER_THIEF_H
#define CONTACTBROKER_CTESTCALLER_THIEF_H

#include <stddef.h>
#include <stdint.h>

/* Processes that use another process's connection, and other uses of a connection that Swift cannot express. Every
   function returns -errno if it fails. */

enum test_theft {
    /* The process inherited the connection. */
    TEST_INHERITED,
    /* The process copied ours with pidfd_getfd(2). Not every machine permits that. */
    TEST_STOLEN,
};

/* Another process writes into our connection. Returns its PID once it has written and ended. */
int test_thief_write(int descriptor, enum test_theft how, const void *bytes, size_t length);

/* A process connects, becomes that user, writes, and reads until the end. Returns its PID; *received: the number of
   bytes that it read. Needs root. */
int test_turncoat(const char *path, uint32_t uid, const void *bytes, size_t length, uint32_t *received);

/* Sends bytes and, with the first of them, count copies of one descriptor; at most 250. The flags are those of sendmsg(2). */
int test_send_descriptors(int socket, const void *bytes, size_t length, int descriptor, int count, int flags);

/* Returns a TCP socket on the loopback with bytes that its peer never reads: close(2) of it waits this many seconds. */
int test_lingering_socket(int seconds);

/* Shuts down another process's socket, if it is a listening one; otherwise returns -EINVAL. Not every machine permits
   this. */
int test_shut_down_listener(int pid, int descriptor);

#endif
