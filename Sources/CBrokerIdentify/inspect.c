#define _GNU_SOURCE
#include "inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ccrypto.h"

/* The maximum size of a mountinfo file, in bytes. */
#define MOUNTS_LIMIT 4194304
#define PIECE 262144
/* After so many bytes, hashing pauses for so many nanoseconds. Without a pause, another process can wait for the
   processor until the scheduler's next tick, up to 4 milliseconds. */
#define PAUSE_AFTER 1048576
#define PAUSE 50000

const char *identify_path(const struct identify_inspection *inspection) { return inspection->path; }
const char *identify_app(const struct identify_inspection *inspection) { return inspection->app; }

/* Opens a path with O_PATH, which does not access the file's contents, so no FIFO, device or link can block
   the call.

   Goes down folder by folder and follows no link. openat2(2) could do this in one call, but takes its flags through a
   pointer, which the worker's filter cannot follow. So the filter could not check that the call opens nothing for
   writing. */
static int open_beneath(int directory, const char *name)
{
    char part[NAME_MAX + 1];
    int folder = directory, descriptor;
    for (;;) {
        size_t length = strcspn(name, "/");
        if (length == 0) descriptor = -ENOENT;
        else if (length >= sizeof part) descriptor = -ENAMETOOLONG;
        else {
            memcpy(part, name, length);
            part[length] = 0;
            /* ".." would lead out of the directory. */
            descriptor = strcmp(part, "..") == 0 ? -ENOENT : clinux_open_path(folder, part, 0);
        }
        if (folder != directory) close(folder);
        if (descriptor < 0 || name[length] == 0) return descriptor;
        folder = descriptor;
        name += length + 1;
    }
}

/* Reads to the end. Returns -EFBIG for more than limit bytes; the result is never truncated. */
static ssize_t read_all(int descriptor, char *out, size_t limit)
{
    size_t total = 0;
    for (;;) {
        if (total == limit) {
            char more;
            ssize_t count = read(descriptor, &more, 1);
            if (count == 0) return (ssize_t)total;
            if (count < 0 && errno == EINTR) continue;
            return count < 0 ? -errno : -EFBIG;
        }
        ssize_t count = read(descriptor, out + total, limit - total);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        if (count == 0) return (ssize_t)total;
        total += (size_t)count;
    }
}

static ssize_t read_file(int directory, const char *name, char *out, size_t limit)
{
    int descriptor = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return -errno;
    ssize_t count = read_all(descriptor, out, limit);
    close(descriptor);
    return count;
}

/* Parses decimal digits without a sign, up to the first character that is not a digit. */
static int number_in(const char *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;
    size_t index = 0;
    for (; index < size && text[index] >= '0' && text[index] <= '9'; index++) {
        if (value > (UINT64_MAX - 9) / 10) return 0;
        value = value * 10 + (uint64_t)(text[index] - '0');
    }
    *out = value;
    return index > 0;
}

/* Reads the process's pid from the pidfd's fdinfo. The kernel reports -1 there after the process was reaped. */
static int pid_of(int pidfd)
{
    char name[sizeof "/proc/self/fdinfo/-2147483648"], text[1025];
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", pidfd);
    ssize_t size = read_file(AT_FDCWD, name, text, sizeof text - 1);
    if (size < 0) return (int)size;
    text[size] = 0;
    const char *line = strstr(text, "\nPid:\t");
    if (!line) return -EBADF;
    line += sizeof "\nPid:\t" - 1;
    if (*line == '-') return -ESRCH;
    uint64_t pid;
    if (!number_in(line, strlen(line), &pid) || pid > INT32_MAX) return -EBADF;
    /* 0: the process has no pid in this pid namespace. */
    return pid == 0 ? -EBADF : (int)pid;
}

