#ifndef CONTACTBROKER_CPHONENUMBER_H
#define CONTACTBROKER_CPHONENUMBER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The parts of libphonenumber that the broker needs. The functions throw no exceptions and can be called from
 * any thread.
 */

/* Room for an extension and its closing NUL. libphonenumber reads extensions of at most 20 digits. */
#define CPHONENUMBER_EXTENSION 24

struct cphonenumber {
    /* Calling code, such as 44. */
    int32_t country;
    /* The national significant number, without leading zeros. */
    uint64_t national;
    /* The extension's digits with a closing NUL; empty if there is none. */
    char extension[CPHONENUMBER_EXTENSION];
    /* 1 for a short number that is dialled as it is, such as 116117 in Germany; otherwise 0. */
    int32_t is_short;
};

/*
 * Parses a number as dialled in the region. The region is two capital letters; ZZ means that it is unknown.
 * The text is UTF-8. Returns 1, or 0 if the text is not a number or its country is unknown.
 */
int cphonenumber_parse(const char *text, size_t count, const char *region, struct cphonenumber *number);

/* The result of libphonenumber's own comparison of two numbers, each parsed for the region. */
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
 * Writes the number in UTF-8: in national format if the region is in the number's country, otherwise in
 * international format. Returns the size of the whole result, even if `out` is too small. Returns -1 if the
 * text is not a number, spells words, is a short number, or is not valid in any numbering plan. The grouping
 * of an invalid number is unknown.
 */
ptrdiff_t cphonenumber_format(const char *text, size_t count, const char *region, char *out, size_t capacity);

/* Loads the numbering plans before the first number is parsed. */
void cphonenumber_prepare(void);

#ifdef __cplusplus
}
#endif

#endif
