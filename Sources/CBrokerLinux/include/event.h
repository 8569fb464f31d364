#ifndef CLINUX_EVENT_H
#define CLINUX_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The kernel functions that an event loop needs: epoll(7), eventfd(2), accept(2), recvmsg(2) with
// credentials. Swift cannot import them, because they use packed structures, unions or macros. Functions
// return -errno on failure. The descriptors that they create are close-on-exec and non-blocking.

int clinux_epoll(void);

/// Nanoseconds on a clock that no program can set (CLOCK_MONOTONIC).
int64_t clinux_uptime(void);

enum {
    CLINUX_READABLE = 1,
    CLINUX_WRITABLE = 2,
    /// The peer has closed both directions, or the descriptor has failed. Reported even if not requested.
    CLINUX_HUNG_UP = 4,
};

struct clinux_event {
    uint64_t token;
    uint32_t readiness;
};

/// Starts to watch the descriptor. clinux_epoll_wait() reports it as long as it has the requested readiness
/// (level-triggered).
int clinux_epoll_add(int epoll, int descriptor, uint32_t readiness, uint64_t token);
int clinux_epoll_change(int epoll, int descriptor, uint32_t readiness, uint64_t token);
int clinux_epoll_remove(int epoll, int descriptor);

enum { CLINUX_MOST_EVENTS = 64 };

/// Waits until a descriptor is ready. Returns the number of events that it stored, at most CLINUX_MOST_EVENTS.
/// A negative time means no limit; an interrupted wait returns 0.
int clinux_epoll_wait(int epoll, struct clinux_event *events, int64_t nanoseconds);

/// Creates an eventfd(2) that wakes the event loop. It is readable from clinux_bell_ring() until
/// clinux_bell_hush().
int clinux_bell(void);
void clinux_bell_ring(int bell);
void clinux_bell_hush(int bell);

/// Makes a listening Unix socket, and sockets accepted from it, report the sender of every message
/// (SO_PASSCRED). They then also refuse descriptors (SO_PASSRIGHTS, since Linux 6.16). If another process
/// bound the socket, call this also on each accepted socket: a connection made before the first call does not
/// have the options.
int clinux_know_writers(int descriptor);

/// Accepts a connection. Bytes that were sent out of band (MSG_OOB) are received in order with the others. The kernel would
/// otherwise drop them, and the descriptors that came with them, when the next bytes are received.
int clinux_accept(int listening);

/// The sender of the received bytes.
struct clinux_writer {
    pid_t pid;
    uid_t uid;
    /// Whether the kernel reported the sender. It reports the sender of every byte if the socket was set up
    /// with clinux_know_writers().
    bool is_known;
};

/// Receives bytes from one sender; bytes from another sender stay for the next call. Returns 0 at the end of
/// the stream, and -EBADMSG without receiving anything if descriptors came with the bytes.
///
/// The socket must have been set up with clinux_know_writers(). Receiving would drop the descriptors, because there is no
/// room for them, and the caller would wait until the kernel has closed what they refer to: for hours if that is a socket
/// with SO_LINGER. So this looks first (MSG_PEEK).
ssize_t clinux_receive(int descriptor, void *bytes, size_t length, struct clinux_writer *writer);

/// Ends both directions of a connected socket, and closes it if no descriptors that its peer sent are unread. Otherwise,
/// or if it cannot tell, returns false, and the socket is open: clinux_close_by_thread() must close it. `bytes` is room
/// for looking at what is unread.
bool clinux_close_if_empty(int descriptor, void *bytes, size_t length);

/// Closes a descriptor by passing it to a thread that ends. The kernel does not linger on a socket (SO_LINGER, socket(7))
/// that is closed because its owner exits. Returns when the kernel has closed everything, which other kinds of files, such
/// as those of a network file system that does not answer, can delay.
void clinux_close_by_thread(int descriptor);

#endif
