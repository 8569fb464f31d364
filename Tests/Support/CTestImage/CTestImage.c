#include "CTestImage.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

struct trap {
    struct jpeg_error_mgr manager;
    jmp_buf back;
};

int test_image_is_sanitized(void)
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return 1;
#endif
#endif
    return 0;
}

static void give_up(j_common_ptr common) { longjmp(((struct trap *)common->err)->back, 1); }

static void paint(uint8_t *row, uint32_t y, uint32_t width, uint32_t height, int channels, uint8_t alpha)
{
    for (uint32_t x = 0; x < width; x++, row += channels) {
        int is_left = x < width / 2, is_upper = y < height / 4;
        row[0] = is_left && !is_upper ? 255 : 0;
        row[1] = is_left && is_upper ? 255 : 0;
        row[2] = is_left ? 0 : 255;
        if (channels == 4) row[3] = is_left ? 255 : alpha;
    }
}

size_t test_image_jpeg(uint32_t width, uint32_t height, int orientation, int is_progressive, uint8_t **out)
{
    struct jpeg_compress_struct jpeg;
    struct trap error;
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    uint8_t *row = malloc((size_t)width * 3);
    jpeg.err = jpeg_std_error(&error.manager);
    error.manager.error_exit = give_up;
    if (!row || setjmp(error.back)) return 0;
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width = width;
    jpeg.image_height = height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 90, TRUE);
    if (is_progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    if (orientation) {
        uint8_t exif[] = { 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0,
            (uint8_t)orientation, 0, 0, 0, 0, 0, 0 };
        jpeg_write_marker(&jpeg, JPEG_APP0 + 1, exif, sizeof exif);
    }
    while (jpeg.next_scanline < height) {
        JSAMPROW rows[] = { row };
        paint(row, jpeg.next_scanline, width, height, 3, 255);
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(row);
    *out = bytes;
    return size;
}

struct sink {
    uint8_t *bytes;
    size_t size;
};

static void append(png_structp png, png_bytep bytes, size_t size)
{
    struct sink *sink = png_get_io_ptr(png);
    uint8_t *all = realloc(sink->bytes, sink->size + size);
    if (!all) png_error(png, "no memory");
    memcpy(all + sink->size, bytes, size);
    sink->bytes = all;
    sink->size += size;
}

static void flush(png_structp png) { (void)png; }

size_t test_image_png(uint32_t width, uint32_t height, uint8_t alpha, int is_interlaced, uint8_t **out)
{
    struct sink sink = { NULL, 0 };
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    uint8_t *row = malloc((size_t)width * 4);
    if (!info || !row || setjmp(png_jmpbuf(png))) return 0;
    png_set_write_fn(png, &sink, append, flush);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB_ALPHA,
        is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (uint32_t y = 0; y < height; y++) {
            paint(row, y, width, height, 4, alpha);
            png_write_row(png, row);
        }
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    free(row);
    *out = sink.bytes;
    return sink.size;
}

int test_image_look(
    const uint8_t *bytes, size_t size, uint32_t *width, uint32_t *height, uint32_t x, uint32_t y, uint32_t *color)
{
    struct jpeg_decompress_struct jpeg;
    struct trap error;
    uint8_t *volatile row = NULL;
    jpeg.err = jpeg_std_error(&error.manager);
    error.manager.error_exit = give_up;
    if (setjmp(error.back)) {
        jpeg_destroy_decompress(&jpeg);
        free(row);
        return -1;
    }
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    *width = jpeg.output_width;
    *height = jpeg.output_height;
    row = malloc((size_t)*width * 3);
    while (row && jpeg.output_scanline <= *height * y / 100 && jpeg.output_scanline < *height) {
        JSAMPROW rows[] = { row };
        jpeg_read_scanlines(&jpeg, rows, 1);
    }
    const uint8_t *pixel = row ? row + *width * x / 100 * 3 : NULL;
    if (pixel) *color = (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
    jpeg_destroy_decompress(&jpeg);
    free(row);
    return pixel ? 0 : -1;
}
