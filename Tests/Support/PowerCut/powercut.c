// For LD_PRELOAD: counts what a program changes in the files below a folder, and after one of these operations ends the
// program with SIGKILL. Before that it can undo what a power cut loses: everything that was not synced.
//
// A power cut is as strict as Linux file systems are:
// - Written bytes and sizes last once the file is synced.
// - A new name lasts once its folder, or the new file itself, is synced; a new folder, once anything below it is synced.
// - Links, renames and removals last once their folder is synced.
// A cut loses all that does not last, or only bytes and no names, because a file system may write names first.
//
// -shm files are exempt, because SQLite rebuilds them. Only the calls that our programs and SQLite use are here.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOSE_BYTES = 1, LOSE_NAMES = 2 };

enum { MOST_OPERATIONS = 8192 };

/* Shared with the test. */
static struct control {
    uint64_t count;    /* of the operations so far */
    uint64_t limit;    /* the operation after which the program ends; 0 for none */
    uint64_t loses;    /* what is undone before the end */
    uint64_t seconds;  /* by which the monotonic clock is ahead, so that timers end */
    char operations[MOST_OPERATIONS][96];
} *control;

/* A change that is not synced. */
struct change {
    enum { BYTES, CREATED, FOLDER, LINKED, RENAMED, REMOVED, FOLDER_REMOVED } kind;
    struct stat file;  /* BYTES: the file before */
    int descriptor;    /* BYTES: never closed, because that would drop the program's locks */
    off_t start;
    size_t length;
    char *bytes;       /* BYTES: those that were replaced */
    char *path, *old;  /* old: the name before a rename */
    char *kept;        /* another name of a file that was removed or replaced */
    struct change *before;
};
static struct change *changes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];

__attribute__((constructor)) static void enter(void) {
    const char *path = getenv("POWERCUT_CONTROL"), *below = getenv("POWERCUT_FOLDER");
    if (!path || !below) return;
    snprintf(folder, sizeof folder, "%s/", below);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) abort();
    close(file);
    control = mapped;
    // Programs that this one starts are not counted.
    unsetenv("LD_PRELOAD");
}

static bool is_below(const char *path) {
    size_t length = strlen(path);
    return control && !strncmp(path, folder, strlen(folder)) && (length < 4 || strcmp(path + length - 4, "-shm"));
}

/* The path of an open file or folder below the folder; empty for others. */
static void path_of(int file, char path[PATH_MAX]) {
    char link[64];
    struct stat status;
    path[0] = 0;
    if (!control || fstat(file, &status) || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 2);
    if (length < 0) abort();
    path[length] = 0;
    // The folder itself counts, too.
    if (S_ISDIR(status.st_mode)) strcat(path, "/");
    if (!is_below(path)) path[0] = 0;
    if (path[0] && S_ISDIR(status.st_mode)) path[length] = 0;
}

static struct change *note(int kind, const char *path) {
    struct change *change = calloc(1, sizeof *change);
    if (!change) abort();
    change->kind = kind;
    change->path = strdup(path);
    change->before = changes;
    return changes = change;
}

/* Notes the bytes of a file that are about to change, and its size. */
static void note_bytes(int file, const char *path, off_t start, size_t length) {
    char link[64];
    struct change *change = note(BYTES, path);
    if (fstat(file, &change->file)) abort();
    for (struct change *each = change->before; each; each = each->before)
        if (each->kind == BYTES && each->file.st_ino == change->file.st_ino) change->descriptor = each->descriptor;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (!change->descriptor) change->descriptor = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDWR | O_CLOEXEC);
    off_t size = change->file.st_size;
    change->start = start;
    change->length = start >= size ? 0 : (off_t)length > size - start ? (size_t)(size - start) : length;
    if (!(change->bytes = malloc(change->length + 1))) abort();
    if (pread(change->descriptor, change->bytes, change->length, start) != (ssize_t)change->length) abort();
}

