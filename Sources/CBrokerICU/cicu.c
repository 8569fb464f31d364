#include "cicu.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/ucol.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utrans.h>

/* A UTF-16 buffer that grows and is reused. Folding a word therefore rarely allocates memory. */
struct buffer {
    UChar *units;
    int32_t capacity;
    int32_t count;
};

static int reserve(struct buffer *buffer, int32_t capacity) {
    if (buffer->capacity >= capacity) return 1;
    if (capacity > INT32_MAX / 4) return 0;
    UChar *units = realloc(buffer->units, (size_t)capacity * sizeof(UChar));
    if (!units) return 0;
    buffer->units = units;
    buffer->capacity = capacity;
    return 1;
}

/* Ill-formed UTF-8 would become U+FFFD, but Swift's strings are always valid. */
static int load(struct buffer *buffer, const char *text, size_t count) {
    if (count > INT32_MAX / 8 || !reserve(buffer, (int32_t)count + 1)) return 0;
    UErrorCode error = U_ZERO_ERROR;
    int32_t length = 0;
    u_strFromUTF8WithSub(
        buffer->units, buffer->capacity, &length, text, (int32_t)count, 0xFFFD, NULL, &error);
    if (U_FAILURE(error)) return 0;
    buffer->count = length;
    return 1;
}

static ptrdiff_t store(const struct buffer *buffer, char *out, size_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    int32_t length = 0;
    u_strToUTF8(
        out, capacity > INT32_MAX ? INT32_MAX : (int32_t)capacity, &length, buffer->units, buffer->count, &error);
    if (U_FAILURE(error) && error != U_BUFFER_OVERFLOW_ERROR) return -1;
    return length;
}

struct cicu_collator {
    UCollator *collator;
    struct buffer text;
};

cicu_collator *cicu_collator_open(const char *locale) {
    UErrorCode error = U_ZERO_ERROR;
    cicu_collator *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->collator = ucol_open(locale, &error);
    if (U_SUCCESS(error)) {
        ucol_setStrength(made->collator, UCOL_TERTIARY);
        ucol_setAttribute(made->collator, UCOL_NUMERIC_COLLATION, UCOL_OFF, &error);
        ucol_setAttribute(made->collator, UCOL_NORMALIZATION_MODE, UCOL_ON, &error);
    }
    if (U_FAILURE(error)) {
        cicu_collator_close(made);
        return NULL;
    }
    return made;
}

void cicu_collator_close(cicu_collator *collator) {
    if (!collator) return;
    if (collator->collator) ucol_close(collator->collator);
    free(collator->text.units);
    free(collator);
}

void cicu_collator_version(const cicu_collator *collator, uint8_t version[4]) {
    UVersionInfo info;
    ucol_getVersion(collator->collator, info);
    memcpy(version, info, 4);
}

ptrdiff_t cicu_collation_key(
    cicu_collator *collator, const char *text, size_t count, uint8_t *out, size_t capacity) {
    if (capacity > INT32_MAX || !load(&collator->text, text, count)) return -1;
    int32_t length = ucol_getSortKey(
        collator->collator, collator->text.units, collator->text.count, out, (int32_t)capacity);
    if (length <= 0) return -1;
    return length - 1;
}

struct cicu_folder {
    const UNormalizer2 *caseFold;
    const UNormalizer2 *decompose;
    const UNormalizer2 *compose;
    UTransliterator *ascii;
    UTransliterator *latin;
    UTransliterator *russian;
    struct buffer first;
    struct buffer second;
};

static UTransliterator *transliterator(const char *name) {
    UErrorCode error = U_ZERO_ERROR;
    UChar identifier[64];
    int32_t length = 0;
    u_strFromUTF8(identifier, 64, &length, name, -1, &error);
    UTransliterator *made = utrans_openU(identifier, length, UTRANS_FORWARD, NULL, 0, NULL, &error);
    return U_SUCCESS(error) ? made : NULL;
}

static const char *const to_ascii = "Latin-ASCII";
static const char *const to_latin = "Any-Latin";

