#ifndef CONTACTBROKER_CTESTCALLER_THIEF_H
#define CONTACTBROKER_CTESTCALLER_THIEF_H

#include <stddef.h>
#include <stdint.h>

/* Processes that use a connection which is not theirs, and what else a peer can do with one that Swift cannot say.
   Every function answers -errno where it fails. */

enum test_theft {
    /* It was born with it. */
    TEST_INHERITED,
    /* It took it from us with pidfd_getfd(2). Not every machine lets it. */
    TEST_STOLEN,
};

/* Another process writes into our connection. Answers its number once it has written and ended. */
int test_thief_write(int descriptor, enum test_theft how, const void *bytes, size_t length);

/* A process connects, becomes that user, writes, and reads until the end. Answers its number; *received: how many bytes it
   was sent. Needs root. */
int test_turncoat(const char *path, uint32_t uid, const void *bytes, size_t length, uint32_t *received);

/* Sends bytes and, with the first of them, one descriptor so many times; at most 250. */
int test_send_descriptors(int socket, const void *bytes, size_t length, int descriptor, int count);

#endif
