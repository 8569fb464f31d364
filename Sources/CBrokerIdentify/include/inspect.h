#ifndef CONTACTBROKER_CIDENTIFY_INSPECT_H
#define CONTACTBROKER_CIDENTIFY_INSPECT_H

#include <stddef.h>
#include <stdint.h>

#include "peer.h"

/* Collects the facts about a process that require permission to inspect it: its executable, its namespaces
   and its root. In session mode the broker calls this itself. In system mode contactbroker-identify calls
   this in a forked worker process. Swift code cannot run safely after a fork, so this is in C. It keeps no
   state between calls.

   A status is IDENTIFY_FOUND, IDENTIFY_ABSENT if the thing definitely does not exist, or -errno if that is
   not known. */
#define IDENTIFY_FOUND 0
#define IDENTIFY_ABSENT 1

/* The size of the path's buffer, including any text that the kernel appends to a path. A longer path is unreadable,
   never truncated. */
#define IDENTIFY_PATH_SIZE 4160
/* The maximum size of an app's name, as in systemd and D-Bus, and of the name of a Flatpak instance, with NUL. */
#define IDENTIFY_NAME_SIZE 256
/* The maximum size of .flatpak-info, in bytes. Real files have a few thousand. */
#define IDENTIFY_INFO_LIMIT 65536

enum identify_digest {
    IDENTIFY_DIGEST_NONE,
    IDENTIFY_DIGEST_SHA256,
    IDENTIFY_DIGEST_NOT_REGULAR,
    IDENTIFY_DIGEST_TOO_LARGE,
    IDENTIFY_DIGEST_NOT_LOCAL,
    IDENTIFY_DIGEST_CHANGING,
    IDENTIFY_DIGEST_UNREADABLE,
};

/* The file at the executable's path in the root of process 1. */
enum identify_place {
    /* Not looked up, for example because the process is in a different mount namespace from process 1. */
    IDENTIFY_PLACE_NONE,
    IDENTIFY_PLACE_OTHER,
    /* The same file, but users other than root may be able to change or replace it. */
    IDENTIFY_PLACE_SAME,
    /* The same file. It and every folder above it belong to root, and nobody else may write to them. */
    IDENTIFY_PLACE_SAME_AND_ROOTS,
};

struct identify_namespaces {
    uint64_t mount;
    uint64_t user;
    int32_t mount_status;
    int32_t user_status;
};

/* The result of an inspection. It is zeroed before use, so it contains no stale data, not even in padding. */
struct identify_inspection {
    int32_t pid;
    int32_t executable_status;
    struct identify_namespaces namespaces;
    struct identify_namespaces first;
    struct clinux_file executable;
    int32_t digest;
    int32_t digest_errno;
    uint8_t sha256[32];
    int32_t place_status;
    int32_t place;
    int32_t info_status;
    /* 1 if the file was read in full and is well-formed. The two names below are empty if the file does
       not contain them. */
    int32_t info_is_read;
    struct clinux_file info;
    uint32_t path_size;
    uint32_t reserved;
    char path[IDENTIFY_PATH_SIZE];
    char app[IDENTIFY_NAME_SIZE];
    char instance[IDENTIFY_NAME_SIZE];
};

/* Flags for the parts to read. */
#define IDENTIFY_WANTS_DIGEST 1u
/* Read only the executable's file and path, to check that it has not changed. */
#define IDENTIFY_WANTS_EXECUTABLE_ONLY 2u
/* Look up the executable's path, as process 1 sees it. contactbroker-identify always does this, so a
   request must not ask for it. */
#define IDENTIFY_WANTS_PLACE 4u

/* Strings of the result. The path has path_size bytes; the app's name ends with a NUL. */
const char *identify_path(const struct identify_inspection *inspection);
const char *identify_app(const struct identify_inspection *inspection);

/* Inspects the process that a pidfd refers to. Returns 0, -ESRCH if the process has ended, -EBADF if the descriptor
   is not a pidfd or its process is outside this pid namespace, or -errno. hash_limit: the size in bytes of the
   largest executable that is hashed. */
int identify_inspect(int pidfd, uint32_t wants, uint64_t hash_limit, struct identify_inspection *out);

/* Reads the namespaces of a process. path: the process's directory in /proc. */
void identify_namespaces_at(const char *path, struct identify_namespaces *out);

/* Hashes a file that is open with O_PATH. Returns IDENTIFY_DIGEST_CHANGING if the file's status differs from
   *status after the file was read. */
enum identify_digest identify_hash(int path_descriptor, const struct clinux_file *status, uint64_t limit,
    uint8_t sha256[32], int32_t *reason);

/* Whether the kernel itself serves a file. A file server can block a read forever and return different data each
   time. mounts: the text of a mountinfo file. trusted: whether only root made these mounts. */
int identify_is_local(const char *mounts, size_t size, const struct clinux_file *file, int trusted);

/* Reads the names from the text of a .flatpak-info. Returns 0, or -EINVAL if it is malformed. Both buffers have
   IDENTIFY_NAME_SIZE bytes. */
int identify_parse_info(const char *text, size_t size, char *app, char *instance);

#endif
