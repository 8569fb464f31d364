#ifndef CLINUX_EVENT_H
#define CLINUX_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What an event loop asks of the kernel: epoll(7), eventfd(2), accept(2), recvmsg(2) with credentials. Swift cannot call
// these: their structures are packed, or unions, or macros. Every function answers -errno where it fails. Descriptors
// made here are close-on-exec and do not block.

int clinux_epoll(void);

/// Nanoseconds on a clock that nobody can set (CLOCK_MONOTONIC).
int64_t clinux_uptime(void);

enum {
    CLINUX_READABLE = 1,
    CLINUX_WRITABLE = 2,
    /// The other end is gone, for reading and for writing, or the descriptor has failed. Told whether asked for or not.
    CLINUX_HUNG_UP = 4,
};

struct clinux_event {
    uint64_t token;
    uint32_t readiness;
};

/// Tells of the descriptor from now on, as long as it is ready for what is asked (level-triggered).
int clinux_epoll_add(int epoll, int descriptor, uint32_t readiness, uint64_t token);
int clinux_epoll_change(int epoll, int descriptor, uint32_t readiness, uint64_t token);
int clinux_epoll_remove(int epoll, int descriptor);

enum { CLINUX_MOST_EVENTS = 64 };

/// Waits until something is ready and answers how many events it wrote, at most CLINUX_MOST_EVENTS. A negative time waits
/// for ever; an interrupted wait answers 0.
int clinux_epoll_wait(int epoll, struct clinux_event *events, int64_t nanoseconds);

/// A bell: it is readable from a ring to the next hush.
int clinux_bell(void);
void clinux_bell_ring(int bell);
void clinux_bell_hush(int bell);

/// Has a Unix socket that listens, and with it each that is accepted from it, say with every message who wrote it
/// (SO_PASSCRED), and take no descriptors (SO_PASSRIGHTS, where the kernel knows it: Linux 6.16). For a socket that
/// somebody else has bound it is called for what was accepted too: who connected before has not inherited it.
int clinux_know_writers(int descriptor);

int clinux_accept(int listening);

/// Who wrote what was received.
struct clinux_writer {
    pid_t pid;
    uid_t uid;
    /// The kernel said so. It does for every byte of a socket that knows its writers.
    bool is_known;
};

/// Receives bytes of one writer: where another's follow, they are left for the next time. 0 at the end.
///
/// Descriptors that come with the bytes are refused: there is no room for them, so the kernel lets go of them and none
/// is ever ours. To take and close them would be worse: close(2) asks the file's own file system, which may be the sender's.
ssize_t clinux_receive(int descriptor, void *bytes, size_t length, struct clinux_writer *writer);

#endif
