#ifndef CONTACTBROKER_CTESTIMAGE_H
#define CONTACTBROKER_CTESTIMAGE_H

#include <stddef.h>
#include <stdint.h>

/* Photos for testing a decoder: the left half is red, the right half blue, and the upper quarter of the left half
   green. The caller passes the bytes to free(); a size of 0 means failure. */

/* orientation: the EXIF orientation, 1 to 8, or 0 for none. */
size_t test_image_jpeg(uint32_t width, uint32_t height, int orientation, int is_progressive, uint8_t **out);
/* alpha: the alpha value of the right half. */
size_t test_image_png(uint32_t width, uint32_t height, uint8_t alpha, int is_interlaced, uint8_t **out);

/* 1 if a sanitizer is built in. It needs system calls that a confined process may not make. */
int test_image_is_sanitized(void);

/* The size of a JPEG, and the color of its pixel at x and y hundredths of each side, as 0xRRGGBB. Returns 0, or -1 if
   the bytes are not a JPEG. */
int test_image_look(
    const uint8_t *jpeg, size_t size, uint32_t *width, uint32_t *height, uint32_t x, uint32_t y, uint32_t *color);

#endif
