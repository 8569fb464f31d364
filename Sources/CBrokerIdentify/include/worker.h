#ifndef CONTACTBROKER_CIDENTIFY_WORKER_H
#define CONTACTBROKER_CIDENTIFY_WORKER_H

#include <stdint.h>

#include "inspect.h"

/* The protocol between the broker and contactbroker-identify: each connection has one request and one answer. Both
   are single messages on a SOCK_SEQPACKET socket, of fixed size and in native byte order. The request carries one
   descriptor, a pidfd. The answer to a malformed request is IDENTIFY_MALFORMED. */
#define IDENTIFY_MAGIC 0x31644963u

struct identify_request {
    uint32_t magic;
    uint32_t wants;
    uint64_t reserved;
};

enum identify_outcome {
    IDENTIFY_INSPECTED,
    IDENTIFY_ENDED,
    IDENTIFY_MALFORMED,
    IDENTIFY_FAILED,
};

struct identify_answer {
    uint32_t magic;
    uint32_t outcome;
    int32_t reason;
    uint32_t reserved;
    struct identify_inspection inspection;
};

/* The size in bytes of the largest executable that the helper hashes. A larger one would exceed the time limit. */
#define IDENTIFY_HELPER_HASH_LIMIT 268435456u
/* The kernel kills a worker process this many milliseconds after it accepted a connection. */
#define IDENTIFY_WORKER_MILLISECONDS 500
/* The number of worker processes, idle and busy. The broker never asks more at once: 16 inspections and 8 checks. */
#define IDENTIFY_WORKERS 24

/* Functions of the helper. */

/* Closes all descriptors with this number or a higher one. */
void identify_close_from(int first);
/* Creates a listening SOCK_SEQPACKET socket at that path, with mode 0600. Returns it, or -errno. */
int identify_listen(const char *path);
/* Returns 1 if the descriptor is a listening SOCK_SEQPACKET socket, whichever process created it. Also makes it
   blocking and close-on-exec. */
int identify_is_listener(int descriptor);
/* Returns the owner of the socket's file, or -errno. */
int64_t identify_owner(int listener);
/* Inspects this process, before identify_confine(), so that the dynamic linker resolves every function that workers
   need. */
void identify_begin(void);
/* Starts a worker process, which waits for one connection from that user. It then confines itself, handles the one
   request, sends the answer and ends with 0. Returns the worker's pid, or -errno. */
int identify_start_worker(int listener, uint32_t uid);

/* Functions of a worker process. */

/* Waits for the next connection from that user and returns it, or -errno. Closes connections from others. */
int identify_accept(int listener, uint32_t uid);
/* Waits for the request and its pidfd. Returns 0, or -EBADMSG if it is not exactly one request with one descriptor.
   After an error no received descriptor stays open. */
int identify_receive(int connection, struct identify_request *request, int *pidfd);

/* Functions of the broker. */

/* Sends a request and waits for the answer. Waiting for the connection and waiting for the answer are each limited
   to that many milliseconds. Returns 0 with a well-formed answer, or -errno. */
int identify_ask(const char *path, const struct identify_request *request, int pidfd, int milliseconds,
    struct identify_answer *answer);

/* Confines the helper. Irrevocably gives up all capabilities except two, new capabilities through exec, writing to
   files, and every system call that is not listed. Returns 0 or -errno. */
int identify_confine(void);
/* Confines a worker process further: only the system calls of an inspection stay permitted. */
int identify_confine_worker(void);

#endif
