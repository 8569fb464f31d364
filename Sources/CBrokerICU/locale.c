#include "cicu.h"

#include <stdio.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/udat.h>
#include <unicode/uloc.h>
#include <unicode/ulocdata.h>
#include <unicode/unum.h>
#include <unicode/upluralrules.h>
#include <unicode/ures.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

/* Buffer sizes. No locale identifier with language, script and region is longer than longest_locale. */
enum { longest_locale = 64, longest_name = 256 };

static ptrdiff_t store(const UChar *units, int32_t count, char *out, size_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    int32_t length = 0;
    u_strToUTF8(out, capacity > INT32_MAX ? INT32_MAX : (int32_t)capacity, &length, units, count, &error);
    return U_FAILURE(error) && error != U_BUFFER_OVERFLOW_ERROR ? -1 : length;
}

ptrdiff_t cicu_region_name(const char *region, const char *language, char *out, size_t capacity) {
    char locale[longest_locale];
    UChar units[longest_name];
    UErrorCode error = U_ZERO_ERROR;
    if (snprintf(locale, sizeof locale, "und_%s", region) >= (int)sizeof locale) return -1;
    int32_t count = uloc_getDisplayCountry(locale, language, units, longest_name, &error);
    // ICU returns the code itself for a region without a name.
    if (U_FAILURE(error) || error == U_USING_DEFAULT_WARNING || count <= 0) return -1;
    return store(units, count, out, capacity);
}

ptrdiff_t cicu_region_language(const char *region, char *out, size_t capacity) {
    char locale[longest_locale], likely[longest_locale];
    UErrorCode error = U_ZERO_ERROR;
    if (snprintf(locale, sizeof locale, "und_%s", region) >= (int)sizeof locale) return -1;
    int32_t count = uloc_addLikelySubtags(locale, likely, sizeof likely, &error);
    if (U_FAILURE(error) || count <= 0 || count >= (int32_t)sizeof likely) return -1;
    if ((size_t)count <= capacity) memcpy(out, likely, (size_t)count);
    return count;
}

ptrdiff_t cicu_language_and_script(const char *tag, char *out, size_t capacity) {
    char locale[longest_locale], likely[longest_locale], language[longest_locale], script[longest_locale];
    UErrorCode error = U_ZERO_ERROR;
    uloc_forLanguageTag(tag, locale, sizeof locale, NULL, &error);
    uloc_addLikelySubtags(locale, likely, sizeof likely, &error);
    if (U_FAILURE(error) || error == U_STRING_NOT_TERMINATED_WARNING) return -1;
    if (uloc_getLanguage(likely, language, sizeof language, &error) <= 0) return -1;
    uloc_getScript(likely, script, sizeof script, &error);
    if (U_FAILURE(error)) return -1;
    return snprintf(out, capacity, "%s_%s", language, script);
}

/* Opens the list of one locale, without its parents. Returns NULL if the locale has none. */
static UResourceBundle *family_name_first(const char *locale) {
    static const char *const path[] = {"personNames", "nameOrderLocales", "surnameFirst"};
    UErrorCode error = U_ZERO_ERROR;
    // ures_open would take the environment's locale for one that ICU lacks.
    UResourceBundle *bundle = ures_openDirect(NULL, locale, &error);
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) bundle = ures_getByKey(bundle, path[i], bundle, &error);
    if (U_SUCCESS(error)) return bundle;
    ures_close(bundle);
    return NULL;
}

ptrdiff_t cicu_family_name_first(const char *tag, char *out, size_t capacity) {
    char locale[longest_locale];
    UErrorCode error = U_ZERO_ERROR;
    uloc_forLanguageTag(tag, locale, sizeof locale, NULL, &error);
    if (U_FAILURE(error) || error == U_STRING_NOT_TERMINATED_WARNING) return -1;
    UResourceBundle *list;
    while (!(list = family_name_first(*locale ? locale : "root"))) {
        if (!*locale) return -1;
        char *last = strrchr(locale, '_');
        if (last) *last = 0;
        else *locale = 0;
    }
    UChar units[longest_name];
    int32_t used = 0;
    // A list of one is a plain string in ICU's data.
    int32_t size = ures_getType(list) == URES_STRING ? 1 : ures_getSize(list);
    for (int32_t i = 0; i < size && U_SUCCESS(error); i++) {
        int32_t count = 0;
        const UChar *language = size == 1 && ures_getType(list) == URES_STRING
            ? ures_getString(list, &count, &error)
            : ures_getStringByIndex(list, i, &count, &error);
        if (U_FAILURE(error) || used + count + 1 > longest_name) break;
        if (used) units[used++] = ' ';
        u_memcpy(units + used, language, count);
        used += count;
    }
    ures_close(list);
    return U_FAILURE(error) ? -1 : store(units, used, out, capacity);
}