/* Parses the number in a link such as mnt:[4026531832], namespaces(7). */
static int32_t namespace_of(int directory, const char *name, uint64_t *out)
{
    char text[64];
    ssize_t size = readlinkat(directory, name, text, sizeof text);
    if (size < 0) return errno == ENOENT ? IDENTIFY_ABSENT : -errno;
    const char *open = memchr(text, '[', (size_t)size);
    if (!open || size == sizeof text || text[size - 1] != ']') return -EINVAL;
    size_t digits = (size_t)(text + size - 1 - (open + 1));
    if (digits == 0 || digits > 20 || !number_in(open + 1, digits, out)) return -EINVAL;
    return IDENTIFY_FOUND;
}

static void namespaces_of(int directory, struct identify_namespaces *out)
{
    out->mount_status = namespace_of(directory, "ns/mnt", &out->mount);
    out->user_status = namespace_of(directory, "ns/user", &out->user);
}

void identify_namespaces_at(const char *path, struct identify_namespaces *out)
{
    int directory = clinux_open_path(AT_FDCWD, path, 1);
    out->mount_status = out->user_status = directory;
    if (directory < 0) return;
    namespaces_of(directory, out);
    close(directory);
}

static int is_same_mount_namespace(const struct identify_namespaces *one, const struct identify_namespaces *other)
{
    return one->mount_status == IDENTIFY_FOUND && other->mount_status == IDENTIFY_FOUND
        && one->mount == other->mount;
}

/* File systems. */

static const char *const local_types[] = { "tmpfs", "ramfs", "rootfs", "btrfs", "zfs", "bcachefs", "erofs" };

static int is_text(const char *text, size_t size, const char *expected)
{
    return strlen(expected) == size && memcmp(text, expected, size) == 0;
}

/* Returns the file system type in a line of proc_pid_mountinfo(5), if the line describes the file's mount. The fields
   are: number, parent, device, root, place, options, ..., a dash, type. If the file's mount number is unknown, the
   file's device is compared instead. */
static const char *type_in(const char *line, const char *end, const struct clinux_file *file, size_t *size)
{
    int index = 0, after_dash = 0;
    while (line < end) {
        const char *space = memchr(line, ' ', (size_t)(end - line));
        size_t length = (size_t)((space ? space : end) - line);
        uint64_t number, minor;
        if (index == 0 && file->has_mount && (!number_in(line, length, &number) || number != file->mount)) return NULL;
        if (index == 2 && !file->has_mount) {
            const char *colon = memchr(line, ':', length);
            if (!colon || !number_in(line, (size_t)(colon - line), &number) || number != file->device_major
                || !number_in(colon + 1, length - (size_t)(colon + 1 - line), &minor) || minor != file->device_minor)
                return NULL;
        }
        if (after_dash) {
            *size = length;
            return line;
        }
        if (index >= 6 && is_text(line, length, "-")) after_dash = 1;
        if (!space) return NULL;
        line = space + 1;
        index++;
    }
    return NULL;
}

int identify_is_local(const char *mounts, size_t size, const struct clinux_file *file, int trusted)
{
    /* Only a file system on a block device has a major number other than 0, and only root can mount one. */
    if (file->device_major != 0) return 1;
    const char *end = mounts + size;
    while (mounts < end) {
        const char *newline = memchr(mounts, '\n', (size_t)(end - mounts));
        const char *line_end = newline ? newline : end;
        size_t length = 0;
        const char *type = type_in(mounts, line_end, file, &length);
        if (type && length > 0) {
            /* In an untrusted mount namespace, an overlay may have a layer on a file server that mountinfo does not list. */
            if (is_text(type, length, "overlay")) return trusted;
            for (size_t index = 0; index < sizeof local_types / sizeof *local_types; index++)
                if (is_text(type, length, local_types[index])) return 1;
            return 0;
        }
        if (!newline) break;
        mounts = newline + 1;
    }
    /* Some mounts are not listed, such as the kernel's own mount behind memfd_create(2), so their type is unknown. */
    return 0;
}

/* One process's mounts, read when they are first needed. */
struct mounts {
    int directory;
    int trusted;
    char *text;
    ssize_t size;
};

static int is_local(struct mounts *mounts, const struct clinux_file *file)
{
    if (file->device_major != 0) return 1;
    if (!mounts->text) {
        mounts->text = malloc(MOUNTS_LIMIT);
        if (!mounts->text) return 0;
        mounts->size = read_file(mounts->directory, "mountinfo", mounts->text, MOUNTS_LIMIT);
    }
    return mounts->size > 0 && identify_is_local(mounts->text, (size_t)mounts->size, file, mounts->trusted);
}

