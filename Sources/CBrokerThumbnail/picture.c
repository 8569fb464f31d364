#include "picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int picture_size_is_fair(uint64_t width, uint64_t height)
{
    return width > 0 && height > 0 && width <= THUMBNAIL_PHOTO_SIDE && height <= THUMBNAIL_PHOTO_SIDE
        && width * height <= THUMBNAIL_PHOTO_PIXELS;
}

static uint32_t scaled(uint32_t side, uint32_t longer)
{
    if (longer <= THUMBNAIL_SIDE) return side;
    uint32_t result = (uint32_t)(((uint64_t)side * THUMBNAIL_SIDE + longer / 2) / longer);
    return result > 0 ? result : 1;
}

int picture_begin(struct picture *picture, uint32_t width, uint32_t height)
{
    uint32_t longer = width > height ? width : height;
    picture->from_width = width;
    picture->from_height = height;
    picture->width = scaled(width, longer);
    picture->height = scaled(height, longer);
    picture->row = 0;
    picture->sums = calloc((size_t)picture->width * 4, sizeof *picture->sums);
    picture->pixels = calloc((size_t)picture->width * picture->height, 3);
    if (picture->sums && picture->pixels) return 0;
    picture_free(picture);
    return -ENOMEM;
}

void picture_free(struct picture *picture)
{
    free(picture->sums);
    free(picture->pixels);
    picture->sums = NULL;
    picture->pixels = NULL;
}

void picture_finish(struct picture *picture)
{
    uint8_t *out = picture->pixels + (size_t)picture->row * picture->width * 3;
    for (uint32_t x = 0; x < picture->width; x++) {
        uint32_t *sum = picture->sums + (size_t)x * 4, count = sum[3] ? sum[3] : 1;
        for (int color = 0; color < 3; color++) *out++ = (uint8_t)((sum[color] + count / 2) / count);
    }
    memset(picture->sums, 0, (size_t)picture->width * 4 * sizeof *picture->sums);
}

void picture_add(struct picture *picture, uint32_t y, const uint8_t *row)
{
    uint32_t to = (uint32_t)((uint64_t)y * picture->height / picture->from_height);
    if (to != picture->row) {
        picture_finish(picture);
        picture->row = to;
    }
    /* At most 94 by 140 pixels of the photo fall into one output pixel, so the sums do not overflow. */
    for (uint32_t x = 0; x < picture->from_width; x++) {
        uint32_t *sum = picture->sums + (size_t)((uint64_t)x * picture->width / picture->from_width) * 4;
        for (int color = 0; color < 3; color++) sum[color] += *row++;
        sum[3]++;
    }
}

int picture_turn(struct picture *picture)
{
    int orientation = picture->orientation;
    if (orientation <= 1 || orientation > 8) return 0;
    uint32_t width = picture->width, height = picture->height;
    int swaps = orientation >= 5;
    uint32_t new_width = swaps ? height : width, new_height = swaps ? width : height;
    uint8_t *turned = malloc((size_t)width * height * 3);
    if (!turned) return -ENOMEM;
    for (uint32_t y = 0; y < new_height; y++) {
        for (uint32_t x = 0; x < new_width; x++) {
            /* The source of the pixel at this position. */
            uint32_t from_x = swaps ? y : x, from_y = swaps ? x : y;
            if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8) from_x = width - 1 - from_x;
            if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7) from_y = height - 1 - from_y;
            memcpy(turned + ((size_t)y * new_width + x) * 3, picture->pixels + ((size_t)from_y * width + from_x) * 3, 3);
        }
    }
    free(picture->pixels);
    picture->pixels = turned;
    picture->width = new_width;
    picture->height = new_height;
    return 0;
}

static uint32_t number_at(const uint8_t *bytes, int size, int is_big)
{
    uint32_t value = 0;
    for (int index = 0; index < size; index++) value |= (uint32_t)bytes[index] << 8 * (is_big ? size - 1 - index : index);
    return value;
}

/* TIFF 6.0, section 2; the orientation is tag 274 of the first directory. */
int picture_orientation(const uint8_t *tiff, size_t size)
{
    if (size < 8 || (memcmp(tiff, "II*\0", 4) != 0 && memcmp(tiff, "MM\0*", 4) != 0)) return 1;
    int is_big = tiff[0] == 'M';
    size_t offset = number_at(tiff + 4, 4, is_big);
    if (offset > size - 2 || size < 2) return 1;
    uint32_t count = number_at(tiff + offset, 2, is_big);
    for (offset += 2; count > 0 && size - offset >= 12; count--, offset += 12) {
        if (number_at(tiff + offset, 2, is_big) != 274) continue;
        uint32_t value = number_at(tiff + offset + 8, 2, is_big);
        return number_at(tiff + offset + 2, 2, is_big) == 3 && value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

int thumbnail_make(const uint8_t *photo, size_t size, uint8_t **out, size_t *out_size)
{
    static const uint8_t jpeg[] = { 0xff, 0xd8, 0xff }, png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    struct picture picture = { .orientation = 1 };
    int result = -EINVAL;
    if (size > THUMBNAIL_PHOTO_LIMIT) return result;
    if (size > sizeof jpeg && memcmp(photo, jpeg, sizeof jpeg) == 0) result = picture_from_jpeg(&picture, photo, size);
    else if (size > sizeof png && memcmp(photo, png, sizeof png) == 0) result = picture_from_png(&picture, photo, size);
    if (result == 0) result = picture_turn(&picture);
    /* A photo with much noise needs a lower quality to fit the limit. */
    static const int qualities[] = { 85, 70, 50, 25 };
    for (size_t index = 0; result == 0 && index < sizeof qualities / sizeof *qualities; index++) {
        result = picture_to_jpeg(&picture, qualities[index], out, out_size);
        if (result != 0 || *out_size <= THUMBNAIL_LIMIT) break;
        free(*out);
        *out = NULL;
        if (index + 1 == sizeof qualities / sizeof *qualities) result = -EINVAL;
    }
    picture_free(&picture);
    return result;
}
