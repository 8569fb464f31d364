#include "picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct source {
    const uint8_t *bytes;
    size_t left;
};

static void take(png_structp png, png_bytep out, size_t count)
{
    struct source *source = png_get_io_ptr(png);
    if (count > source->left) png_error(png, "cut short");
    memcpy(out, source->bytes, count);
    source->bytes += count;
    source->left -= count;
}

static void give_up(png_structp png, png_const_charp message)
{
    (void)message;
    png_longjmp(png, 1);
}

static void keep_silent(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

/* Composes the pixels on white. */
static void to_rgb(uint8_t *row, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++) {
        unsigned alpha = row[x * 4 + 3];
        for (int color = 0; color < 3; color++)
            row[x * 3 + color] = (uint8_t)((row[x * 4 + color] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
}

static void read_rows(png_structp png, struct picture *picture, uint8_t *rows, uint32_t width, uint32_t height, int passes)
{
    size_t stride = (size_t)width * 4;
    /* An interlaced image must be read completely before its first row is final. */
    for (int pass = 0; pass + 1 < passes; pass++)
        for (uint32_t y = 0; y < height; y++) png_read_row(png, rows + y * stride, NULL);
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = passes > 1 ? rows + y * stride : rows;
        png_read_row(png, row, NULL);
        to_rgb(row, width);
        picture_add(picture, y, row);
    }
    picture_finish(picture);
    png_read_end(png, NULL);
}

int picture_from_png(struct picture *picture, const uint8_t *photo, size_t size)
{
    struct source source = { photo, size };
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, give_up, keep_silent);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    uint8_t *volatile rows = NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        if (png) png_destroy_read_struct(&png, &info, NULL);
        free(rows);
        return -EINVAL;
    }
    png_set_read_fn(png, &source, take);
    png_set_user_limits(png, THUMBNAIL_PHOTO_SIDE, THUMBNAIL_PHOTO_SIDE);
    png_set_chunk_cache_max(png, 32);
    png_set_chunk_malloc_max(png, THUMBNAIL_PHOTO_LIMIT);
    png_read_info(png, info);
    uint32_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    if (!picture_size_is_fair(width, height)) png_error(png, "too large");
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (size_t)width * 4) png_error(png, "another form");
    rows = calloc(passes > 1 ? height : 1, (size_t)width * 4);
    if (!rows || picture_begin(picture, width, height) != 0) png_error(png, "no memory");
#ifdef PNG_eXIf_SUPPORTED
    png_uint_32 exif_size = 0;
    png_bytep exif = NULL;
    if (png_get_eXIf_1(png, info, &exif_size, &exif) && exif) picture->orientation = picture_orientation(exif, exif_size);
#endif
    read_rows(png, picture, rows, width, height, passes);
    png_destroy_read_struct(&png, &info, NULL);
    free(rows);
    return 0;
}
