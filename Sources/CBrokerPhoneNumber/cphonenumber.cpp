#include "cphonenumber.h"

#include <phonenumbers/logger.h>
#include <phonenumbers/phonenumberutil.h>
#include <phonenumbers/shortnumberinfo.h>

#include <cstring>
#include <set>
#include <string>

using i18n::phonenumbers::NullLogger;
using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;
using i18n::phonenumbers::ShortNumberInfo;

namespace {

const PhoneNumberUtil &library() {
    // Log messages could contain contacts' numbers, so logging is off.
    static PhoneNumberUtil *const made = [] {
        PhoneNumberUtil *library = PhoneNumberUtil::GetInstance();
        library->SetLogger(new NullLogger());
        return library;
    }();
    return *made;
}

bool parse(const char *text, size_t count, const char *region, PhoneNumber *number) {
    return library().Parse(std::string(text, count), region, number) == PhoneNumberUtil::NO_PARSING_ERROR;
}

/* No short number is larger. For larger numbers, the comparison avoids the check of the short number plan,
   which takes as long as parsing. */
constexpr uint64_t longest_short = 999999;

bool is_short(const PhoneNumber &number) {
    static const ShortNumberInfo *const plans = new ShortNumberInfo();
    return number.national_number() <= longest_short && plans->IsValidShortNumber(number);
}

}  // namespace

extern "C" int cphonenumber_parse(
    const char *text, size_t count, const char *region, struct cphonenumber *number) {
    try {
        PhoneNumber parsed;
        if (!parse(text, count, region, &parsed)) return 0;
        if (parsed.extension().size() >= sizeof number->extension) return 0;
        number->country = parsed.country_code();
        number->national = parsed.national_number();
        number->is_short = is_short(parsed);
        std::memcpy(number->extension, parsed.extension().c_str(), parsed.extension().size() + 1);
        return 1;
    } catch (...) {
        return 0;
    }
}

extern "C" enum cphonenumber_match cphonenumber_match(
    const char *one, size_t one_count, const char *other, size_t other_count, const char *region) {
    try {
        PhoneNumber first, second;
        if (!parse(one, one_count, region, &first) || !parse(other, other_count, region, &second)) {
            return CPHONENUMBER_INVALID;
        }
        switch (library().IsNumberMatch(first, second)) {
        case PhoneNumberUtil::INVALID_NUMBER: return CPHONENUMBER_INVALID;
        case PhoneNumberUtil::NO_MATCH: return CPHONENUMBER_NONE;
        case PhoneNumberUtil::SHORT_NSN_MATCH: return CPHONENUMBER_SHORT_NATIONAL;
        case PhoneNumberUtil::NSN_MATCH: return CPHONENUMBER_NATIONAL;
        case PhoneNumberUtil::EXACT_MATCH: return CPHONENUMBER_EXACT;
        }
        return CPHONENUMBER_INVALID;
    } catch (...) {
        return CPHONENUMBER_INVALID;
    }
}

extern "C" ptrdiff_t cphonenumber_format(
    const char *text, size_t count, const char *region, char *out, size_t capacity) {
    try {
        PhoneNumber number;
        if (!parse(text, count, region, &number) || is_short(number)) return -1;
        if (library().IsAlphaNumber(std::string(text, count)) || !library().IsValidNumber(number)) return -1;
        const bool is_national = library().GetCountryCodeForRegion(region) == number.country_code();
        const auto as = is_national ? PhoneNumberUtil::NATIONAL : PhoneNumberUtil::INTERNATIONAL;
        std::string written;
        library().Format(number, as, &written);
        if (written.size() <= capacity) std::memcpy(out, written.data(), written.size());
        return static_cast<ptrdiff_t>(written.size());
    } catch (...) {
        return -1;
    }
}

extern "C" void cphonenumber_prepare(void) {
    try {
        library();
    } catch (...) {
        // This function cannot report the failure. The next call that parses a number fails too.
    }
}
