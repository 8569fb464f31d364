#include "thumbnail.h"

#include <errno.h>
#include <stdlib.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(uint8_t character)
{
    if (character >= 'A' && character <= 'Z') return character - 'A';
    if (character >= 'a' && character <= 'z') return character - 'a' + 26;
    if (character >= '0' && character <= '9') return character - '0' + 52;
    return character == '+' ? 62 : character == '/' ? 63 : -1;
}

int thumbnail_decode_base64(const uint8_t *text, size_t size, uint8_t **out, size_t *out_size)
{
    while (size > 0 && text[size - 1] == '=') size--;
    if (size == 0 || size % 4 == 1) return -EINVAL;
    uint8_t *bytes = malloc(size / 4 * 3 + 3);
    if (!bytes) return -ENOMEM;
    uint32_t bits = 0;
    size_t length = 0;
    for (size_t index = 0; index < size; index++) {
        int value = value_of(text[index]);
        if (value < 0) {
            free(bytes);
            return -EINVAL;
        }
        bits = bits << 6 | (uint32_t)value;
        /* The 2nd, 3rd and 4th character of a group each complete a byte. Bits left over are ignored. */
        if (index % 4 == 1) bytes[length++] = (uint8_t)(bits >> 4);
        else if (index % 4 == 2) bytes[length++] = (uint8_t)(bits >> 2);
        else if (index % 4 == 3) bytes[length++] = (uint8_t)bits;
    }
    *out = bytes;
    *out_size = length;
    return 0;
}

int thumbnail_encode_base64(const uint8_t *bytes, size_t size, uint8_t **out, size_t *out_size)
{
    uint8_t *text = malloc(size / 3 * 4 + 4);
    if (!text) return -ENOMEM;
    size_t length = 0;
    for (size_t index = 0; index < size; index += 3) {
        size_t left = size - index;
        uint32_t bits = (uint32_t)bytes[index] << 16 | (left > 1 ? (uint32_t)bytes[index + 1] << 8 : 0)
            | (left > 2 ? bytes[index + 2] : 0);
        text[length++] = (uint8_t)alphabet[bits >> 18];
        text[length++] = (uint8_t)alphabet[bits >> 12 & 63];
        text[length++] = left > 1 ? (uint8_t)alphabet[bits >> 6 & 63] : '=';
        text[length++] = left > 2 ? (uint8_t)alphabet[bits & 63] : '=';
    }
    *out = text;
    *out_size = length;
    return 0;
}
