#ifndef CONTACTBROKER_FAKEPOLKIT_H
#define CONTACTBROKER_FAKEPOLKIT_H

#include <stdbool.h>
#include <stdint.h>

// A program that goes by polkit's name on a bus of the tests, and does not behave.

enum fakepolkit_habit {
    FAKEPOLKIT_YES,
    FAKEPOLKIT_NO,
    FAKEPOLKIT_CHALLENGE,
    /// Authorized, and not yet: what polkit never says.
    FAKEPOLKIT_BOTH,
    /// A yes without its details.
    FAKEPOLKIT_SHORT,
    /// A yes, and something behind it.
    FAKEPOLKIT_LONG,
    /// A yes that is not in a structure.
    FAKEPOLKIT_FLAT,
    FAKEPOLKIT_WORD,
    FAKEPOLKIT_EMPTY,
    FAKEPOLKIT_ERROR,
    /// Says nothing.
    FAKEPOLKIT_SILENT,
    /// Leaves the bus in place of an answer.
    FAKEPOLKIT_LEAVE,
    /// Takes everything, and gives no sign of life.
    FAKEPOLKIT_HUNG,
};

/// The last question as it came.
struct fakepolkit_question {
    char kind[32];
    uint32_t pid;
    uint64_t start_time;
    int32_t uid;
    char action[64];
    char app[128];
    uint32_t flags;
    char cancellation[64];
};

struct fakepolkit;

/// Takes polkit's name on that bus; NULL where it cannot.
struct fakepolkit *fakepolkit_start(const char *address, enum fakepolkit_habit habit);

/// Waits until it was asked, or until whoever asked last has left the bus, as polkit sees it. False after ten seconds.
bool fakepolkit_wait_asked(struct fakepolkit *fake, struct fakepolkit_question *question);
bool fakepolkit_wait_left(struct fakepolkit *fake);

/// How often it was called for anything that is neither a question nor a look at whether it is there.
unsigned fakepolkit_other_calls(struct fakepolkit *fake);

void fakepolkit_stop(struct fakepolkit *fake);

#endif
