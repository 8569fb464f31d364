#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "CTestCaller.h"

int test_identify_connect(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) return -EINVAL;
    strcpy(address.sun_path, path);
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connection < 0) return -errno;
    if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0) return connection;
    int result = -errno;
    close(connection);
    return result;
}

int test_identify_say(
    const char *path, const void *bytes, size_t size, const int *descriptors, size_t count, uint32_t *outcome)
{
    if (count > 16) return -EINVAL;
    int connection = test_identify_connect(path);
    if (connection < 0) return connection;
    int result = 0;
    char control[CMSG_SPACE(16 * sizeof(int))] = { 0 };
    struct iovec place = { .iov_base = (void *)bytes, .iov_len = size };
    struct msghdr message = { .msg_iov = &place, .msg_iovlen = 1 };
    if (count > 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
    }
    /* If the helper closes the connection first, the error depends on the moment. */
    if (sendmsg(connection, &message, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET
        && errno != ECONNREFUSED)
        result = -errno;
    if (result == 0) {
        struct pollfd waiting = { .fd = connection, .events = POLLIN };
        uint32_t answer[2048];
        if (poll(&waiting, 1, 10000) <= 0) result = -ETIMEDOUT;
        else if (recv(connection, answer, sizeof answer, 0) >= 8) {
            *outcome = answer[1];
            result = 1;
        }
    }
    close(connection);
    return result;
}

/* Answers INIT and GETATTR of the root, never LOOKUP and STATFS, and everything else with ENOSYS. */
static void serve(int device)
{
    static char request[1 << 20];
    for (;;) {
        ssize_t size = read(device, request, sizeof request);
        if (size < 0 && errno == EINTR) continue;
        if (size < (ssize_t)sizeof(struct fuse_in_header)) _exit(0);
        struct fuse_in_header header;
        memcpy(&header, request, sizeof header);
        struct {
            struct fuse_out_header header;
            union {
                struct fuse_init_out init;
                struct fuse_attr_out attributes;
            } body;
        } answer;
        memset(&answer, 0, sizeof answer);
        answer.header.unique = header.unique;
        answer.header.len = sizeof answer.header;
        switch (header.opcode) {
        case FUSE_INIT:
            answer.body.init.major = FUSE_KERNEL_VERSION;
            answer.body.init.minor = FUSE_KERNEL_MINOR_VERSION;
            answer.body.init.max_write = 4096;
            answer.header.len += sizeof answer.body.init;
            break;
        case FUSE_GETATTR:
            answer.body.attributes.attr_valid = 3600;
            answer.body.attributes.attr.ino = 1;
            answer.body.attributes.attr.mode = 0040755;
            answer.body.attributes.attr.nlink = 2;
            answer.header.len += sizeof answer.body.attributes;
            break;
        case FUSE_LOOKUP:
        case FUSE_STATFS: continue;
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET: continue;
        default: answer.header.error = -ENOSYS; break;
        }
        if (write(device, &answer, answer.header.len) < 0 && errno == ENODEV) _exit(0);
    }
}

int test_hanging_mount(const char *folder)
{
    char options[128];
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0) return -errno;
    snprintf(options, sizeof options, "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", device);
    if (mount("hanging", folder, "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
        int reason = errno;
        close(device);
        return -reason;
    }
    pid_t server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(device);
    }
    int reason = errno;
    close(device);
    return server < 0 ? -reason : server;
}
