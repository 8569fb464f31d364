#include "picture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

struct trap {
    struct jpeg_error_mgr manager;
    jmp_buf back;
};

static void give_up(j_common_ptr common) { longjmp(((struct trap *)common->err)->back, 1); }

/* A truncated photo is rejected. Other warnings are common and ignored. Nothing is printed. */
static void note(j_common_ptr common, int level)
{
    if (level < 0 && common->err->msg_code == JWRN_JPEG_EOF) give_up(common);
}

static struct jpeg_error_mgr *trap(struct trap *trap)
{
    struct jpeg_error_mgr *manager = jpeg_std_error(&trap->manager);
    manager->error_exit = give_up;
    manager->emit_message = note;
    return manager;
}

static int orientation_of(const struct jpeg_decompress_struct *jpeg)
{
    for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker; marker = marker->next)
        if (marker->marker == JPEG_APP0 + 1 && marker->data_length > 6 && memcmp(marker->data, "Exif\0\0", 6) == 0)
            return picture_orientation(marker->data + 6, marker->data_length - 6);
    return 1;
}

/* Assumes inverted CMYK values, as Adobe writes them. */
static void to_rgb(uint8_t *row, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        for (int color = 0; color < 3; color++) row[x * 3 + color] = (uint8_t)(row[x * 4 + color] * row[x * 4 + 3] / 255);
}

int picture_from_jpeg(struct picture *picture, const uint8_t *photo, size_t size)
{
    struct jpeg_decompress_struct jpeg;
    struct trap error;
    uint8_t *volatile row = NULL;
    jpeg.err = trap(&error);
    if (setjmp(error.back)) {
        jpeg_destroy_decompress(&jpeg);
        free(row);
        return -EINVAL;
    }
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, photo, size);
    jpeg_save_markers(&jpeg, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(&jpeg, TRUE);
    if (!picture_size_is_fair(jpeg.image_width, jpeg.image_height)) ERREXIT(&jpeg, JERR_IMAGE_TOO_BIG);
    picture->orientation = orientation_of(&jpeg);
    int is_cmyk = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
    jpeg.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
    jpeg.dct_method = JDCT_ISLOW;
    /* libjpeg can scale down while decoding. A large photo keeps at least twice the thumbnail's size, so
       averaging has enough pixels. */
    uint32_t longer = jpeg.image_width > jpeg.image_height ? jpeg.image_width : jpeg.image_height;
    jpeg.scale_num = 1;
    for (jpeg.scale_denom = 8; jpeg.scale_denom > 1 && longer / jpeg.scale_denom < 2 * THUMBNAIL_SIDE;)
        jpeg.scale_denom /= 2;
    jpeg_start_decompress(&jpeg);
    row = malloc((size_t)jpeg.output_width * (size_t)jpeg.output_components);
    if (!row || jpeg.output_components != (is_cmyk ? 4 : 3)
        || picture_begin(picture, jpeg.output_width, jpeg.output_height) != 0)
        ERREXIT1(&jpeg, JERR_OUT_OF_MEMORY, 0);
    while (jpeg.output_scanline < jpeg.output_height) {
        uint32_t y = jpeg.output_scanline;
        JSAMPROW rows[] = { row };
        if (jpeg_read_scanlines(&jpeg, rows, 1) != 1) ERREXIT(&jpeg, JERR_INPUT_EMPTY);
        if (is_cmyk) to_rgb(row, jpeg.output_width);
        picture_add(picture, y, row);
    }
    picture_finish(picture);
    /* Detects a photo that is truncated at the end. */
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    free(row);
    return 0;
}

int picture_to_jpeg(const struct picture *picture, int quality, uint8_t **out, size_t *out_size)
{
    struct jpeg_compress_struct jpeg;
    struct trap error;
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    jpeg.err = trap(&error);
    if (setjmp(error.back)) {
        jpeg_destroy_compress(&jpeg);
        return -ENOMEM;
    }
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width = picture->width;
    jpeg.image_height = picture->height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, quality, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW rows[] = { picture->pixels + (size_t)jpeg.next_scanline * picture->width * 3 };
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *out = bytes;
    *out_size = size;
    return 0;
}
