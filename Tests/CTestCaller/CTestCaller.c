#define _GNU_SOURCE
#include "CTestCaller.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int address_of(const char *path, struct sockaddr_un *address)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) return -ENAMETOOLONG;
    strcpy(address->sun_path, path);
    return 0;
}

int test_caller_listen(const char *path)
{
    struct sockaddr_un address;
    if (address_of(path, &address) != 0) return -ENAMETOOLONG;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return -errno;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0777) != 0
        || listen(listener, 16) != 0) {
        int reason = errno;
        close(listener);
        return -reason;
    }
    return listener;
}

/* Reports the error to the starter, and ends the process. */
static void fail(int report)
{
    int reason = errno;
    ssize_t ignored = write(report, &reason, sizeof reason);
    (void)ignored;
    _exit(127);
}

/* After fork in a process with threads: system calls only. */
static void become(const struct test_caller_plan *plan, const struct sockaddr_un *address, int report)
{
    if (plan->joins) {
        int file = open(plan->joins, O_WRONLY | O_CLOEXEC);
        if (file < 0 || write(file, "0", 1) != 1) fail(report);
        close(file);
    }
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) fail(report);
    /* Only root may change the root directory. The kernel reports the effective user as the peer's. */
    uid_t uid = (uid_t)plan->uid;
    int returns = plan->uid >= 0 && plan->root;
    if (plan->uid >= 0
        && (setgroups(0, NULL) != 0 || setresgid((gid_t)plan->uid, (gid_t)plan->uid, (gid_t)plan->uid) != 0
            || setresuid(uid, uid, returns ? 0 : uid) != 0))
        fail(report);
    if (connect(connection, (const struct sockaddr *)address, sizeof *address) != 0) fail(report);
    if (returns && setresuid(0, 0, 0) != 0) fail(report);
    int namespaces = (plan->own_mount_namespace ? CLONE_NEWNS : 0) | (plan->own_user_namespace ? CLONE_NEWUSER : 0);
    if (namespaces && unshare(namespaces) != 0) fail(report);
    if (plan->root && (chroot(plan->root) != 0 || chdir("/") != 0)) fail(report);
    if (returns && setresuid(uid, uid, uid) != 0) fail(report);
    if (dup2(connection, 0) < 0 || dup2(connection, 1) < 0) fail(report);
    if (plan->in_memory) {
        int program = open(plan->arguments[0], O_RDONLY | O_CLOEXEC), copy = memfd_create("program", MFD_CLOEXEC);
        struct stat status;
        if (program < 0 || copy < 0 || fstat(program, &status) != 0) fail(report);
        while (status.st_size > 0) {
            ssize_t count = sendfile(copy, program, NULL, (size_t)status.st_size);
            if (count <= 0) fail(report);
            status.st_size -= count;
        }
        fexecve(copy, plan->arguments, environ);
        fail(report);
    }
    if (plan->arguments) {
        execve(plan->arguments[0], plan->arguments, environ);
        fail(report);
    }
    /* Closes all inherited descriptors: another test may wait until they are closed. */
    close_range(3, ~0U, 0);
    char byte;
    while (read(0, &byte, 1) > 0) {}
    _exit(0);
}

/* fork(2), with the given PID if it is not 0. */
static pid_t start_numbered(pid_t number)
{
    if (number == 0) return fork();
    /* The kernel assigns increasing PIDs, so no other process gets the PID of one that has just ended. */
    struct clone_args arguments = {
        .exit_signal = SIGCHLD,
        .set_tid = (uintptr_t)&number,
        .set_tid_size = 1,
    };
    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

int test_caller_start(const struct test_caller_plan *plan, int *terminal)
{
    struct sockaddr_un address;
    char terminal_name[64] = "";
    int report[2];
    *terminal = -1;
    if (address_of(plan->socket_path, &address) != 0) return -ENAMETOOLONG;
    if (plan->on_terminal) {
        *terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (*terminal < 0) return -errno;
        if (grantpt(*terminal) != 0 || unlockpt(*terminal) != 0
            || ptsname_r(*terminal, terminal_name, sizeof terminal_name) != 0)
            return -errno;
    }
    if (pipe2(report, O_CLOEXEC) != 0) return -errno;
    pid_t pid = start_numbered(plan->number);
    if (pid < 0) {
        int reason = errno;
        close(report[0]);
        close(report[1]);
        return -reason;
    }
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (plan->on_terminal) {
            /* The first terminal that a session leader opens becomes its controlling terminal. */
            if (setsid() < 0 || open(terminal_name, O_RDWR | O_CLOEXEC) < 0) fail(report[1]);
            if (plan->on_terminal == 2) {
                pid_t child = fork();
                if (child < 0) fail(report[1]);
                if (child > 0) {
                    close_range(3, ~0U, 0);
                    waitpid(child, NULL, 0);
                    _exit(0);
                }
            }
        }
        become(plan, &address, report[1]);
    }
    close(report[1]);
    int reason = 0;
    ssize_t count;
    do count = read(report[0], &reason, sizeof reason);
    while (count < 0 && errno == EINTR);
    close(report[0]);
    if (count == 0) return pid;
    waitpid(pid, NULL, 0);
    return count == (ssize_t)sizeof reason ? -reason : -EIO;
}

int test_caller_wait(int pid, int keep)
{
    siginfo_t information;
    int result;
    do result = waitid(P_PID, (id_t)pid, &information, WEXITED | (keep ? WNOWAIT : 0));
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : -errno;
}
