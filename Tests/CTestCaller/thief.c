#define _GNU_SOURCE
#include "thief.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/* Waits for a child that ends with an errno as its status; 0 is done. */
static int reap(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -errno;
    if (!WIFEXITED(status)) return -ECHILD;
    return WEXITSTATUS(status) ? -WEXITSTATUS(status) : pid;
}

/* A copy of another process's descriptor, or -errno. Only system calls, so a child may call it after fork. */
static int copy_descriptor(pid_t owner, int descriptor)
{
    int pidfd = (int)syscall(SYS_pidfd_open, owner, 0);
    if (pidfd < 0) return -errno;
    int copy = (int)syscall(SYS_pidfd_getfd, pidfd, descriptor, 0);
    int result = copy < 0 ? -errno : copy;
    close(pidfd);
    return result;
}

int test_thief_write(int descriptor, enum test_theft how, const void *bytes, size_t length)
{
    pid_t owner = getpid();
    pid_t pid = fork();
    if (pid < 0) return -errno;
    if (pid > 0) return reap(pid);
    /* After fork in a process with threads: system calls only. */
    if (how == TEST_STOLEN) {
        if (close(descriptor) != 0) _exit(errno);
        descriptor = copy_descriptor(owner, descriptor);
        if (descriptor < 0) _exit(-descriptor);
    }
    ssize_t count = send(descriptor, bytes, length, MSG_NOSIGNAL);
    _exit(count < 0 ? errno : count == (ssize_t)length ? 0 : EIO);
}

int test_turncoat(const char *path, uint32_t uid, const void *bytes, size_t length, uint32_t *received)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int report[2];
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    if (pipe(report) != 0) return -errno;
    pid_t pid = fork();
    if (pid == 0) {
        char buffer[4096];
        uint32_t sum = 0;
        ssize_t count;
        int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) != 0) _exit(errno);
        /* Not setresuid(3): glibc's would change all threads of the parent. */
        if (syscall(SYS_setresuid, uid, uid, uid) != 0) _exit(errno);
        if (send(connection, bytes, length, MSG_NOSIGNAL) != (ssize_t)length) _exit(EIO);
        while ((count = recv(connection, buffer, sizeof buffer, 0)) > 0) sum += (uint32_t)count;
        _exit(write(report[1], &sum, sizeof sum) == sizeof sum ? 0 : EIO);
    }
    int result = pid < 0 ? -errno : reap(pid);
    close(report[1]);
    if (result > 0 && read(report[0], received, sizeof *received) != sizeof *received) result = -EIO;
    close(report[0]);
    return result;
}

int test_send_descriptors(int socket, const void *bytes, size_t length, int descriptor, int count, int flags)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(250 * sizeof(int))];
    } control;
    if (count < 1 || count > 250) return -EINVAL;
    memset(&control, 0, sizeof control);
    struct iovec place = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr message = {
        .msg_iov = &place,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int)),
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
    for (int index = 0; index < count; index++)
        memcpy(CMSG_DATA(header) + (size_t)index * sizeof(int), &descriptor, sizeof descriptor);
    ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    if (sent < 0) return -errno;
    return sent == (ssize_t)length ? 0 : -EIO;
}

int test_shut_down_listener(int pid, int descriptor)
{
    int is_listening = 0, result = 0;
    socklen_t size = sizeof is_listening;
    int copy = copy_descriptor(pid, descriptor);
    if (copy < 0) return copy;
    if (getsockopt(copy, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0 || !is_listening)
        result = -EINVAL;
    else if (shutdown(copy, SHUT_RDWR) != 0)
        result = -errno;
    close(copy);
    return result;
}

int test_lingering_socket(int seconds)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *any = (struct sockaddr *)&address;
    struct linger linger = {.l_onoff = 1, .l_linger = seconds};
    socklen_t size = sizeof address;
    static const char bytes[65536];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* The peer is never accepted, and nobody closes its listener, so the bytes stay unread. */
    if (listener < 0 || sender < 0 || bind(listener, any, size) < 0 || listen(listener, 1) < 0
        || getsockname(listener, any, &size) < 0 || connect(sender, any, size) < 0
        || setsockopt(sender, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) < 0)
        return -errno;
    while (send(sender, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        continue;
    return sender;
}
