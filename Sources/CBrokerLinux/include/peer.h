#ifndef CONTACTBROKER_CLINUX_PEER_H
#define CONTACTBROKER_CLINUX_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "socket.h"

/* Facts about the process at the other end of a Unix socket: unix(7), pidfd_open(2), statx(2). On failure, functions
   return -errno. */

/* Returns a pidfd of the process that connected (SO_PEERPIDFD, Linux 6.5); -ENOPROTOOPT on older kernels. */
int clinux_peer_pidfd(int socket);

/* Writes the label without its NUL and returns its length (SO_PEERSEC); -ENOPROTOOPT if no security module provides
   one. */
int clinux_peer_label(int socket, char *out, size_t size);

/* Returns a close-on-exec pidfd of the process that has this pid. */
int clinux_pidfd_open(int32_t pid);

/* Returns 1 if the process has ended, 0 while it runs, -errno on failure. Never blocks. */
int clinux_pidfd_has_ended(int pidfd);

/* Opens a path with O_PATH, which does not read the file, so no FIFO or device can block the call. If follow is 0
   and the path ends in a link, opens the link itself. */
int clinux_open_path(int directory, const char *name, int follow);

struct clinux_file {
    uint32_t device_major;
    uint32_t device_minor;
    uint64_t inode;
    uint64_t size;
    int64_t modified_seconds;
    int64_t changed_seconds;
    uint32_t modified_nanoseconds;
    uint32_t changed_nanoseconds;
    uint64_t mount;
    int32_t has_mount;
    int32_t is_regular;
    uint32_t owner;
    /* Permission bits, including those for setuid, setgid and sticky. */
    uint32_t mode;
    int32_t is_folder;
    uint32_t group;
};

/* Reads the status of an open file as the kernel knows it, without asking a file server. */
int clinux_file_status(int descriptor, struct clinux_file *out);

/* Does the same for a path. If follow is 0, does not follow a link at the end of the path. Triggers no automount. */
int clinux_file_status_at(int directory, const char *name, int follow, struct clinux_file *out);

/* Reads when an open file was created (STATX_BTIME), since 1970; -ENODATA if its file system does not record this. */
int clinux_creation_time(int descriptor, int64_t *seconds, uint32_t *nanoseconds);

/* Opens the file that an O_PATH descriptor refers to, for reading. Does not wait for the writer of a FIFO. */
int clinux_open_for_reading(int path_descriptor);

#endif
