#ifndef CONTACTBROKER_CICU_H
#define CONTACTBROKER_CICU_H

#include <stddef.h>
#include <stdint.h>

/*
 * ICU, as far as the broker needs it. No ICU header is named here: Debian's break Swift's module builds.
 *
 * An object belongs to one thread at a time. Text is UTF-8 in; what comes out is named at each function. Functions
 * that return a size return what the whole result takes, also where `out` was too small to take it, and -1 where
 * ICU failed (then `out` holds nothing).
 */

typedef struct cicu_collator cicu_collator;

/* Tertiary strength, digits by digit. NULL where ICU has no collator at all. */
cicu_collator *cicu_collator_open(const char *locale);
void cicu_collator_close(cicu_collator *collator);
/* Version of the collator's rules and data, four bytes; keys made under different versions do not compare. */
void cicu_collator_version(const cicu_collator *collator, uint8_t version[4]);
/* The sort key without its closing zero, cut to `capacity`: comparing bytes compares the texts. */
ptrdiff_t cicu_collation_key(
    cicu_collator *collator, const char *text, size_t count, uint8_t *out, size_t capacity);

typedef struct cicu_folder cicu_folder;

cicu_folder *cicu_folder_open(void);
/*
 * Reads what the first text with other than plain letters, and the first with Chinese characters, would otherwise wait for:
 * some 10 ms and 80. ICU keeps it for all folders. From any thread.
 */
void cicu_prepare(void);
void cicu_folder_close(cicu_folder *folder);
/* UTF-8: NFKC case folding and no more. */
ptrdiff_t cicu_case_fold(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity);
/* UTF-8: NFKC case folding, accents off, Latin letters in ASCII as far as they have a form there. */
ptrdiff_t cicu_fold(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity);
/* UTF-8: the folded form of the text transliterated to Latin. Opens its tables at first use: 7 ms. */
ptrdiff_t cicu_fold_latin(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity);

/* The same as English speakers write Russian (BGN/PCGN): Yuriy, Shchukin. */
ptrdiff_t cicu_fold_russian(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity);

/* What a character is when text is cut into words. */
enum cicu_class {
    CICU_BETWEEN = 0,     /* space, punctuation, symbols */
    CICU_PART = 1,        /* letters, digits and their marks */
    CICU_IDEOGRAPH = 2,   /* Han, Kana, Hangul: a word by itself */
    CICU_APOSTROPHE = 3,  /* within a word, as in O'Brien */
};
enum cicu_class cicu_class_of(uint32_t character);

/*
 * UTF-8: the bytes read in this character set, U+FFFD where they are none of it. `charset` is a name that the caller
 * wrote: ICU looks for one that it does not know among the files of its data folder. -1 also where there is none.
 */
ptrdiff_t cicu_decode(const char *charset, const char *bytes, size_t count, char *out, size_t capacity);

/* The functions below take names of languages and regions of letters, digits, hyphens and underscores only, from any thread. */

/* UTF-8: a country's name (`DE`) in a language. -1 where there is none. */
ptrdiff_t cicu_region_name(const char *region, const char *language, char *out, size_t capacity);
/* ASCII: the language that most speak in a country, and its script: `zh_Hant_TW`. */
ptrdiff_t cicu_region_language(const char *region, char *out, size_t capacity);
/* ASCII: language and script of a BCP 47 tag, the script that it is mostly written in where the tag has none: `zh_Hant` of `zh-TW`. */
ptrdiff_t cicu_language_and_script(const char *tag, char *out, size_t capacity);
/* ASCII: zero, one, two, few, many or other, as the language counts (CLDR, plural rules). */
ptrdiff_t cicu_plural_category(const char *language, int64_t number, char *out, size_t capacity);
/* Whether the language is written from right to left. */
int cicu_is_right_to_left(const char *language);
/* Whether a character takes two columns: wide or full-width (Unicode Standard Annex #11). */
int cicu_is_wide(uint32_t character);

#endif