/* Converts a Chinese character, because ICU loads the rules for Chinese characters when it converts the first
   one. */
void cicu_prepare(void) {
    UTransliterator *made = transliterator(to_ascii);
    if (made) utrans_close(made);
    made = transliterator(to_latin);
    if (!made) return;
    UErrorCode error = U_ZERO_ERROR;
    UChar text[32] = {0x738B};
    int32_t length = 1;
    int32_t limit = 1;
    utrans_transUChars(made, text, &length, 32, 0, &limit, &error);
    utrans_close(made);
}

cicu_folder *cicu_folder_open(void) {
    UErrorCode error = U_ZERO_ERROR;
    cicu_folder *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->caseFold = unorm2_getNFKCCasefoldInstance(&error);
    made->decompose = unorm2_getNFDInstance(&error);
    made->compose = unorm2_getNFCInstance(&error);
    if (U_FAILURE(error)) {
        cicu_folder_close(made);
        return NULL;
    }
    return made;
}

void cicu_folder_close(cicu_folder *folder) {
    if (!folder) return;
    if (folder->ascii) utrans_close(folder->ascii);
    if (folder->latin) utrans_close(folder->latin);
    if (folder->russian) utrans_close(folder->russian);
    free(folder->first.units);
    free(folder->second.units);
    free(folder);
}

/* Normalizes `first`, with `second` as scratch space. */
static int normalize(cicu_folder *folder, const UNormalizer2 *normalizer) {
    for (int attempt = 0; attempt < 2; attempt++) {
        UErrorCode error = U_ZERO_ERROR;
        int32_t length = unorm2_normalize(
            normalizer, folder->first.units, folder->first.count, folder->second.units, folder->second.capacity,
            &error);
        if (U_SUCCESS(error)) {
            struct buffer swap = folder->first;
            folder->first = folder->second;
            folder->first.count = length;
            folder->second = swap;
            return 1;
        }
        if (error != U_BUFFER_OVERFLOW_ERROR || !reserve(&folder->second, length + 1)) return 0;
    }
    return 0;
}

static int transliterate(cicu_folder *folder, UTransliterator *transliterator) {
    struct buffer *text = &folder->first;
    if (!reserve(text, text->count * 4 + 16)) return 0;
    if (!reserve(&folder->second, text->count + 1)) return 0;
    memcpy(folder->second.units, text->units, (size_t)text->count * sizeof(UChar));
    int32_t original = text->count;
    for (int attempt = 0; attempt < 2; attempt++) {
        UErrorCode error = U_ZERO_ERROR;
        int32_t length = original;
        int32_t limit = original;
        memcpy(text->units, folder->second.units, (size_t)original * sizeof(UChar));
        utrans_transUChars(transliterator, text->units, &length, text->capacity, 0, &limit, &error);
        if (U_SUCCESS(error)) {
            text->count = length;
            return 1;
        }
        if (error != U_BUFFER_OVERFLOW_ERROR || !reserve(text, length + 1)) return 0;
    }
    return 0;
}

/*
 * Whether people often omit the mark in writing: accents in Latin, Greek and Cyrillic, the points of Hebrew
 * and the vowel signs of Arabic. Marks of other scripts, such as Devanagari's vowel signs, are never omitted.
 */
static int is_accent(UChar32 character) {
    /* The hyphen and other punctuation among the Hebrew points separate words. */
    if (character == 0x05BE || character == 0x05C0 || character == 0x05C3 || character == 0x05C6) return 0;
    return (character >= 0x0300 && character <= 0x036F) || (character >= 0x1AB0 && character <= 0x1AFF)
        || (character >= 0x1DC0 && character <= 0x1DFF) || (character >= 0x20D0 && character <= 0x20FF)
        || (character >= 0xFE20 && character <= 0xFE2F) || (character >= 0x0591 && character <= 0x05C7)
        || (character >= 0x064B && character <= 0x065F) || character == 0x0670 || character == 0x0640;
}

