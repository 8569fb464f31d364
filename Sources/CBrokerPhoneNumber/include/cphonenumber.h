#ifndef CONTACTBROKER_CPHONENUMBER_H
#define CONTACTBROKER_CPHONENUMBER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * libphonenumber, as far as the broker needs it. No exception leaves these functions. From any thread.
 */

/* Longest extension that libphonenumber reads has 20 digits. */
#define CPHONENUMBER_EXTENSION 24

struct cphonenumber {
    /* Calling code, such as 44. */
    int32_t country;
    /* The national significant number, without zeros in front. */
    uint64_t national;
    /* Digits, closed by a zero; empty for none. */
    char extension[CPHONENUMBER_EXTENSION];
    /* 1 for a service's number that is dialled as it stands, such as 116117 in Germany. */
    int32_t is_short;
};

/*
 * Reads a number as somebody in the region (two capital letters; one that is none, such as ZZ, is nobody knows where) would dial it. Text is UTF-8.
 * 1 where it is one; 0 where it is none, or where its country cannot be known.
 */
int cphonenumber_parse(const char *text, size_t count, const char *region, struct cphonenumber *number);

/* How two numbers match by libphonenumber's own comparison, each read as in the region: */
enum cphonenumber_match {
    CPHONENUMBER_INVALID = 0,
    CPHONENUMBER_NONE = 1,
    CPHONENUMBER_SHORT_NATIONAL = 2,
    CPHONENUMBER_NATIONAL = 3,
    CPHONENUMBER_EXACT = 4,
};
enum cphonenumber_match cphonenumber_match(
    const char *one, size_t one_count, const char *other, size_t other_count, const char *region);

/*
 * The number as it is dialled from the region, in UTF-8: within its own country national, else international. Returns the
 * size of the whole, also where `out` was too small for it. -1 for what is no number, for one that spells words, for a
 * service's short one and for one that no numbering plan has, since nobody knows where its digits part.
 */
ptrdiff_t cphonenumber_format(const char *text, size_t count, const char *region, char *out, size_t capacity);

/* Reads the numbering plans of the world, for which the first number would otherwise wait. */
void cphonenumber_prepare(void);

#ifdef __cplusplus
}
#endif

#endif
