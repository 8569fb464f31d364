#ifndef CONTACTBROKER_CPHONENUMBER_H
#define CONTACTBROKER_CPHONENUMBER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * libphonenumber, as far as the broker needs it. The functions throw no exceptions and can be called from any thread.
 */

/* Large enough: libphonenumber reads extensions of at most 20 digits. */
#define CPHONENUMBER_EXTENSION 24

struct cphonenumber {
    /* Calling code, such as 44. */
    int32_t country;
    /* The national significant number, without leading zeros. */
    uint64_t national;
    /* Digits, with a NUL; empty for none. */
    char extension[CPHONENUMBER_EXTENSION];
    /* 1 for a short number that is dialled as it is, such as 116117 in Germany. */
    int32_t is_short;
};

/*
 * Parses a number as dialled in the region: two capital letters, or an unknown one such as ZZ. Text is UTF-8. Returns
 * 1; 0 if it is no number or if its country is unknown.
 */
int cphonenumber_parse(const char *text, size_t count, const char *region, struct cphonenumber *number);

/* How two numbers match in libphonenumber's own comparison, each parsed for the region. */
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
 * The number as dialled from the region, in UTF-8: in national format within its country, else international. Returns
 * the size of the whole result, even if `out` is too small. Returns -1 if it is no number, spells words, is a short
 * number, or is in no numbering plan and so has no known grouping.
 */
ptrdiff_t cphonenumber_format(const char *text, size_t count, const char *region, char *out, size_t capacity);

/* Loads the numbering plans, so that the first number does not wait for them. */
void cphonenumber_prepare(void);

#ifdef __cplusplus
}
#endif

#endif
