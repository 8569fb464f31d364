#ifndef CONTACTBROKER_CPOLKIT_H
#define CONTACTBROKER_CPOLKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Asks polkit over the system bus (sd-bus(3), polkit's D-Bus interface org.freedesktop.PolicyKit1.Authority). What Swift
// cannot import: sd-bus's variadic functions.

/// One question: may this process do this?
struct cpolkit_question {
    const char *action;
    /// The process asked about, polkit's subject `unix-process`.
    uint32_t pid;
    /// Clock ticks since boot, /proc/PID/stat field 22.
    uint64_t start_time;
    uint32_t uid;
    /// Told to the person, and to the administrator's rules, as the detail `app`; NULL for none. Valid UTF-8.
    const char *app;
    /// Whether the person may be asked for a password.
    bool may_interact;
    /// When nobody answers, in microseconds from now.
    uint64_t timeout;
    /// How long polkit may give no sign of life, in microseconds. Looked at so often too.
    uint64_t patience;
};

enum cpolkit_answer {
    CPOLKIT_GRANTED = 1,
    CPOLKIT_REFUSED = 2,
    /// Not without a password, and the person may not be asked or cannot be.
    CPOLKIT_CHALLENGE = 3,
    /// This machine has no bus, or nothing that goes by polkit's name and nothing that could be started under it.
    CPOLKIT_ABSENT = 4,
    /// It could not be asked, or what came back was no answer.
    CPOLKIT_FAILED = 5,
    CPOLKIT_CANCELLED = 6,
    /// It is there, and does nothing: not even what it needs nobody for.
    CPOLKIT_HUNG = 7,
};

/// Asks on a connection of its own and waits for the answer; blocks the thread, and no longer than the timeout.
///
/// cancel: a descriptor that becomes readable when nobody wants the answer any more; the question is taken back then.
/// problem: why it failed, ended by NUL, for the journal; empty otherwise.
enum cpolkit_answer cpolkit_ask(
    const char *address, const struct cpolkit_question *question, int cancel, char *problem, size_t problem_size);

#endif
