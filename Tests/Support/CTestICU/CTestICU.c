#include "CTestICU.h"

#include <string.h>
#include <unicode/ucol.h>

const char *test_tailored_locale(int index) {
    if (index >= ucol_countAvailable()) return NULL;
    const char *locale = ucol_getAvailable(index);
    UErrorCode error = U_ZERO_ERROR;
    UCollator *collator = ucol_open(locale, &error);
    if (U_FAILURE(error)) return locale;
    int32_t count = 0;
    ucol_getRules(collator, &count);
    const char *actual = ucol_getLocaleByType(collator, ULOC_ACTUAL_LOCALE, &error);
    int is_own = count > 0 && actual && strcmp(actual, locale) == 0;
    ucol_close(collator);
    return is_own ? locale : "";
}
