#ifndef CONTACTBROKER_CCRYPTO_H
#define CONTACTBROKER_CCRYPTO_H

#include <stddef.h>
#include <stdint.h>

/* The cryptographic functions that the broker needs. Functions that can fail return 1, or 0 on failure.
   Functions that return a pointer return NULL on failure. */

#define CCRYPTO_SHA256_SIZE 32
#define CCRYPTO_BLOCK_SIZE 16
#define CCRYPTO_NONCE_SIZE 12
#define CCRYPTO_TAG_SIZE 16

int ccrypto_random(uint8_t *out, size_t count);

int ccrypto_sha256(const uint8_t *bytes, size_t count, uint8_t *out);

/* Incremental SHA-256. ccrypto_sha256_finish and ccrypto_sha256_discard both release the state. */
typedef struct evp_md_ctx_st ccrypto_sha256_state;
ccrypto_sha256_state *ccrypto_sha256_begin(void);
int ccrypto_sha256_update(ccrypto_sha256_state *state, const uint8_t *bytes, size_t count);
int ccrypto_sha256_finish(ccrypto_sha256_state *state, uint8_t *out);
void ccrypto_sha256_discard(ccrypto_sha256_state *state);

/* HMAC-SHA-256 (RFC 2104). */
int ccrypto_hmac(const uint8_t *key, size_t key_size, const uint8_t *bytes, size_t count, uint8_t *out);

/* Whether two texts of the same length are equal. The time does not depend on where they differ. */
int ccrypto_equal(const uint8_t *one, const uint8_t *other, size_t count);

/* AES-128 on single blocks (ECB), for blocks that never repeat under one key. key: 16 bytes. */
typedef struct ccrypto_blocks ccrypto_blocks;
ccrypto_blocks *ccrypto_blocks_make(const uint8_t *key);
int ccrypto_blocks_encrypt(ccrypto_blocks *cipher, const uint8_t *in, uint8_t *out, size_t blocks);
int ccrypto_blocks_decrypt(ccrypto_blocks *cipher, const uint8_t *in, uint8_t *out, size_t blocks);
void ccrypto_blocks_free(ccrypto_blocks *cipher);

/* AES-256-GCM. key: 32 bytes. ccrypto_seal writes count + CCRYPTO_TAG_SIZE bytes. For ccrypto_open, count
   includes the tag. */
int ccrypto_seal(const uint8_t *key, const uint8_t *nonce, const uint8_t *bytes, size_t count, uint8_t *sealed);
int ccrypto_open(const uint8_t *key, const uint8_t *nonce, const uint8_t *sealed, size_t count, uint8_t *out);

#endif