/* Gives a file that is about to lose its name another one. */
static char *keep(const char *path) {
    static int count;
    char kept[PATH_MAX];
    snprintf(kept, sizeof kept, "%.*s.lost.%d.%d", (int)strlen(folder) - 1, folder, getpid(), count++);
    return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, kept, 0) ? NULL : strdup(kept);
}

static void undo(const struct change *change) {
    const char *path = change->path;
    switch (change->kind) {
    case BYTES:
        if (syscall(SYS_pwrite64, change->descriptor, change->bytes, change->length, change->start)
                != (long)change->length || syscall(SYS_ftruncate, change->descriptor, change->file.st_size)) abort();
        return;
    case CREATED: case LINKED: syscall(SYS_unlinkat, AT_FDCWD, path, 0); return;
    case FOLDER: syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); return;
    case FOLDER_REMOVED: syscall(SYS_mkdirat, AT_FDCWD, path, 0700); return;
    case RENAMED: syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, change->old, 0); break;
    case REMOVED: break;
    }
    // Not if there is a later file of this name that lasts.
    if (change->kept) syscall(SYS_linkat, AT_FDCWD, change->kept, AT_FDCWD, path, 0);
}

/* Counts an operation, and ends the program if it was the last one. */
static void done(const char *name, const char *path) {
    if (control->count == MOST_OPERATIONS) abort();
    snprintf(control->operations[control->count], sizeof control->operations[0], "%s %s", name,
             path + (is_below(path) ? strlen(folder) : 0));
    if (++control->count != control->limit) return;
    for (struct change *change = changes; change; change = change->before)
        if (control->loses & (change->kind == BYTES ? LOSE_BYTES : LOSE_NAMES)) undo(change);
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

static bool is_in(const char *path, const char *parent) {
    size_t length = strlen(parent);
    return !strncmp(path, parent, length) && path[length] == '/' && !strchr(path + length + 1, '/');
}

static bool lasts(const struct change *change, const struct stat *file, const char *path) {
    size_t length = strlen(change->path);
    switch (change->kind) {
    case BYTES: return change->file.st_dev == file->st_dev && change->file.st_ino == file->st_ino;
    case FOLDER:
        if (!strncmp(path, change->path, length) && (!path[length] || path[length] == '/')) return true;
        break;
    case CREATED:
        if (!strcmp(path, change->path)) return true;
        break;
    default: break;
    }
    return S_ISDIR(file->st_mode) && is_in(change->path, path);
}

static int synced(int file, long call, const char *name) {
    char path[PATH_MAX];
    path_of(file, path);
    if (!path[0]) return (int)syscall(call, file);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(call, file);
    struct stat status;
    if (!result && !fstat(file, &status)) {
        for (struct change **place = &changes; *place;) {
            struct change *change = *place;
            if (!lasts(change, &status, path)) { place = &change->before; continue; }
            if (change->kept) syscall(SYS_unlinkat, AT_FDCWD, change->kept, 0);
            *place = change->before;
            free(change->bytes);
            free(change);
        }
    }
    done(name, path);
    pthread_mutex_unlock(&lock);
    return result;
}
int fsync(int file) { return synced(file, SYS_fsync, "fsync"); }
int fdatasync(int file) { return synced(file, SYS_fdatasync, "fdatasync"); }

/* What changes the bytes of a file. `expression` is the system call. */
#define CHANGE(name, type, file, start, length, expression)                                                           \
    char path[PATH_MAX];                                                                                              \
    path_of(file, path);                                                                                              \
    if (!path[0]) return (type)(expression);                                                                          \
    pthread_mutex_lock(&lock);                                                                                        \
    note_bytes(file, path, start, length);                                                                            \
    type result = (type)(expression);                                                                                 \
    int code = errno;                                                                                                 \
    done(name, path);                                                                                                 \
    pthread_mutex_unlock(&lock);                                                                                      \
    errno = code;                                                                                                     \
    return result

ssize_t write(int file, const void *bytes, size_t length) {
    CHANGE("write", ssize_t, file, lseek(file, 0, fcntl(file, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR), length,
           syscall(SYS_write, file, bytes, length));
}
ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t start) {
    CHANGE("pwrite", ssize_t, file, start, length, syscall(SYS_pwrite64, file, bytes, length, start));
}
ssize_t pwrite(int file, const void *bytes, size_t length, off_t start) { return pwrite64(file, bytes, length, start); }
int ftruncate64(int file, off64_t size) {
    CHANGE("ftruncate", int, file, size, SSIZE_MAX, syscall(SYS_ftruncate, file, size));
}
int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

static int opened(const char *path, int flags, mode_t mode) {
    if (!is_below(path) || !(flags & (O_CREAT | O_TRUNC))) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    struct stat status;
    pthread_mutex_lock(&lock);
    bool existed = !lstat(path, &status);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags & ~O_TRUNC, mode), code = errno;
    if (file >= 0 && !existed) {
        note(CREATED, path);
        done("create", path);
    } else if (file >= 0 && flags & O_TRUNC && status.st_size > 0) {
        note_bytes(file, path, 0, SSIZE_MAX);
        syscall(SYS_ftruncate, file, 0);
        done("truncate", path);
    }
    pthread_mutex_unlock(&lock);
    errno = code;
    return file;
}
#define OPEN(name)                                                                                                    \
    int name(const char *path, int flags, ...) {                                                                      \
        va_list list;                                                                                                 \
        va_start(list, flags);                                                                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                                       \
        va_end(list);                                                                                                 \
        return opened(path, flags, mode);                                                                             \
    }
