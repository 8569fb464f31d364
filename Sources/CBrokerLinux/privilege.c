#define _GNU_SOURCE
#include "privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool clinux_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

static void unblock_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int clinux_begin_anew(const char *name) {
    if (prctl(PR_SET_NAME, name, 0, 0, 0) < 0) return -errno;
    for (int standard = 0; standard < 3; standard++) {
        if (fcntl(standard, F_GETFD) >= 0) continue;
        // open returns the lowest free number, which is this one.
        int opened = open("/dev/null", O_RDWR);
        if (opened < 0) return -errno;
        if (opened != standard) return -EBADF;
    }
    if (close_range(3, ~0U, 0) < 0) return -errno;
    unblock_signals();
    // If SIGCHLD were ignored, a child's exit status would be lost.
    signal(SIGCHLD, SIG_DFL);
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) < 0) return -errno;
    umask(077);
    return 0;
}

int clinux_hide(void) {
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return -errno;
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : -EPERM;
}

int clinux_drop_group(void) {
    gid_t real, effective, saved;
    if (getresgid(&real, &effective, &saved) < 0) return -errno;
    gid_t given = effective;
    if (setresgid(real, real, real) < 0) return -errno;
    // A change of the group resets the dumpable flag to fs.suid_dumpable.
    int code = clinux_hide();
    if (code < 0) return code;
    if (getresgid(&real, &effective, &saved) < 0) return -errno;
    if (effective != real || saved != real) return -EPERM;
    // With -1, which is not a valid group, setfsgid(2) changes nothing and returns the current group.
    if ((gid_t)setfsgid((gid_t)-1) != real) return -EPERM;
    if (given != real && geteuid() != 0 && setegid(given) == 0) return -EPERM;
    return 0;
}

int clinux_own_path(char *path, size_t size) {
    ssize_t count = readlink("/proc/self/exe", path, size);
    if (count < 0) return -errno;
    if ((size_t)count >= size) return -ENAMETOOLONG;
    path[count] = 0;
    return 0;
}

// The group bits also limit an access control list.
static bool is_only_roots(const struct stat *found) { return found->st_uid == 0 && (found->st_mode & 022) == 0; }

// Whether the path names a setgid file that only root can have installed there. Until execve, only root can
// replace it.
static bool is_installed(const char *path) {
    struct stat found;
    char folder[PATH_MAX];
    if (path[0] != '/' || strlen(path) >= sizeof folder) return false;
    if (lstat(path, &found) < 0 || !S_ISREG(found.st_mode) || !is_only_roots(&found)) return false;
    if ((found.st_mode & S_ISGID) == 0) return false;
    strcpy(folder, path);
    for (char *slash = strrchr(folder, '/'); slash != NULL; slash = strrchr(folder, '/')) {
        *slash = 0;
        if (lstat(slash == folder ? "/" : folder, &found) < 0) return false;
        if (!S_ISDIR(found.st_mode) || !is_only_roots(&found)) return false;
    }
    return true;
}

int clinux_start_anew(const char *path, char *const arguments[], char *const environment[]) {
    if (is_installed(path)) execve(path, arguments, environment);
    execve("/proc/self/exe", arguments, environment);
    return -errno;
}

// Between fork and execve only functions of signal-safety(7) may be called.
static void become(
    const char *path, char *const arguments[], char *const environment[], int told, pid_t parent
) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    unblock_signals();
    // If the parent is killed, the child must end too, so that its prompt disappears.
    if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0 || getppid() != parent) _exit(127);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0) _exit(127);
    for (int standard = 0; standard < 3; standard++) {
        if (dup2(nothing, standard) < 0) _exit(127);
    }
    // dup2 from 3 to 3 would keep the close-on-exec flag.
    if (told == 3 && fcntl(told, F_SETFD, 0) < 0) _exit(127);
    if (told > 3 && dup2(told, 3) < 0) _exit(127);
    if (close_range(told < 0 ? 3 : 4, ~0U, 0) < 0) _exit(127);
    execve(path, arguments, environment);
    _exit(127);
}

int clinux_start(const char *path, char *const arguments[], char *const environment[], int told, pid_t *child) {
    pid_t parent = getpid();
    pid_t born = fork();
    if (born < 0) return -errno;
    if (born == 0) become(path, arguments, environment, told, parent);
    *child = born;
    return 0;
}

int clinux_has_child_ended(pid_t child) {
    int status;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended < 0) return errno == ECHILD ? 1 : -errno;
    return ended == child;
}

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0; }
