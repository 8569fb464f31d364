#ifndef CONTACTBROKER_CTHUMBNAIL_THUMBNAIL_H
#define CONTACTBROKER_CTHUMBNAIL_THUMBNAIL_H

#include <stddef.h>
#include <stdint.h>

/* Makes a thumbnail of an untrusted photo. Only contactbroker-thumbnail decodes photos, and it confines
   itself before it reads a byte. The broker does not link this code. */

/* The maximum length of a thumbnail's longer side, in pixels. A smaller photo keeps its size. */
#define THUMBNAIL_SIDE 320
/* The maximum size of a thumbnail, a JPEG, in bytes. */
#define THUMBNAIL_LIMIT 65536
/* The maximum size of a photo, in bytes. */
#define THUMBNAIL_PHOTO_LIMIT 8388608
/* The maximum number of a photo's pixels, per side and in total. The size in the photo's header is checked
   before anything is decoded. */
#define THUMBNAIL_PHOTO_SIDE 30000
#define THUMBNAIL_PHOTO_PIXELS 120000000
/* Limits for decoding: memory in bytes; processor time and time in seconds. */
#define THUMBNAIL_MEMORY 201326592
#define THUMBNAIL_PROCESSOR_SECONDS 2
#define THUMBNAIL_SECONDS 10
/* The nice value. Nobody waits for a thumbnail, but programs wait for the broker. */
#define THUMBNAIL_NICE 10

/* Irrevocably drops all rights that decoding does not need. From then on, this process can only read standard
   input, write standard output and exit. It gets no further memory, and any other system call kills it.
   Returns 0 or -errno.

   If the system call filter of a service forbids the process to lower its limits, the reserved heap still
   bounds memory, and SIGALRM still ends the process. */
int thumbnail_confine(void);

/* Makes a thumbnail of a JPEG or PNG. The thumbnail is a JPEG, upright (EXIF), on white, without the photo's
   metadata. Release it with free(). Returns 0 on success. Returns -EINVAL or -ENOMEM if no thumbnail could be
   made. */
int thumbnail_make(const uint8_t *photo, size_t size, uint8_t **out, size_t *out_size);

/* Photos are stored in base64 (RFC 4648, section 4). Release the result with free(). Both functions return 0
   on success and -ENOMEM if memory runs out. Decoding returns -EINVAL for invalid input. */
int thumbnail_decode_base64(const uint8_t *text, size_t size, uint8_t **out, size_t *out_size);
int thumbnail_encode_base64(const uint8_t *bytes, size_t size, uint8_t **out, size_t *out_size);

#endif