static void drop_accents(struct buffer *text) {
    int32_t kept = 0;
    for (int32_t index = 0; index < text->count; index++) {
        if (!is_accent(text->units[index])) text->units[kept++] = text->units[index];
    }
    text->count = kept;
}

/*
 * Maps letters that count as the same in a search for a name: katakana to hiragana, and Arabic letters that
 * vary by keyboard and country (Farsi yeh, alef maksura, keheh, teh marbuta, heh goal).
 */
static UChar plain_letter(UChar letter) {
    if ((letter >= 0x30A1 && letter <= 0x30F6) || letter == 0x30FD || letter == 0x30FE) return letter - 0x60;
    switch (letter) {
    case 0x0649: case 0x06CC: return 0x064A;
    case 0x06A9: return 0x0643;
    case 0x0629: case 0x06C0: case 0x06C1: return 0x0647;
    default: return letter;
    }
}

static int fold(cicu_folder *folder) {
    if (!folder->ascii) folder->ascii = transliterator(to_ascii);
    if (!folder->ascii) return 0;
    if (!normalize(folder, folder->caseFold) || !normalize(folder, folder->decompose)) return 0;
    drop_accents(&folder->first);
    if (!normalize(folder, folder->compose)) return 0;
    for (int32_t index = 0; index < folder->first.count; index++) {
        folder->first.units[index] = plain_letter(folder->first.units[index]);
    }
    if (!transliterate(folder, folder->ascii)) return 0;
    /* Latin-ASCII can produce capitals for letters without a small form. */
    return normalize(folder, folder->caseFold);
}

ptrdiff_t cicu_fold(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity) {
    if (!load(&folder->first, text, count) || !fold(folder)) return -1;
    return store(&folder->first, out, capacity);
}

ptrdiff_t cicu_case_fold(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity) {
    if (!load(&folder->first, text, count) || !normalize(folder, folder->caseFold)) return -1;
    return store(&folder->first, out, capacity);
}

ptrdiff_t cicu_fold_latin(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity) {
    if (!load(&folder->first, text, count)) return -1;
    if (!folder->latin) folder->latin = transliterator(to_latin);
    if (!folder->latin) return -1;
    if (!transliterate(folder, folder->latin) || !fold(folder)) return -1;
    return store(&folder->first, out, capacity);
}

ptrdiff_t cicu_fold_russian(cicu_folder *folder, const char *text, size_t count, char *out, size_t capacity) {
    if (!folder->russian) folder->russian = transliterator("Russian-Latin/BGN");
    if (!folder->russian || !load(&folder->first, text, count)) return -1;
    if (!transliterate(folder, folder->russian) || !fold(folder)) return -1;
    return store(&folder->first, out, capacity);
}

enum cicu_class cicu_class_of(uint32_t value) {
    UChar32 character = (UChar32)value;
    if (character == 0x27 || character == 0x2019 || character == 0x02BC || character == 0xFF07) return CICU_APOSTROPHE;
    /* Korean initial consonants: people search for a name by typing a sequence of them. */
    if (character >= 0x1100 && character <= 0x1112) return CICU_PART;
    UErrorCode error = U_ZERO_ERROR;
    switch (uscript_getScript(character, &error)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_HANGUL:
        return u_isalnum(character) ? CICU_IDEOGRAPH : CICU_BETWEEN;
    default:
        break;
    }
    if (u_isalnum(character)) return CICU_PART;
    switch (u_charType(character)) {
    case U_NON_SPACING_MARK:
    case U_COMBINING_SPACING_MARK:
        return CICU_PART;
    default:
        return CICU_BETWEEN;
    }
}

