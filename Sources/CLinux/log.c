#define _GNU_SOURCE
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t clinux_size(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return -errno;
    return S_ISREG(status.st_mode) ? status.st_size : -EINVAL;
}

int clinux_fill(const char *path, int64_t size, int synced) {
    static const char zeros[65536];
    int file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return -errno;
    int result = 0;
    struct stat status;
    if (fstat(file, &status) != 0) {
        result = -errno;
    } else if (!S_ISREG(status.st_mode)) {
        result = -EINVAL;
    } else {
        int64_t end = status.st_size;
        while (result == 0 && end < size) {
            size_t count = size - end < (int64_t)sizeof zeros ? (size_t)(size - end) : sizeof zeros;
            ssize_t written = pwrite(file, zeros, count, end);
            if (written > 0) {
                end += written;
            } else if (written == 0) {
                result = -ENOSPC;
            } else if (errno != EINTR) {
                result = -errno;
            }
        }
        if (result == 0 && synced && fdatasync(file) != 0) result = -errno;
        // What could not be filled must not take the last room away.
        if (result != 0 && end > status.st_size && ftruncate(file, status.st_size) != 0) result = -errno;
    }
    close(file);
    return result;
}
