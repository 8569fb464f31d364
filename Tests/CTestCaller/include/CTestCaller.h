#ifndef CONTACTBROKER_CTESTCALLER_H
#define CONTACTBROKER_CTESTCALLER_H

#include <stddef.h>
#include <stdint.h>

#include "thief.h"

/* Callers of different identities for tests: processes that connect to a socket and then run a program. */

struct test_caller_plan {
    const char *socket_path;
    /* The program, with its arguments up to a NULL. The socket is its standard input and output. NULL: no program; the
       process waits until its socket ends. */
    char *const *arguments;
    /* The user it becomes before it connects; -1: no change. Needs root. */
    int64_t uid;
    /* Its root directory; NULL: ours. Needs root. Only without a program. */
    const char *root;
    /* A file to write "0" into before it connects, such as cgroup.procs; NULL: none. */
    const char *joins;
    int own_mount_namespace;
    int own_user_namespace;
    /* Whether the program is copied into memory (memfd_create(2)) and run from there. */
    int in_memory;
    /* 1: it leads a session on a new terminal. 2: its parent does, and the parent's PID is returned. */
    int on_terminal;
    /* Its PID (clone3(2)); 0: any. -EEXIST if another process has it. */
    int number;
};

/* Starts the process and waits until it is connected and runs its program. Returns the PID, or -errno. *terminal is
   the other end of its terminal, which the test must close, or -1. */
int test_caller_start(const struct test_caller_plan *plan, int *terminal);

/* Returns a listening socket at that path that everybody may connect to, or -errno. */
int test_caller_listen(const char *path);

/* Waits until the process has ended, and does not reap it if keep is not 0. Returns 0 or -errno. */
int test_caller_wait(int pid, int keep);

/* Connects to a SOCK_SEQPACKET socket. Returns the connection, or -errno. */
int test_identify_connect(const char *path);

/* Sends one message with descriptors to a SOCK_SEQPACKET socket and waits for the reply. Returns 1, and the reply's
   second number in *outcome; 0 if there is no reply; or -errno. */
int test_identify_say(
    const char *path, const void *bytes, size_t size, const int *descriptors, size_t count, uint32_t *outcome);

/* Mounts a FUSE file system at that folder whose server never answers look-ups. Returns the server's PID, or -errno.
   Needs root, and a separate mount namespace. */
int test_hanging_mount(const char *folder);

#endif