ptrdiff_t cicu_script_of(const char *text, size_t count, char *out, size_t capacity) {
    UScriptCode script = USCRIPT_COMMON;
    for (size_t i = 0; i < count;) {
        UChar32 character;
        UErrorCode error = U_ZERO_ERROR;
        U8_NEXT(text, i, count, character);
        if (character < 0) return -1;
        UScriptCode next = uscript_getScript(character, &error);
        if (U_FAILURE(error)) return -1;
        // Spaces, hyphens and combining marks fit every script.
        if (next == USCRIPT_COMMON || next == USCRIPT_INHERITED || next == script) continue;
        if (script != USCRIPT_COMMON) return -1;
        script = next;
    }
    return script == USCRIPT_COMMON ? -1 : snprintf(out, capacity, "%s", uscript_getShortName(script));
}

ptrdiff_t cicu_plural_category(const char *language, int64_t number, char *out, size_t capacity) {
    UChar units[16];
    UErrorCode error = U_ZERO_ERROR;
    UPluralRules *rules = uplrules_open(language, &error);
    if (U_FAILURE(error)) return -1;
    int32_t count = uplrules_select(rules, (double)number, units, 16, &error);
    uplrules_close(rules);
    return U_FAILURE(error) ? -1 : store(units, count, out, capacity);
}

/* Latin digits, as in phone numbers and in what the person types. Returns 0 if the name is too long. */
static int with_latin_digits(const char *language, char locale[longest_locale]) {
    return snprintf(locale, longest_locale, "%s@numbers=latn", language) < longest_locale;
}

ptrdiff_t cicu_number(const char *language, int64_t number, char *out, size_t capacity) {
    char locale[longest_locale];
    UChar units[longest_name];
    UErrorCode error = U_ZERO_ERROR;
    if (!with_latin_digits(language, locale)) return -1;
    UNumberFormat *format = unum_open(UNUM_DECIMAL, NULL, 0, locale, NULL, &error);
    if (U_FAILURE(error)) return -1;
    int32_t count = unum_formatInt64(format, number, units, longest_name, NULL, &error);
    unum_close(format);
    return U_FAILURE(error) ? -1 : store(units, count, out, capacity);
}

ptrdiff_t cicu_date(const char *language, int64_t seconds, int has_time, char *out, size_t capacity) {
    char locale[longest_locale];
    UChar units[longest_name];
    UErrorCode error = U_ZERO_ERROR;
    if (!with_latin_digits(language, locale)) return -1;
    UDateFormat *format = udat_open(has_time ? UDAT_SHORT : UDAT_NONE, UDAT_MEDIUM, locale, NULL, 0, NULL, 0, &error);
    if (U_FAILURE(error)) return -1;
    int32_t count = udat_format(format, (UDate)seconds * 1000, units, longest_name, NULL, &error);
    udat_close(format);
    return U_FAILURE(error) ? -1 : store(units, count, out, capacity);
}

ptrdiff_t cicu_quotation_mark(const char *language, int is_end, char *out, size_t capacity) {
    UChar units[16];
    UErrorCode error = U_ZERO_ERROR;
    ULocaleData *data = ulocdata_open(language, &error);
    if (U_FAILURE(error)) return -1;
    ULocaleDataDelimiterType type = is_end ? ULOCDATA_QUOTATION_END : ULOCDATA_QUOTATION_START;
    int32_t count = ulocdata_getDelimiter(data, type, units, 16, &error);
    ulocdata_close(data);
    return U_FAILURE(error) ? -1 : store(units, count, out, capacity);
}

int cicu_is_right_to_left(const char *language) { return uloc_isRightToLeft(language); }

int cicu_is_wide(uint32_t character) {
    switch (u_getIntPropertyValue((UChar32)character, UCHAR_EAST_ASIAN_WIDTH)) {
    case U_EA_WIDE:
    case U_EA_FULLWIDTH: return 1;
    default: return 0;
    }
}
