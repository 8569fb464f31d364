#ifndef CONTACTBROKER_CTESTCALLER_H
#define CONTACTBROKER_CTESTCALLER_H

#include <stddef.h>
#include <stdint.h>

#include "thief.h"

/* Really different callers for tests: processes that connect to a socket and then run a program. */

struct test_caller_plan {
    const char *socket_path;
    /* The program, with its arguments up to a NULL. The socket is its standard input and output. NULL: none; the
       process waits until its socket ends. */
    char *const *arguments;
    /* Who it becomes before it connects; -1: nobody else. Needs root. */
    int64_t uid;
    /* Its root directory; NULL: ours. Needs root. Only without a program. */
    const char *root;
    /* A file to write "0" into before it connects, such as cgroup.procs; NULL: none. */
    const char *joins;
    int own_mount_namespace;
    int own_user_namespace;
    /* The program is first copied into memory and run from there, memfd_create(2). */
    int in_memory;
    /* 1: it leads a session on a new terminal. 2: its parent does, and is the process that is answered. */
    int on_terminal;
    /* The number it gets, clone3(2); 0: any. -EEXIST where another process has it. */
    int number;
};

/* Starts it and waits until it is connected and runs its program. The process's number, or -errno. *terminal: the
   other end of its terminal, to be closed, or -1. */
int test_caller_start(const struct test_caller_plan *plan, int *terminal);

/* A listening socket at that path, for everybody; or -errno. */
int test_caller_listen(const char *path);

/* Waits until the process has ended; leaves it unreaped if keep is not 0. 0 or -errno. */
int test_caller_wait(int pid, int keep);

/* Sends one message with descriptors to a SOCK_SEQPACKET socket and waits for the answer: its second number in *outcome,
   and 1. 0 where there is none, or -errno. */
int test_identify_say(
    const char *path, const void *bytes, size_t size, const int *descriptors, size_t count, uint32_t *outcome);

/* A file system in user space at that folder, whose server answers what it takes to lie in it and then nothing more. The
   server's process, or -errno. Needs root, and a mount namespace that may be thrown away. */
int test_hanging_mount(const char *folder);

#endif
