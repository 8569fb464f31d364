#ifndef CONTACTBROKER_CIDENTIFY_WORKER_H
#define CONTACTBROKER_CIDENTIFY_WORKER_H

#include <stdint.h>

#include "look.h"

/* The conversation between the broker and contactbroker-identify: one connection, one request, one answer, each a single
   message on a SOCK_SEQPACKET socket, of fixed size and in the machine's own order of bytes. With the request comes one
   descriptor, a pidfd. Whatever has another form is answered IDENTIFY_MALFORMED. */
#define IDENTIFY_MAGIC 0x31644963u

struct identify_request {
    uint32_t magic;
    uint32_t wants;
    /* Whose process it is said to be: two of one user are looked at at a time. */
    uint32_t uid;
    uint32_t reserved;
};

enum identify_outcome {
    IDENTIFY_LOOKED,
    IDENTIFY_ENDED,
    IDENTIFY_MALFORMED,
    /* Too many wait. */
    IDENTIFY_BUSY,
    IDENTIFY_TIMED_OUT,
    IDENTIFY_FAILED,
};

struct identify_answer {
    uint32_t magic;
    uint32_t outcome;
    int32_t reason;
    uint32_t reserved;
    struct identify_look look;
};

/* Bytes of the largest executable that the helper hashes: more is not read within its time. */
#define IDENTIFY_HELPER_HASH_LIMIT 268435456u
/* After this many milliseconds a worker is killed. */
#define IDENTIFY_WORKER_MILLISECONDS 500

/* The helper's side. */

/* Closes every descriptor from that number on. */
void identify_close_from(int first);
/* A listening SOCK_SEQPACKET socket at that path, of mode 0600; or -errno. */
int identify_listen(const char *path);
/* 1 for such a socket, however it was made. */
int identify_is_listener(int descriptor);
/* Whose file the socket is bound to; or -errno. */
int64_t identify_owner(int listener);
/* The next connection of that user; -EACCES for another one's, which is closed. Never waits. */
int identify_accept(int listener, uint32_t uid);
/* Takes the request and its pidfd. 0; -EAGAIN where it has not come; -EBADMSG for anything else than one whole request
   with one descriptor, none of which stay open then. Never waits. */
int identify_receive(int connection, struct identify_request *request, int *pidfd);
/* An answer without a look. Never waits. */
void identify_refuse(int connection, enum identify_outcome outcome);
/* Looks at this process, before identify_confine(): the dynamic linker finds every function that a look calls once for all
   workers. */
void identify_begin(void);
/* Starts a process that shuts itself in, looks for that one request, answers on the connection and ends: its number, or
   -errno. *worker is a pidfd of it, for the caller to close; connection and pidfd stay the caller's. */
int identify_start_worker(const struct identify_request *request, int connection, int pidfd, int *worker);
/* Kills it. */
void identify_kill(int worker);
/* Takes leave of one that has ended. 1 where it ended well. */
int identify_reap(int worker);

/* The broker's side. */

/* Asks, and waits for the answer, for at most so many milliseconds. 0 with an answer that has the right form, or -errno. */
int identify_ask(const char *path, const struct identify_request *request, int pidfd, int milliseconds,
    struct identify_answer *answer);

/* Gives up, for good, whatever a process of the helper does not need: capabilities but the two, gaining any by exec, files
   larger than nothing, and every system call that is not on a list. 0 or -errno. */
int identify_confine(void);
/* The same once more, for a worker: of these system calls those that look. */
int identify_confine_worker(void);

#endif
