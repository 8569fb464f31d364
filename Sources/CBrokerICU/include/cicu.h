#ifndef CONTACTBROKER_CICU_H
#define CONTACTBROKER_CICU_H

#include <stddef.h>
#include <stdint.h>

/*
 * The parts of ICU that the broker needs. No ICU header is included here, because Debian's headers break
 * Swift's module builds.
 *
 * Only one thread at a time may use an object. Input text is UTF-8; the comment on each function names its
 * output. Functions that return a size return the size of the whole result, even if `out` is too small, or -1
 * if ICU fails. If `out` is too small or ICU fails, `out` contains no usable result. The exception is
 * cicu_collation_key, which truncates its result.
 */

typedef struct cicu_collator cicu_collator;

/* Opens a collator of tertiary strength that compares digits one by one. Returns NULL on failure. */
cicu_collator *cicu_collator_open(const char *locale);
void cicu_collator_close(cicu_collator *collator);
/* Writes the version of the collator's rules and data. Keys of different versions cannot be compared. */
void cicu_collator_version(const cicu_collator *collator, uint8_t version[4]);
/* Writes the sort key, truncated to `capacity`. Comparing the bytes compares the texts. Returns the size of
   the whole key without its closing zero. */
ptrdiff_t cicu_collation_key(
    cicu_collator *collator, const char *text, size_t count, uint8_t *out, size_t capacity);

typedef struct cicu_folder cicu_folder;

cicu_folder *cicu_folder_open(void);
/*
 * Loads the data for non-ASCII text (about 10 ms) and for Chinese text (about 80 ms) before they are needed.
 * ICU keeps the data for all folders. Can be called from any thread.
 */
void cicu_prepare(void);
void cicu_folder_close(cicu_folder *folder);
/* UTF-8: only NFKC case folding. */
ptrdiff_t cicu_case_fold(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity);
/* UTF-8: NFKC case folding, with accents removed and Latin letters converted to ASCII where possible. */
ptrdiff_t cicu_fold(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity);
/* UTF-8: transliterated to Latin, then folded. Loads its tables at first use: 7 ms. */
ptrdiff_t cicu_fold_latin(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity);

/* Like cicu_fold_latin, with the English romanisation of Russian (BGN/PCGN): Yuriy, Shchukin. */
ptrdiff_t cicu_fold_russian(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity);

/* A character's role when text is split into words. */
enum cicu_class {
    CICU_BETWEEN = 0,     /* space, punctuation, symbols */
    CICU_PART = 1,        /* letters, digits and their marks */
    CICU_IDEOGRAPH = 2,   /* Han, Kana, Hangul: a word by itself */
    CICU_APOSTROPHE = 3,  /* within a word, as in O'Brien */
};
enum cicu_class cicu_class_of(uint32_t character);

/*
 * ASCII: ICU's name for the character set with this name. Names are compared as ICU does: regardless of case,
 * punctuation and zeros before digits. Returns -1 for an unknown name, which is looked up in ICU's table only, and for
 * a character set that does not contain ASCII or that has states.
 */
ptrdiff_t cicu_charset(const char *name, char *out, size_t capacity);
/*
 * UTF-8: the bytes decoded from this character set, with U+FFFD for invalid ones. `charset` must come from
 * cicu_charset, because ICU looks up an unknown name as a file in its data folder. Also returns -1 for an
 * unknown name.
 */
ptrdiff_t cicu_decode(const char *charset, const char *bytes, size_t count, char *out, size_t capacity);

/* Pass only names of languages and regions that consist of letters, digits, hyphens and underscores to the
   functions below. They can be called from any thread. */

/* UTF-8: the name of a country (code `DE`) in a language. Returns -1 if ICU has no such name. */
ptrdiff_t cicu_region_name(const char *region, const char *language, char *out, size_t capacity);
/* ASCII: the most common language of a country, with its script and the country: `zh_Hant_TW`. */
ptrdiff_t cicu_region_language(const char *region, char *out, size_t capacity);
/* ASCII: the language and script of a BCP 47 tag: `zh_Hant` for `zh-TW`. A tag without a script gets the
   usual script. */
ptrdiff_t cicu_language_and_script(const char *tag, char *out, size_t capacity);
/* ASCII: the languages whose names have the family name first for a reader with this BCP 47 tag, separated by spaces:
   `hu ja ko vi yue zh` for `hu` (CLDR, personNames/nameOrderLocales/surnameFirst). */
ptrdiff_t cicu_family_name_first(const char *tag, char *out, size_t capacity);
/* ASCII: the script of the letters of a UTF-8 text: `Latn`. Returns -1 if they have none, or several. */
ptrdiff_t cicu_script_of(const char *text, size_t count, char *out, size_t capacity);
/* ASCII: the number's plural category in the language (CLDR, plural rules): zero, one, two, few, many or
   other. */
ptrdiff_t cicu_plural_category(const char *language, int64_t number, char *out, size_t capacity);
/* UTF-8: the number with the language's grouping (`10,000`) and Latin digits. */
ptrdiff_t cicu_number(const char *language, int64_t number, char *out, size_t capacity);
/* UTF-8: the day, and if has_time is not 0 the time, of a moment in seconds since 1970, in the system's time zone
   and with Latin digits. */
ptrdiff_t cicu_date(const char *language, int64_t seconds, int has_time, char *out, size_t capacity);
/* UTF-8: the mark that begins a quotation in the language, or the one that ends it. */
ptrdiff_t cicu_quotation_mark(const char *language, int is_end, char *out, size_t capacity);
/* Whether the language is written from right to left. */
int cicu_is_right_to_left(const char *language);
/* Whether a character takes two columns: wide or full-width (Unicode Standard Annex #11). */
int cicu_is_wide(uint32_t character);

#endif
