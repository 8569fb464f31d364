#ifndef CONTACTBROKER_CIDENTIFY_LOOK_H
#define CONTACTBROKER_CIDENTIFY_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "peer.h"

/* What can be told about a process only by whoever may look into it: its executable, its namespaces, the root in which
   it lies. One reader for both places it is used in: the broker of one user's session looks by itself, the system's
   broker has contactbroker-identify look. In C, because there it runs between fork and exit, where no Swift may: system
   calls and SHA-256. Nothing is kept between two looks.

   A reading is IDENTIFY_FOUND, IDENTIFY_ABSENT (looked for, and definitely not there), or -errno: not known. */
#define IDENTIFY_FOUND 0
#define IDENTIFY_ABSENT 1

/* The longest path that can be told, with what the kernel adds to it. A longer one is unreadable, never cut. */
#define IDENTIFY_PATH_SIZE 4160
/* An app's name, as systemd and D-Bus have it; of a flatpak's instance too. */
#define IDENTIFY_NAME_SIZE 256
/* Of .flatpak-info, in bytes. Real ones have a few thousand. */
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

/* What lies at the executable's path in the root of process 1. */
enum identify_place {
    /* Not asked: the process does not lie where process 1 does. */
    IDENTIFY_PLACE_NONE,
    IDENTIFY_PLACE_OTHER,
    /* The very file; but not only root can change what lies there. */
    IDENTIFY_PLACE_SAME,
    /* The very file; it and every folder above belong to root, and nobody else may write to them. */
    IDENTIFY_PLACE_SAME_AND_ROOTS,
};

struct identify_namespaces {
    uint64_t mount;
    uint64_t user;
    int32_t mount_reading;
    int32_t user_reading;
};

/* Everything in it was set: no byte of padding, no rest of an earlier one. */
struct identify_look {
    int32_t pid;
    int32_t executable_reading;
    struct identify_namespaces namespaces;
    struct identify_namespaces first;
    struct clinux_file executable;
    int32_t digest;
    int32_t digest_errno;
    uint8_t sha256[32];
    int32_t place_reading;
    int32_t place;
    int32_t info_reading;
    /* 1: its text is whole and has the two names below, which are empty where it does not say. */
    int32_t info_is_read;
    struct clinux_file info;
    uint32_t path_size;
    uint32_t reserved;
    char path[IDENTIFY_PATH_SIZE];
    char app[IDENTIFY_NAME_SIZE];
    char instance[IDENTIFY_NAME_SIZE];
};

/* What to tell of a process. */
#define IDENTIFY_WANTS_DIGEST 1u
/* The executable's file and path and nothing else: is it still what it was? */
#define IDENTIFY_WANTS_EXECUTABLE_ONLY 2u
/* What lies at its executable's path as process 1 sees it. contactbroker-identify always tells; nobody asks it to. */
#define IDENTIFY_WANTS_PLACE 4u

/* Texts of a look; the path has path_size bytes, the names end with a NUL. */
const char *identify_path(const struct identify_look *look);
const char *identify_app(const struct identify_look *look);

/* Looks at the process that a pidfd holds. 0, -ESRCH where it has ended, -EBADF for what is no pidfd, or -errno.
   hash_limit: bytes of the largest executable that is hashed. */
int identify_look_at(int pidfd, uint32_t wants, uint64_t hash_limit, struct identify_look *out);

/* The namespaces of the process whose directory below /proc that path leads to. */
void identify_namespaces_at(const char *path, struct identify_namespaces *out);

/* SHA-256 of a file that is open as a path, which must have that status before and after. */
enum identify_digest identify_hash(int path_descriptor, const struct clinux_file *status, uint64_t limit,
    uint8_t sha256[32], int32_t *reason);

/* Whether the kernel itself answers for a file, and no server of anybody's: a server can make a read last for ever and
   answer each one differently. mounts: the text of a mountinfo. trusted: these are mounts that nobody but root made. */
int identify_is_local(const char *mounts, size_t size, const struct clinux_file *file, int trusted);

/* The names in a .flatpak-info. 0, or -EINVAL for what is none. Both have IDENTIFY_NAME_SIZE. */
int identify_parse_info(const char *text, size_t size, char *app, char *instance);

#endif
