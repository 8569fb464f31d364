#ifndef CONTACTBROKER_FAKEPOLKIT_H
#define CONTACTBROKER_FAKEPOLKIT_H

#include <stdbool.h>
#include <stdint.h>

// A fake polkit that takes polkit's name on the tests' bus. Its habit decides how it answers.

enum fakepolkit_habit {
    FAKEPOLKIT_YES,
    FAKEPOLKIT_NO,
    FAKEPOLKIT_CHALLENGE,
    /// Authorized and challenged at once, which polkit never says.
    FAKEPOLKIT_BOTH,
    /// A yes without its details.
    FAKEPOLKIT_SHORT,
    /// A yes with something after it.
    FAKEPOLKIT_LONG,
    /// A yes outside of a structure.
    FAKEPOLKIT_FLAT,
    FAKEPOLKIT_WORD,
    FAKEPOLKIT_EMPTY,
    FAKEPOLKIT_ERROR,
    /// Does not answer.
    FAKEPOLKIT_SILENT,
    /// Leaves the bus instead of answering.
    FAKEPOLKIT_LEAVE,
    /// Accepts every call, but shows no sign of life.
    FAKEPOLKIT_HUNG,
};

/// The last password request as it arrived.
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

/// Starts a fake polkit on that bus. Returns NULL if it cannot take polkit's name.
struct fakepolkit *fakepolkit_start(const char *address, enum fakepolkit_habit habit);

/// Wait for a password request, or until the bus reports that the last caller has left. False after ten seconds.
bool fakepolkit_wait_asked(struct fakepolkit *fake, struct fakepolkit_question *question);
bool fakepolkit_wait_left(struct fakepolkit *fake);

/// The number of calls that are neither a password request nor a check for a sign of life.
unsigned fakepolkit_other_calls(struct fakepolkit *fake);

void fakepolkit_stop(struct fakepolkit *fake);

#endif