OPEN(open)
OPEN(open64)
int mkstemp(char *template) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char random[6];
    for (int tries = 0; tries < 100; tries++) {
        if (getrandom(random, sizeof random, 0) != sizeof random) return -1;
        for (int place = 0; place < 6; place++)
            template[strlen(template) - 6 + (size_t)place] = letters[random[place] % 32];
        int file = opened(template, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

/* What changes names. `path` is the name that is new or removed. */
#define NAME(name, kind, path, former, kept_name, expression)                                                         \
    if (!is_below(path)) return (int)(expression);                                                                    \
    pthread_mutex_lock(&lock);                                                                                        \
    const char *away = kept_name;                                                                                     \
    char *kept = away ? keep(away) : NULL;                                                                            \
    int result = (int)(expression), code = errno;                                                                     \
    if (!result) {                                                                                                    \
        struct change *change = note(kind, path);                                                                     \
        change->old = former;                                                                                         \
        change->kept = kept;                                                                                          \
        done(name, path);                                                                                             \
    }                                                                                                                 \
    pthread_mutex_unlock(&lock);                                                                                      \
    errno = code;                                                                                                     \
    return result

int link(const char *old, const char *new) {
    NAME("link", LINKED, new, NULL, NULL, syscall(SYS_linkat, AT_FDCWD, old, AT_FDCWD, new, 0));
}
int rename(const char *old, const char *new) {
    NAME("rename", RENAMED, new, strdup(old), new, syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0));
}
int unlink(const char *path) { NAME("unlink", REMOVED, path, NULL, path, syscall(SYS_unlinkat, AT_FDCWD, path, 0)); }
int mkdir(const char *path, mode_t mode) {
    NAME("mkdir", FOLDER, path, NULL, NULL, syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
int rmdir(const char *path) {
    NAME("rmdir", FOLDER_REMOVED, path, NULL, NULL, syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (control && !result && clock == CLOCK_MONOTONIC) time->tv_sec += (time_t)control->seconds;
    return result;
}

/* A power cut just after the program ends. */
__attribute__((destructor)) static void leave(void) {
    if (!control) return;
    fflush(NULL);
    pthread_mutex_lock(&lock);
    done("exit", "");
    pthread_mutex_unlock(&lock);
}
