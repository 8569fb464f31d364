#define _GNU_SOURCE
#include "csqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* SQLite hands over a page of the write-ahead log in two writes, and thirty pages of a small commit in sixty. What follows
 * one another is kept here and written at once.
 *
 * Why it is sound. A write that is kept is given to the file before anything else is done with the file by this
 * connection: a read of those bytes, a sync, a change of its length, its size, its end. Others see frames of the log
 * only up to the count in the shared index, which SQLite raises after the sync where it syncs each commit; the registered
 * name says that this is so, and is for such connections alone. A crash loses what is kept as it loses what the page
 * cache has: none of it was synced, and the log's checksums end where the bytes do.
 *
 * An error comes later than the write that it is about. At a sync SQLite then takes the whole transaction back, so
 * what is kept is worth nothing and goes. At any other time it stays, since earlier statements may have written it and
 * SQLite may take back only the last one. */

struct gathered_log {
    sqlite3_file file;
    sqlite3_file *real;
    unsigned char *bytes;
    int capacity;
    /* Kept are `count` bytes that belong at `start`; the first write of them had `first`. */
    int count;
    int first;
    sqlite3_int64 start;
    /* Where the last write ended. */
    sqlite3_int64 end;
    /* The same file, for what SQLite's layer has no name for; -1 where it could not be had. SQLite locks other files, so that
     * to close it lets go of no lock. */
    int own;
    /* When it was synced last. */
    struct timespec synced;
};

/* The header of the log has 32 bytes, that of a frame 24, and a page 512 at least, 65,536 at most. */
enum { MOST_HEADER = 32, MOST_PAGE = 65536, MOST_KEPT = 4 * MOST_PAGE };

static struct gathered_log *log_of(sqlite3_file *file) { return (struct gathered_log *)file; }

static void forget(struct gathered_log *log) { log->count = 0; }

static void give_back(struct gathered_log *log) {
    sqlite3_free(log->bytes);
    log->bytes = NULL;
    log->capacity = 0;
}

static int write_kept(struct gathered_log *log) {
    for (int written = 0; written < log->count;) {
        /* SQLite's own layer takes less than 131,072 bytes at a time. */
        int amount = log->count - written < MOST_PAGE ? log->count - written : MOST_PAGE;
        int code = log->real->pMethods->xWrite(log->real, log->bytes + written, amount, log->start + written);
        if (code != SQLITE_OK) return code;
        written += amount;
    }
    forget(log);
    return SQLITE_OK;
}

static int has_room(struct gathered_log *log, int amount) {
    int needed = log->count + amount;
    if (needed <= log->capacity) return 1;
    int capacity = log->capacity > 0 ? log->capacity : MOST_PAGE;
    while (capacity < needed) capacity *= 2;
    unsigned char *bytes = sqlite3_realloc(log->bytes, capacity);
    if (!bytes) return 0;
    log->bytes = bytes;
    log->capacity = capacity;
    return 1;
}

static int log_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset) {
    struct gathered_log *log = log_of(file);
    log->end = offset + amount;
    /* A header where the kept ones begin: SQLite has taken them back, and none of them counts any more. Before it changes a
     * header that counts it reads it. */
    if (log->count > 0 && offset == log->start && amount == log->first && amount <= MOST_HEADER) forget(log);
    /* A frame stays in one piece, so that what is kept begins with a header wherever SQLite appends. */
    int is_full = log->count + amount > MOST_KEPT || (amount <= MOST_HEADER && log->count + MOST_PAGE > MOST_KEPT);
    if (log->count > 0 && (offset != log->start + log->count || is_full)) {
        int code = write_kept(log);
        if (code != SQLITE_OK) return code;
    }
    if (amount > MOST_PAGE || !has_room(log, amount)) {
        int code = write_kept(log);
        return code != SQLITE_OK ? code : log->real->pMethods->xWrite(log->real, bytes, amount, offset);
    }
    if (log->count == 0) {
        log->start = offset;
        log->first = amount;
    }
    memcpy(log->bytes + log->count, bytes, (size_t)amount);
    log->count += amount;
    return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *bytes, int amount, sqlite3_int64 offset) {
    struct gathered_log *log = log_of(file);
    /* What ends before the kept bytes is in the file. */
    if (log->count > 0 && offset + amount > log->start) {
        int code = write_kept(log);
        if (code != SQLITE_OK) return code;
    }
    return log->real->pMethods->xRead(log->real, bytes, amount, offset);
}

static int log_sync(sqlite3_file *file, int flags) {
    struct gathered_log *log = log_of(file);
    int code = write_kept(log);
    forget(log);
    if (code == SQLITE_OK) code = log->real->pMethods->xSync(log->real, flags);
    clock_gettime(CLOCK_MONOTONIC, &log->synced);
    return code;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
    struct gathered_log *log = log_of(file);
    /* The log is emptied where nobody saves for a while. */
    int code = write_kept(log);
    if (code != SQLITE_OK) return code;
    give_back(log);
    if (log->end > size) log->end = size;
    return log->real->pMethods->xTruncate(log->real, size);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
    struct gathered_log *log = log_of(file);
    int code = write_kept(log);
    return code != SQLITE_OK ? code : log->real->pMethods->xFileSize(log->real, size);
}

static int log_close(sqlite3_file *file) {
    struct gathered_log *log = log_of(file);
    /* What was never synced was never promised. */
    (void)write_kept(log);
    give_back(log);
    if (log->own >= 0) close(log->own);
    return log->real->pMethods->xClose(log->real);
}

