#ifndef CONTACTBROKER_CTHUMBNAIL_PICTURE_H
#define CONTACTBROKER_CTHUMBNAIL_PICTURE_H

#include "thumbnail.h"

/* A picture that is scaled down row by row: each output pixel is the average of the photo's pixels in it. */
struct picture {
    uint32_t width, height;
    uint32_t from_width, from_height;
    /* Sums of the current output row: for each pixel three sums and a count. */
    uint32_t *sums;
    uint32_t row;
    uint8_t *pixels;
    /* The orientation as in EXIF, from 1 to 8. */
    int orientation;
};

int picture_begin(struct picture *picture, uint32_t width, uint32_t height);
/* Adds row y of the photo, as RGB. Rows must come in order from the top. */
void picture_add(struct picture *picture, uint32_t y, const uint8_t *row);
/* Completes the current output row. */
void picture_finish(struct picture *picture);
/* Rotates or mirrors the picture according to its orientation. */
int picture_turn(struct picture *picture);
void picture_free(struct picture *picture);

/* Returns the EXIF orientation, from 1 to 8; 1 if the TIFF has none. */
int picture_orientation(const uint8_t *tiff, size_t size);

int picture_size_is_fair(uint64_t width, uint64_t height);

int picture_from_jpeg(struct picture *picture, const uint8_t *photo, size_t size);
int picture_from_png(struct picture *picture, const uint8_t *photo, size_t size);
int picture_to_jpeg(const struct picture *picture, int quality, uint8_t **out, size_t *out_size);

#endif
