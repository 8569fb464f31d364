#ifndef CONTACTBROKER_CTHUMBNAIL_THUMBNAIL_H
#define CONTACTBROKER_CTHUMBNAIL_THUMBNAIL_H

#include <stddef.h>
#include <stdint.h>

/* Makes a small picture of a photo that a stranger chose. Only contactbroker-thumbnail, which shuts itself in before it looks
   at a byte, decodes; nothing of this is linked into the broker. */

/* Pixels of a thumbnail's longer side. A smaller photo stays as large as it is. */
#define THUMBNAIL_SIDE 320
/* Bytes of a thumbnail, a JPEG. */
#define THUMBNAIL_LIMIT 65536
/* Bytes of a photo. */
#define THUMBNAIL_PHOTO_LIMIT 8388608
/* Pixels of a photo, along one side and in all: what its first bytes announce is held against this before anything is
   decoded. */
#define THUMBNAIL_PHOTO_SIDE 30000
#define THUMBNAIL_PHOTO_PIXELS 120000000
/* Bytes of memory that decoding may use, and seconds of time. */
#define THUMBNAIL_MEMORY 201326592
#define THUMBNAIL_SECONDS 2

/* Gives up, for good, whatever decoding does not need: from here on this process can read its standard input, write its
   standard output and end. Memory is what it has by now; any other system call kills it. 0, or -errno.

   Where whoever started it has taken away the right to lower limits (a service's filter of system calls), the memory is
   bounded all the same, and the alarm clock ends it. */
int thumbnail_confine(void);

/* A JPEG or PNG as a thumbnail: JPEG, upright (EXIF), on white, without anything that the photo said besides. Its bytes are for
   free(). 0; -EINVAL for what is none, is cut short or is too large; -ENOMEM. */
int thumbnail_make(const uint8_t *photo, size_t size, uint8_t **out, size_t *out_size);

/* Base64 of RFC 4648, section 4, as a photo is kept. The bytes are for free(); -EINVAL for what is none. */
int thumbnail_decode_base64(const uint8_t *text, size_t size, uint8_t **out, size_t *out_size);
int thumbnail_encode_base64(const uint8_t *bytes, size_t size, uint8_t **out, size_t *out_size);

#endif