/* The executable. */

static int is_same_state(const struct clinux_file *one, const struct clinux_file *other)
{
    return one->device_major == other->device_major && one->device_minor == other->device_minor
        && one->inode == other->inode && one->size == other->size && one->modified_seconds == other->modified_seconds
        && one->modified_nanoseconds == other->modified_nanoseconds && one->changed_seconds == other->changed_seconds
        && one->changed_nanoseconds == other->changed_nanoseconds;
}

static enum identify_digest hash_open(
    int file, const struct clinux_file *status, char *piece, uint8_t sha256[32], int32_t *reason)
{
    ccrypto_sha256_state *state = ccrypto_sha256_begin();
    if (!state) {
        *reason = ENOMEM;
        return IDENTIFY_DIGEST_UNREADABLE;
    }
    uint64_t total = 0, paused = 0;
    for (;;) {
        if (total - paused >= PAUSE_AFTER) {
            struct timespec pause = { .tv_nsec = PAUSE };
            (void)ppoll(NULL, 0, &pause, NULL);
            paused = total;
        }
        ssize_t count = read(file, piece, PIECE);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) break;
        int failure = count < 0 ? errno : 0;
        /* Stops when more bytes than expected arrive, because the file may grow as fast as it is read. */
        int is_longer = count > 0 && (total += (uint64_t)count) > status->size;
        if (!failure && !is_longer && ccrypto_sha256_update(state, (const uint8_t *)piece, (size_t)count) == 1) continue;
        ccrypto_sha256_discard(state);
        if (is_longer) return IDENTIFY_DIGEST_CHANGING;
        *reason = failure ? failure : ENOMEM;
        return IDENTIFY_DIGEST_UNREADABLE;
    }
    if (ccrypto_sha256_finish(state, sha256) != 1) {
        *reason = ENOMEM;
        return IDENTIFY_DIGEST_UNREADABLE;
    }
    struct clinux_file after;
    if (clinux_file_status(file, &after) != 0 || !is_same_state(&after, status) || total != status->size)
        return IDENTIFY_DIGEST_CHANGING;
    return IDENTIFY_DIGEST_SHA256;
}

enum identify_digest identify_hash(
    int path_descriptor, const struct clinux_file *status, uint64_t limit, uint8_t sha256[32], int32_t *reason)
{
    *reason = 0;
    if (!status->is_regular) return IDENTIFY_DIGEST_NOT_REGULAR;
    if (status->size > limit) return IDENTIFY_DIGEST_TOO_LARGE;
    int file = clinux_open_for_reading(path_descriptor);
    if (file < 0) {
        *reason = -file;
        return IDENTIFY_DIGEST_UNREADABLE;
    }
    char *piece = malloc(PIECE);
    enum identify_digest digest = IDENTIFY_DIGEST_UNREADABLE;
    if (piece) digest = hash_open(file, status, piece, sha256, reason);
    else *reason = ENOMEM;
    free(piece);
    close(file);
    return digest;
}

/* Reads the path of the opened file, even if the process runs a different file by then. */
static int32_t path_of(int path_descriptor, struct identify_inspection *out)
{
    char name[sizeof "/proc/self/fd/-2147483648"];
    snprintf(name, sizeof name, "/proc/self/fd/%d", path_descriptor);
    ssize_t size = readlink(name, out->path, sizeof out->path);
    if (size < 0) return -errno;
    if (size == 0 || (size_t)size == sizeof out->path) return -ENAMETOOLONG;
    out->path_size = (uint32_t)size;
    return IDENTIFY_FOUND;
}

static int only_root_writes(const struct clinux_file *status)
{
    /* The group bits also show the mask of an access control list. */
    return status->owner == 0 && (status->mode & 022) == 0;
}

/* Looks up the executable's path in process 1's root.

   The folders are checked first, from the root down. If only root can write to each of them, nobody else can replace
   one after its check, so paths are as safe as descriptors. */
