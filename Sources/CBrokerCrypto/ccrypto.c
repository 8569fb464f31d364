#include "ccrypto.h"

#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

/* Keys come directly from the kernel's random number generator. */
int ccrypto_random(uint8_t *out, size_t count)
{
    while (count > 0) {
        ssize_t given = getrandom(out, count, 0);
        if (given < 0 && errno == EINTR) continue;
        if (given <= 0) return 0;
        out += given;
        count -= (size_t)given;
    }
    return 1;
}

/* With EVP_sha256() and similar functions, OpenSSL 3 looks up the implementation at every use, under locks.
   So the implementations are fetched once and kept. */
static EVP_MD *sha256;
static EVP_CIPHER *gcm;
static EVP_CIPHER *ecb;
static pthread_once_t methods_once = PTHREAD_ONCE_INIT;

static void fetch_methods(void)
{
    /* No environment variable or configuration file may change which code handles the keys. Reading the file
     * would also take a third of a millisecond. */
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    ecb = EVP_CIPHER_fetch(NULL, "AES-128-ECB", NULL);
}

static int have_methods(void)
{
    return pthread_once(&methods_once, fetch_methods) == 0 && sha256 && gcm && ecb;
}

int ccrypto_sha256(const uint8_t *bytes, size_t count, uint8_t *out)
{
    return have_methods() && EVP_Digest(bytes, count, out, NULL, sha256, NULL) == 1;
}

int ccrypto_hmac(const uint8_t *key, size_t key_size, const uint8_t *bytes, size_t count, uint8_t *out)
{
    unsigned int size = 0;
    return key_size <= INT_MAX && have_methods() && HMAC(sha256, key, (int)key_size, bytes, count, out, &size)
        && size == CCRYPTO_SHA256_SIZE;
}

int ccrypto_equal(const uint8_t *one, const uint8_t *other, size_t count)
{
    return CRYPTO_memcmp(one, other, count) == 0;
}

ccrypto_sha256_state *ccrypto_sha256_begin(void)
{
    ccrypto_sha256_state *state = EVP_MD_CTX_new();
    if (state && have_methods() && EVP_DigestInit_ex(state, sha256, NULL) == 1) return state;
    ccrypto_sha256_discard(state);
    return NULL;
}

int ccrypto_sha256_update(ccrypto_sha256_state *state, const uint8_t *bytes, size_t count)
{
    return EVP_DigestUpdate(state, bytes, count) == 1;
}

int ccrypto_sha256_finish(ccrypto_sha256_state *state, uint8_t *out)
{
    int done = EVP_DigestFinal_ex(state, out, NULL) == 1;
    ccrypto_sha256_discard(state);
    return done;
}

void ccrypto_sha256_discard(ccrypto_sha256_state *state) { EVP_MD_CTX_free(state); }

struct ccrypto_blocks { EVP_CIPHER_CTX *encrypt, *decrypt; };

ccrypto_blocks *ccrypto_blocks_make(const uint8_t *key)
{
    ccrypto_blocks *cipher = calloc(1, sizeof *cipher);
    if (!cipher) return NULL;
    cipher->encrypt = EVP_CIPHER_CTX_new();
    cipher->decrypt = EVP_CIPHER_CTX_new();
    if (cipher->encrypt && cipher->decrypt && have_methods()
        && EVP_EncryptInit_ex(cipher->encrypt, ecb, NULL, key, NULL) == 1
        && EVP_DecryptInit_ex(cipher->decrypt, ecb, NULL, key, NULL) == 1
        && EVP_CIPHER_CTX_set_padding(cipher->encrypt, 0) == 1
        && EVP_CIPHER_CTX_set_padding(cipher->decrypt, 0) == 1)
        return cipher;
    ccrypto_blocks_free(cipher);
    return NULL;
}

/* Encrypts or decrypts, depending on the context. */
static int update(EVP_CIPHER_CTX *context, const uint8_t *in, uint8_t *out, size_t blocks)
{
    int written = 0;
    if (blocks > INT_MAX / CCRYPTO_BLOCK_SIZE) return 0;
    int count = (int)blocks * CCRYPTO_BLOCK_SIZE;
    return EVP_CipherUpdate(context, out, &written, in, count) == 1 && written == count;
}

int ccrypto_blocks_encrypt(ccrypto_blocks *cipher, const uint8_t *in, uint8_t *out, size_t blocks)
{
    return update(cipher->encrypt, in, out, blocks);
}

int ccrypto_blocks_decrypt(ccrypto_blocks *cipher, const uint8_t *in, uint8_t *out, size_t blocks)
{
    return update(cipher->decrypt, in, out, blocks);
}

void ccrypto_blocks_free(ccrypto_blocks *cipher)
{
    if (!cipher) return;
    EVP_CIPHER_CTX_free(cipher->encrypt);
    EVP_CIPHER_CTX_free(cipher->decrypt);
    free(cipher);
}

int ccrypto_seal(const uint8_t *key, const uint8_t *nonce, const uint8_t *bytes, size_t count, uint8_t *sealed)
{
    if (count > INT_MAX - CCRYPTO_TAG_SIZE) return 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int written = 0, last = 0;
    int done = context && have_methods()
        && EVP_EncryptInit_ex(context, gcm, NULL, key, nonce) == 1
        && EVP_EncryptUpdate(context, sealed, &written, bytes, (int)count) == 1
        && EVP_EncryptFinal_ex(context, sealed + written, &last) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, CCRYPTO_TAG_SIZE, sealed + count) == 1;
    EVP_CIPHER_CTX_free(context);
    return done;
}

int ccrypto_open(const uint8_t *key, const uint8_t *nonce, const uint8_t *sealed, size_t count, uint8_t *out)
{
    if (count < CCRYPTO_TAG_SIZE || count > INT_MAX) return 0;
    size_t plain = count - CCRYPTO_TAG_SIZE;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int written = 0, last = 0;
    int done = context && have_methods()
        && EVP_DecryptInit_ex(context, gcm, NULL, key, nonce) == 1
        && EVP_DecryptUpdate(context, out, &written, sealed, (int)plain) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, CCRYPTO_TAG_SIZE, (void *)(sealed + plain)) == 1
        && EVP_DecryptFinal_ex(context, out + written, &last) == 1;
    EVP_CIPHER_CTX_free(context);
    return done;
}
