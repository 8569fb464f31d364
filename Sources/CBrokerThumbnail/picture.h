#ifndef CONTACTBROKER_CTHUMBNAIL_PICTURE_H
#define CONTACTBROKER_CTHUMBNAIL_PICTURE_H

#include "thumbnail.h"

/* A picture that becomes smaller while its rows come in: each pixel of the photo counts for the one in which it lies. */
struct picture {
    uint32_t width, height;
    uint32_t from_width, from_height;
    /* Of the row that is being added up: three sums and a count for each pixel. */
    uint32_t *sums;
    uint32_t row;
    uint8_t *pixels;
    /* As EXIF says it: 1 to 8. */
    int orientation;
};

int picture_begin(struct picture *picture, uint32_t width, uint32_t height);
/* The next row from above; RGB. */
void picture_add(struct picture *picture, uint32_t y, const uint8_t *row);
/* The last row is complete. */
void picture_finish(struct picture *picture);
/* Turned as its orientation says. */
int picture_turn(struct picture *picture);
void picture_free(struct picture *picture);

/* 1 to 8; 1 where the TIFF does not say. */
int picture_orientation(const uint8_t *tiff, size_t size);

int picture_size_is_fair(uint64_t width, uint64_t height);

int picture_from_jpeg(struct picture *picture, const uint8_t *photo, size_t size);
int picture_from_png(struct picture *picture, const uint8_t *photo, size_t size);
int picture_to_jpeg(const struct picture *picture, int quality, uint8_t **out, size_t *out_size);

#endif