static int32_t place_of(const struct identify_inspection *inspection, int32_t *place)
{
    *place = IDENTIFY_PLACE_OTHER;
    char path[IDENTIFY_PATH_SIZE];
    /* The kernel writes no NUL, "." or ".." into a path. "/" alone is no file. */
    if (inspection->path_size < 2 || inspection->path[0] != '/' || memchr(inspection->path, 0, inspection->path_size)) return IDENTIFY_FOUND;
    memcpy(path, inspection->path + 1, inspection->path_size - 1);
    path[inspection->path_size - 1] = 0;
    int root = clinux_open_path(AT_FDCWD, "/proc/1/root", 1);
    if (root < 0) return root;
    struct clinux_file status;
    int result = clinux_file_status(root, &status);
    int is_roots = result == 0 && only_root_writes(&status);
    for (char *slash = strchr(path, '/'); is_roots && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        result = clinux_file_status_at(root, path, 0, &status);
        *slash = '/';
        is_roots = result == 0 && status.is_folder && only_root_writes(&status);
    }
    if (result == 0) {
        int file = open_beneath(root, path);
        result = file < 0 ? file : clinux_file_status(file, &status);
        if (file >= 0) close(file);
    }
    close(root);
    /* If the path does not exist, or one of its parts is a link or no folder, it does not name the executable. */
    if (result == -ENOENT || result == -ENOTDIR || result == -ELOOP || result == -ENAMETOOLONG) return IDENTIFY_FOUND;
    if (result < 0) return result;
    if (status.is_regular && status.device_major == inspection->executable.device_major
        && status.device_minor == inspection->executable.device_minor && status.inode == inspection->executable.inode)
        *place = is_roots && only_root_writes(&status) ? IDENTIFY_PLACE_SAME_AND_ROOTS : IDENTIFY_PLACE_SAME;
    return IDENTIFY_FOUND;
}

static void inspect_executable(int directory, uint32_t wants, uint64_t hash_limit, struct mounts *mounts, int is_at_first,
    struct identify_inspection *out)
{
    int file = clinux_open_path(directory, "exe", 1);
    if (file < 0) {
        out->executable_status = file == -ENOENT ? IDENTIFY_ABSENT : file;
        return;
    }
    out->executable_status = clinux_file_status(file, &out->executable);
    if (out->executable_status == 0) out->executable_status = path_of(file, out);
    if (out->executable_status == 0 && !(wants & IDENTIFY_WANTS_EXECUTABLE_ONLY)) {
        int local = is_local(mounts, &out->executable);
        if (!local) out->digest = IDENTIFY_DIGEST_NOT_LOCAL;
        else if (wants & IDENTIFY_WANTS_DIGEST)
            out->digest
                = (int32_t)identify_hash(file, &out->executable, hash_limit, out->sha256, &out->digest_errno);
        if (local && is_at_first && (wants & IDENTIFY_WANTS_PLACE)) out->place_status = place_of(out, &out->place);
    }
    close(file);
}

/* Parsing and reading of /.flatpak-info. */

static int is_name(const char *text, size_t size)
{
    if (size == 0 || size >= IDENTIFY_NAME_SIZE) return 0;
    for (size_t index = 0; index < size; index++) {
        char byte = text[index];
        if (!((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '.'
                || byte == '-' || byte == '_'))
            return 0;
    }
    return 1;
}

int identify_parse_info(const char *text, size_t size, char *app, char *instance)
{
    enum { OTHER, APPLICATION, INSTANCE } group = OTHER;
    app[0] = instance[0] = 0;
    if (memchr(text, 0, size)) return -EINVAL;
    const char *end = text + size;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line = text, *line_end = newline ? newline : end;
        text = newline ? newline + 1 : end;
        size_t length = (size_t)(line_end - line);
        if (length > 0 && line[0] == '[') {
            group = is_text(line, length, "[Application]") ? APPLICATION
                : is_text(line, length, "[Instance]")      ? INSTANCE
                                                           : OTHER;
            continue;
        }
        const char *key = group == APPLICATION ? "name=" : group == INSTANCE ? "instance-id=" : NULL;
        size_t key_length = key ? strlen(key) : 0;
        if (!key || length < key_length || memcmp(line, key, key_length) != 0) continue;
        char *out = group == APPLICATION ? app : instance;
        /* Flatpak writes each key once. A second one means that another program wrote the file. */
        if (out[0] || !is_name(line + key_length, length - key_length)) return -EINVAL;
        memcpy(out, line + key_length, length - key_length);
        out[length - key_length] = 0;
    }
    return 0;
}

