#include "cxxhash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t cxxhash_xxh3(const uint8_t *bytes, size_t count, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, count, seed);
}
