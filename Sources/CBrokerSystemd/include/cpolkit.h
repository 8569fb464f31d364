#ifndef CONTACTBROKER_CPOLKIT_H
#define CONTACTBROKER_CPOLKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Asks polkit over the system bus (sd-bus(3), polkit's D-Bus interface org.freedesktop.PolicyKit1.Authority).
// This is in C, because Swift cannot import sd-bus's variadic functions.

/// One request to polkit: may this process perform this action?
struct cpolkit_question {
    const char *action;
    /// The process concerned, polkit's subject `unix-process`.
    uint32_t pid;
    /// Clock ticks since boot, /proc/PID/stat field 22.
    uint64_t start_time;
    uint32_t uid;
    /// The detail `app`, which polkit shows to the person and passes to the administrator's rules; NULL for
    /// none. Valid UTF-8.
    const char *app;
    /// The detail `access`, used in the same way: the access that the app gets.
    const char *access;
    /// Whether the person may be asked for a password.
    bool may_interact;
    /// The time limit for the answer, in microseconds.
    uint64_t timeout;
    /// How long polkit may be silent, in microseconds; also the interval of liveness checks.
    uint64_t patience;
};

enum cpolkit_answer {
    CPOLKIT_GRANTED = 1,
    CPOLKIT_REFUSED = 2,
    /// A password is required, but the person may not or cannot be asked.
    CPOLKIT_CHALLENGE = 3,
    /// This machine has no bus, or no program owns polkit's name or can be started for it.
    CPOLKIT_ABSENT = 4,
    /// polkit could not be asked, or its reply was invalid.
    CPOLKIT_FAILED = 5,
    CPOLKIT_CANCELLED = 6,
    /// polkit runs, but does not respond even to calls that need no person.
    CPOLKIT_HUNG = 7,
};

/// Asks on a new connection and waits for the answer. Blocks the thread, at most until the timeout.
///
/// cancel: a descriptor that cancels the request when it becomes readable. problem: receives the reason for a
/// failure, with a NUL, for the journal; empty otherwise.
enum cpolkit_answer cpolkit_ask(
    const char *address, const struct cpolkit_question *question, int cancel, char *problem, size_t problem_size);

#endif