/* The peer controls its own root. This function therefore follows no link in it, looks up no path on a
   file server, which may never answer, and opens only a regular file. */
static int32_t inspect_info(int directory, struct mounts *mounts, struct identify_inspection *out)
{
    int root = clinux_open_path(directory, "root", 1);
    if (root < 0) return root;
    struct clinux_file status;
    int result = clinux_file_status(root, &status);
    if (result == 0 && !is_local(mounts, &status)) result = -EOPNOTSUPP;
    int info = result == 0 ? clinux_open_path(root, ".flatpak-info", 0) : result;
    close(root);
    if (info == -ENOENT) return IDENTIFY_ABSENT;
    if (info < 0) return info;
    result = clinux_file_status(info, &out->info);
    /* If the file is a link or a device, the process still counts as sandboxed by Flatpak, but the app's name is unknown. */
    if (result == 0 && out->info.is_regular && out->info.size <= IDENTIFY_INFO_LIMIT && is_local(mounts, &out->info)) {
        char *text = malloc(IDENTIFY_INFO_LIMIT);
        int file = text ? clinux_open_for_reading(info) : -ENOMEM;
        ssize_t size = file < 0 ? file : read_all(file, text, IDENTIFY_INFO_LIMIT);
        if (size >= 0) out->info_is_read = identify_parse_info(text, (size_t)size, out->app, out->instance) == 0;
        if (!out->info_is_read) {
            memset(out->app, 0, sizeof out->app);
            memset(out->instance, 0, sizeof out->instance);
        }
        if (file >= 0) close(file);
        free(text);
        /* An unreadable or oversized file still marks a sandbox, with an unknown name. Any other read error fails the inspection. */
        if (size < 0 && size != -EACCES && size != -EPERM && size != -EFBIG) result = (int)size;
    }
    close(info);
    return result;
}

/* directory: the process's directory in /proc. */
static void inspect(int directory, uint32_t wants, uint64_t hash_limit, struct identify_inspection *out)
{
    struct mounts mounts = { .directory = directory };
    if (wants & IDENTIFY_WANTS_EXECUTABLE_ONLY) {
        inspect_executable(directory, wants, hash_limit, &mounts, 0, out);
        return;
    }
    struct identify_namespaces own = { 0 };
    namespaces_of(directory, &out->namespaces);
    identify_namespaces_at("/proc/1", &out->first);
    identify_namespaces_at("/proc/self", &own);
    int is_at_first = is_same_mount_namespace(&out->namespaces, &out->first);
    mounts.trusted = is_at_first || is_same_mount_namespace(&out->namespaces, &own);
    inspect_executable(directory, wants, hash_limit, &mounts, is_at_first, out);
    out->info_status = inspect_info(directory, &mounts, out);
    free(mounts.text);
}

int identify_inspect(int pidfd, uint32_t wants, uint64_t hash_limit, struct identify_inspection *out)
{
    memset(out, 0, sizeof *out);
    int pid = pid_of(pidfd);
    if (pid < 0) return pid;
    out->pid = pid;
    char name[sizeof "/proc/-2147483648"];
    snprintf(name, sizeof name, "/proc/%d", pid);
    int directory = clinux_open_path(AT_FDCWD, name, 0);
    if (directory < 0) return clinux_pidfd_has_ended(pidfd) ? -ESRCH : directory;
    inspect(directory, wants, hash_limit, out);
    close(directory);
    /* If the process still exists, it had this pid during the whole inspection, so all the data is about it. */
    return clinux_pidfd_has_ended(pidfd) ? -ESRCH : 0;
}
