#define _GNU_SOURCE
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The headers of Debian 12 do not define these. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int clinux_peer_pidfd(int socket)
{
    int pidfd = -1;
    socklen_t size = sizeof pidfd;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) != 0) return -errno;
    return pidfd;
}

int clinux_peer_label(int socket, char *out, size_t size)
{
    socklen_t length = (socklen_t)size;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERSEC, out, &length) != 0) return -errno;
    /* Some modules count a NUL, and some end the label with a newline. */
    while (length > 0 && (out[length - 1] == '\0' || out[length - 1] == '\n')) length--;
    return (int)length;
}

int clinux_pidfd_open(int32_t pid)
{
    long pidfd = syscall(SYS_pidfd_open, pid, 0);
    return pidfd < 0 ? -errno : (int)pidfd;
}

int clinux_pidfd_has_ended(int pidfd)
{
    struct pollfd watched = { .fd = pidfd, .events = POLLIN };
    int count;
    do count = poll(&watched, 1, 0);
    while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    if (count == 0) return 0;
    return watched.revents & POLLNVAL ? -EBADF : 1;
}

int clinux_open_path(int directory, const char *name, int follow)
{
    int descriptor = openat(directory, name, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
    return descriptor < 0 ? -errno : descriptor;
}

static int file_status(int directory, const char *name, int flags, struct clinux_file *out)
{
    struct statx status;
    unsigned wanted = STATX_BASIC_STATS;
#ifdef STATX_MNT_ID
    wanted |= STATX_MNT_ID;
#endif
    if (statx(directory, name, flags | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, wanted, &status) != 0) return -errno;
    out->device_major = status.stx_dev_major;
    out->device_minor = status.stx_dev_minor;
    out->inode = status.stx_ino;
    out->size = status.stx_size;
    out->modified_seconds = status.stx_mtime.tv_sec;
    out->modified_nanoseconds = status.stx_mtime.tv_nsec;
    out->changed_seconds = status.stx_ctime.tv_sec;
    out->changed_nanoseconds = status.stx_ctime.tv_nsec;
    out->is_regular = S_ISREG(status.stx_mode);
    out->is_folder = S_ISDIR(status.stx_mode);
    out->group = status.stx_gid;
    out->owner = status.stx_uid;
    out->mode = status.stx_mode & 07777;
    out->mount = 0;
    out->has_mount = 0;
#ifdef STATX_MNT_ID
    if (status.stx_mask & STATX_MNT_ID) {
        out->mount = status.stx_mnt_id;
        out->has_mount = 1;
    }
#endif
    return 0;
}

int clinux_file_status(int descriptor, struct clinux_file *out)
{
    return file_status(descriptor, "", AT_EMPTY_PATH, out);
}

int clinux_file_status_at(int directory, const char *name, int follow, struct clinux_file *out)
{
    return file_status(directory, name, follow ? 0 : AT_SYMLINK_NOFOLLOW, out);
}

int clinux_creation_time(int descriptor, int64_t *seconds, uint32_t *nanoseconds)
{
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BTIME, &status) != 0) return -errno;
    if (!(status.stx_mask & STATX_BTIME)) return -ENODATA;
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
    return 0;
}

int clinux_open_for_reading(int path_descriptor)
{
    char path[sizeof "/proc/self/fd/-2147483648"];
    snprintf(path, sizeof path, "/proc/self/fd/%d", path_descriptor);
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}
