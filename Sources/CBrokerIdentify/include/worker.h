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
    /* The user ID of the process, as the broker reports it. The helper runs at most two full inspections
       for one user at a time. */
    uint32_t uid;
    uint32_t reserved;
};

enum identify_outcome {
    IDENTIFY_INSPECTED,
    IDENTIFY_ENDED,
    IDENTIFY_MALFORMED,
    /* Too many requests of this user are waiting. */
    IDENTIFY_BUSY,
    IDENTIFY_TIMED_OUT,
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
/* The helper kills a worker process after this many milliseconds. */
#define IDENTIFY_WORKER_MILLISECONDS 500

/* Functions of the helper. */

/* Closes all descriptors with this number or a higher one. */
void identify_close_from(int first);
/* Creates a listening SOCK_SEQPACKET socket at that path, with mode 0600. Returns it, or -errno. */
int identify_listen(const char *path);
/* Returns 1 if the descriptor is a listening SOCK_SEQPACKET socket, whichever process created it. Also makes it
   non-blocking and close-on-exec. */
int identify_is_listener(int descriptor);
/* Returns the owner of the socket's file, or -errno. */
int64_t identify_owner(int listener);
/* Accepts the next connection and returns it, or -errno. If it comes from a user other than uid, closes it and
   returns -EACCES. Never blocks. */
int identify_accept(int listener, uint32_t uid);
/* Receives the request and its pidfd. Returns 0; -EAGAIN if it has not arrived; -EBADMSG if it is not exactly one
   request with one descriptor. After an error no received descriptor stays open. Never blocks. */
int identify_receive(int connection, struct identify_request *request, int *pidfd);
/* Sends an answer without an inspection. Never blocks. */
void identify_refuse(int connection, enum identify_outcome outcome);
/* Inspects this process, before identify_confine(), so that the dynamic linker resolves every function that workers
   need. */
void identify_begin(void);
/* Starts a worker process, which confines itself, handles this one request, sends the answer on the
   connection and ends. Returns the worker's pid, or -errno. *worker receives the worker's pidfd, which the
   calling code must close. connection and pidfd stay open in this process. */
int identify_start_worker(const struct identify_request *request, int connection, int pidfd, int *worker);
/* Kills a worker. */
void identify_kill(int worker);
/* Reaps a worker that has ended. Returns 1 if it exited with 0. */
int identify_reap(int worker);

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
