#ifndef CONTACTBROKER_CXXHASH_H
#define CONTACTBROKER_CXXHASH_H

#include <stddef.h>
#include <stdint.h>

// XXH3 (libxxhash-dev, headers only) for Swift.

/// XXH3_64bits_withSeed. The hash detects damage, but not an attack.
uint64_t cxxhash_xxh3(const uint8_t *bytes, size_t count, uint64_t seed);

#endif
