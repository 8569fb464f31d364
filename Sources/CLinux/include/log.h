#ifndef CLINUX_LOG_H
#define CLINUX_LOG_H

#include <stdint.h>

// Files that are written from their beginning to their end, and then again.

// The size of a regular file, in bytes, or a negated errno.
int64_t clinux_size(const char *path);

// Makes a file `size` bytes long by writing zeros behind its end, and waits for the disk if `synced` is not 0. A file that
// is as long already stays as it is. 0, or a negated errno: then the file is as long as it was.
int clinux_fill(const char *path, int64_t size, int synced);

#endif