/* Names that browsers know (WHATWG Encoding, 4.2) and ICU does not, or knows for a smaller character set. */
static const char *const whatwg[][2] = {
    {"chinese", "gbk"}, {"cn-big5", "big5"}, {"csiso58gb231280", "gbk"}, {"csiso88596e", "iso-8859-6"},
    {"csiso88596i", "iso-8859-6"}, {"csiso88598e", "iso-8859-8"}, {"csiso88598i", "iso-8859-8"},
    {"dos-874", "windows-874"}, {"gb_2312-80", "gbk"}, {"iso-ir-58", "gbk"}, {"koi", "koi8-r"}, {"koi8-ru", "koi8-u"},
    {"logical", "iso-8859-8"}, {"visual", "iso-8859-8"}, {"x-cp1250", "windows-1250"}, {"x-cp1251", "windows-1251"},
    {"x-cp1252", "windows-1252"}, {"x-cp1253", "windows-1253"}, {"x-cp1254", "windows-1254"},
    {"x-cp1255", "windows-1255"}, {"x-cp1256", "windows-1256"}, {"x-cp1257", "windows-1257"},
    {"x-cp1258", "windows-1258"}, {"x-gbk", "gbk"}, {"x-mac-ukrainian", "x-mac-cyrillic"}, {"x-x-big5", "big5"},
};

/* Whether all printable ASCII characters are themselves, in the only state. */
static int contains_ascii(UConverter *converter) {
    switch (ucnv_getType(converter)) {
    case UCNV_SBCS:
    case UCNV_MBCS:
    case UCNV_LATIN_1:
    case UCNV_US_ASCII: break;
    default: return 0;
    }
    char ascii[0x7F - 0x20];
    UChar units[sizeof ascii];
    for (size_t index = 0; index < sizeof ascii; index++) ascii[index] = (char)(0x20 + index);
    UErrorCode error = U_ZERO_ERROR;
    int32_t length = ucnv_toUChars(converter, units, sizeof ascii, ascii, sizeof ascii, &error);
    if (U_FAILURE(error) || length != sizeof ascii) return 0;
    for (size_t index = 0; index < sizeof ascii; index++) {
        if (units[index] != 0x20 + index) return 0;
    }
    return 1;
}

ptrdiff_t cicu_charset(const char *name, char *out, size_t capacity) {
    for (size_t index = 0; index < sizeof whatwg / sizeof whatwg[0]; index++) {
        if (ucnv_compareNames(name, whatwg[index][0]) == 0) name = whatwg[index][1];
    }
    UErrorCode error = U_ZERO_ERROR;
    /* Without an alias, a name is not in the table, and ucnv_open would look for a file. */
    if (ucnv_countAliases(name, &error) == 0 || U_FAILURE(error)) return -1;
    const char *canonical = ucnv_getAlias(name, 0, &error);
    if (U_FAILURE(error) || canonical == NULL) return -1;
    UConverter *converter = ucnv_open(canonical, &error);
    if (U_FAILURE(error)) return -1;
    int isUsable = contains_ascii(converter);
    ucnv_close(converter);
    size_t size = strlen(canonical);
    if (!isUsable) return -1;
    if (size <= capacity) memcpy(out, canonical, size);
    return (ptrdiff_t)size;
}

ptrdiff_t cicu_decode(const char *charset, const char *bytes, size_t count, char *out, size_t capacity) {
    if (count > INT32_MAX / 8) return -1;
    UErrorCode error = U_ZERO_ERROR;
    UConverter *converter = ucnv_open(charset, &error);
    if (U_FAILURE(error)) return -1;
    struct buffer text = {0};
    ptrdiff_t size = -1;
    /* No character set yields more than two UTF-16 units per byte. */
    if (reserve(&text, (int32_t)count * 2 + 1)) {
        int32_t length = ucnv_toUChars(converter, text.units, text.capacity, bytes, (int32_t)count, &error);
        text.count = U_SUCCESS(error) ? length : 0;
        for (int32_t index = 0; index < text.count; index++) {
            /* ICU substitutes U+001A for a single invalid byte. */
            if (text.units[index] == 0x1A) text.units[index] = 0xFFFD;
        }
        if (U_SUCCESS(error)) size = store(&text, out, capacity);
    }
    free(text.units);
    ucnv_close(converter);
    return size;
}
