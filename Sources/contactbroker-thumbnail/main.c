#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "thumbnail.h"

/* Reads a photo in base64 from standard input and writes a thumbnail in base64 to standard output. Exits with
   1 if it cannot make a thumbnail, and with 2 if it cannot confine itself. Uses no arguments, environment or
   files. */

/* The maximum number of base64 characters of a photo. */
#define TEXT_LIMIT (THUMBNAIL_PHOTO_LIMIT / 3 * 4 + 8)

static int read_all(uint8_t *text, size_t *size)
{
    for (*size = 0;;) {
        if (*size > TEXT_LIMIT) return -EINVAL;
        ssize_t count = read(STDIN_FILENO, text + *size, TEXT_LIMIT + 1 - *size);
        if (count == 0) return 0;
        if (count < 0) return -EIO;
        *size += (size_t)count;
    }
}

static int write_all(const uint8_t *text, size_t size)
{
    while (size > 0) {
        ssize_t count = write(STDOUT_FILENO, text, size);
        if (count <= 0) return -EIO;
        text += count;
        size -= (size_t)count;
    }
    return 0;
}

int main(void)
{
    /* Confine the process before anything else. */
    if (thumbnail_confine() != 0) _exit(2);
    uint8_t *text = malloc(TEXT_LIMIT + 1), *photo = NULL, *thumbnail = NULL, *out = NULL;
    size_t size = 0;
    int result = text ? read_all(text, &size) : -ENOMEM;
    if (result == 0) result = thumbnail_decode_base64(text, size, &photo, &size);
    free(text);
    if (result == 0) result = thumbnail_make(photo, size, &thumbnail, &size);
    if (result == 0) result = thumbnail_encode_base64(thumbnail, size, &out, &size);
    if (result == 0) result = write_all(out, size);
    _exit(result == 0 ? 0 : 1);
}