static int log_lock(sqlite3_file *file, int level) {
    sqlite3_file *real = log_of(file)->real;
    return real->pMethods->xLock(real, level);
}

static int log_unlock(sqlite3_file *file, int level) {
    sqlite3_file *real = log_of(file)->real;
    return real->pMethods->xUnlock(real, level);
}

static int log_is_reserved(sqlite3_file *file, int *answer) {
    sqlite3_file *real = log_of(file)->real;
    return real->pMethods->xCheckReservedLock(real, answer);
}

static int log_control(sqlite3_file *file, int operation, void *argument) {
    struct gathered_log *log = log_of(file);
    int code = write_kept(log);
    return code != SQLITE_OK ? code : log->real->pMethods->xFileControl(log->real, operation, argument);
}

static int log_sector_size(sqlite3_file *file) {
    sqlite3_file *real = log_of(file)->real;
    return real->pMethods->xSectorSize(real);
}

static int log_device(sqlite3_file *file) {
    sqlite3_file *real = log_of(file)->real;
    return real->pMethods->xDeviceCharacteristics(real);
}

/* Of the first version: a log is neither shared memory nor mapped. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_device,
};

/* NULL where it is none of ours. */
static struct gathered_log *log_of_connection(sqlite3 *connection) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK) return NULL;
    return file && file->pMethods == &methods ? log_of(file) : NULL;
}

long long csqlite_log_end(sqlite3 *connection) {
    struct gathered_log *log = log_of_connection(connection);
    return log ? log->end : -1;
}

/* A disk that had nothing to do for a while takes some 0.3 ms to begin, and a transaction that long to be worked out. So it
 * is given something to begin with: the last byte of the log, as it is. The caller keeps everybody else from writing, so nobody
 * changes that byte meanwhile; its page is written as it was, as happens to the page before each frame. */
void csqlite_stir_log(sqlite3 *connection) {
    enum { RESTED = 4000000, PAGE = 4096 };
    struct gathered_log *log = log_of_connection(connection);
    if (!log) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long rest = (now.tv_sec - log->synced.tv_sec) * 1000000000LL + now.tv_nsec - log->synced.tv_nsec;
    struct stat status;
    if (rest < RESTED || log->own < 0 || log->count > 0 || fstat(log->own, &status) != 0) return;
    off_t last = status.st_size - 1;
    char byte;
    /* Where it fails nothing was lost but that moment: whatever is wrong with the file the transaction finds out. */
    if (last < 0 || pread(log->own, &byte, 1, last) != 1 || pwrite(log->own, &byte, 1, last) != 1) return;
    (void)sync_file_range(log->own, last / PAGE * PAGE, PAGE, SYNC_FILE_RANGE_WRITE);
}

/* Behind it there is room for the real file. */
enum { LOG_SIZE = (sizeof(struct gathered_log) + 15) / 16 * 16 };

static sqlite3_vfs *base_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *given) {
    sqlite3_vfs *base = base_of(vfs);
    if (!(flags & SQLITE_OPEN_WAL)) return base->xOpen(base, name, file, flags, given);
    struct gathered_log *log = log_of(file);
    memset(log, 0, sizeof *log);
    log->real = (sqlite3_file *)((char *)file + LOG_SIZE);
    log->own = -1;
    int code = base->xOpen(base, name, log->real, flags, given);
    /* A file without methods is not closed. */
    if (!log->real->pMethods) return code;
    log->file.pMethods = &methods;
    if (code == SQLITE_OK && name) log->own = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    return code;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int syncs) {
    return base_of(vfs)->xDelete(base_of(vfs), name, syncs);
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *answer) {
    return base_of(vfs)->xAccess(base_of(vfs), name, flags, answer);
}

static int full_name(sqlite3_vfs *vfs, const char *name, int size, char *full) {
    return base_of(vfs)->xFullPathname(base_of(vfs), name, size, full);
}

static int randomness(sqlite3_vfs *vfs, int size, char *bytes) {
    return base_of(vfs)->xRandomness(base_of(vfs), size, bytes);
}

static int wait_for(sqlite3_vfs *vfs, int microseconds) { return base_of(vfs)->xSleep(base_of(vfs), microseconds); }

static int time_of_day(sqlite3_vfs *vfs, double *time) { return base_of(vfs)->xCurrentTime(base_of(vfs), time); }

static int exact_time(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    return base_of(vfs)->xCurrentTimeInt64(base_of(vfs), time);
}

static int last_error(sqlite3_vfs *vfs, int size, char *text) {
    return base_of(vfs)->xGetLastError(base_of(vfs), size, text);
}

int csqlite_register_gathering(void) {
    /* Kept for as long as the process lives, as SQLite wants it. */
    static sqlite3_vfs vfs;
    sqlite3_vfs *base = sqlite3_vfs_find("unix");
    if (!base || base->iVersion < 2) return SQLITE_ERROR;
    if (sqlite3_vfs_find(CSQLITE_GATHERING)) return SQLITE_OK;
    vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = LOG_SIZE + base->szOsFile,
        .mxPathname = base->mxPathname,
        .zName = CSQLITE_GATHERING,
        .pAppData = base,
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = access_file,
        .xFullPathname = full_name,
        .xRandomness = randomness,
        .xSleep = wait_for,
        .xCurrentTime = time_of_day,
        .xGetLastError = last_error,
        .xCurrentTimeInt64 = exact_time,
    };
    return sqlite3_vfs_register(&vfs, 0);
}
