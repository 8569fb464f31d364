#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t count = write(file, bytes, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? -errno : -EIO;
        bytes += count;
        size -= (size_t)count;
    }
    return 0;
}

/* Returns an unnamed file that contains these bytes, positioned at its start. */
static int file_of(const void *bytes, size_t size) {
    int file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0) return -errno;
    int result = write_all(file, bytes, size);
    if (result == 0 && lseek(file, 0, SEEK_SET) != 0) result = -errno;
    if (result == 0) return file;
    close(file);
    return result;
}

static int start(const char *path, int input, int output, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0) return -result;
    result = posix_spawnattr_init(&attributes);
    if (result != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return -result;
    }
    char *arguments[] = {(char *)path, NULL}, *environment[] = {NULL};
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    result = posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (result == 0) result = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (result == 0) result = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (result == 0) result = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (result == 0) result = posix_spawn(child, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -result;
}

static int wait_for(int descriptor, int64_t deadline) {
    for (;;) {
        int64_t left = deadline - milliseconds_now();
        struct pollfd waiting = {.fd = descriptor, .events = POLLIN};
        int count = poll(&waiting, 1, left > 0 ? (int)left : 0);
        if (count > 0) return 0;
        if (count == 0) return -ETIMEDOUT;
        if (errno != EINTR) return -errno;
    }
}

static ssize_t read_all(int output, char *bytes, size_t room, int64_t deadline) {
    size_t total = 0;
    for (;;) {
        int result = wait_for(output, deadline);
        if (result < 0) return result;
        char more;
        ssize_t count = total < room ? read(output, bytes + total, room - total) : read(output, &more, 1);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        if (count == 0) return (ssize_t)total;
        if (total == room) return -EFBIG;
        total += (size_t)count;
    }
}

ssize_t clinux_filter(
    const char *path, const void *input, size_t size, void *output, size_t room, int milliseconds
) {
    int64_t deadline = milliseconds_now() + milliseconds;
    int file = file_of(input, size), ends[2];
    if (file < 0) return file;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        int reason = errno;
        close(file);
        return -reason;
    }
    pid_t child;
    int started = start(path, file, ends[1], &child);
    close(file);
    close(ends[1]);
    if (started < 0) {
        close(ends[0]);
        return started;
    }
    ssize_t result = read_all(ends[0], output, room, deadline);
    close(ends[0]);
    /* The child may close its output before it ends. */
    int process = clinux_pidfd_open(child);
    if (result >= 0 && process >= 0 && wait_for(process, deadline) < 0) result = -ETIMEDOUT;
    if (process >= 0) close(process);
    /* The child is not reaped yet, so its pid is not reused. Killing a child that has ended has no effect. */
    if (result < 0 || process < 0) kill(child, SIGKILL);
    int status = 0;
    pid_t gone;
    do gone = waitpid(child, &status, 0);
    while (gone < 0 && errno == EINTR);
    if (result < 0) return result;
    return gone == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? result : -ECHILD;
}
