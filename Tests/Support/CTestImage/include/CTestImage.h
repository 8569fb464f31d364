#ifndef CONTACTBROKER_CTESTIMAGE_H
#define CONTACTBROKER_CTESTIMAGE_H

#include <stddef.h>
#include <stdint.h>

/* Photos to try a decoder with: the left half is red, the right half blue, and the upper quarter of the left half green. Bytes are for
   free(); 0 where it failed. */

/* orientation: EXIF's, 1 to 8; 0 says none. */
size_t test_image_jpeg(uint32_t width, uint32_t height, int orientation, int is_progressive, uint8_t **out);
/* alpha: of the right half. */
size_t test_image_png(uint32_t width, uint32_t height, uint8_t alpha, int is_interlaced, uint8_t **out);

/* 1 where a sanitizer is built in: what it needs of the system, a program that is shut in has not. */
int test_image_is_sanitized(void);

/* The size of a JPEG, and the color of its pixel at so many hundredths of each side, as 0xRRGGBB. 0, or -1 for what is none. */
int test_image_look(
    const uint8_t *jpeg, size_t size, uint32_t *width, uint32_t *height, uint32_t x, uint32_t y, uint32_t *color);

#endif
