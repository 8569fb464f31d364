#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "worker.h"

/* The maximum number of descriptors read from a message. If a message has more, the kernel drops the others,
   and the message is rejected. */
#define DESCRIPTORS 4

int identify_listen(const char *path)
{
    struct sockaddr_un address;
    int result = clinux_address(path, &address);
    if (result < 0) return result;
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0) return -errno;
    /* bind(2) gives the file the socket's own mode minus the umask. */
    if (fchmod(listener, 0600) != 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0
        || listen(listener, 128) != 0) {
        result = -errno;
        close(listener);
        return result;
    }
    return listener;
}

int identify_is_listener(int descriptor)
{
    return clinux_is_listening(descriptor, SOCK_SEQPACKET) && fcntl(descriptor, F_SETFL, 0) == 0
        && clinux_set_close_on_exec(descriptor) == 0;
}

int64_t identify_owner(int listener)
{
    struct sockaddr_un address;
    char path[sizeof address.sun_path + 1] = "";
    socklen_t size = sizeof address;
    struct stat status;
    memset(&address, 0, sizeof address);
    if (getsockname(listener, (struct sockaddr *)&address, &size) != 0) return -errno;
    memcpy(path, address.sun_path, sizeof address.sun_path);
    if (path[0] != '/') return -ENOENT;
    if (lstat(path, &status) != 0) return -errno;
    return S_ISSOCK(status.st_mode) ? (int64_t)status.st_uid : -ENOTSOCK;
}

int identify_accept(int listener, uint32_t uid)
{
    for (;;) {
        int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (connection < 0) return -errno;
        struct clinux_credentials peer;
        if (clinux_peer_credentials(connection, &peer) == 0 && peer.uid == uid) return connection;
        close(connection);
    }
}

int identify_receive(int connection, struct identify_request *request, int *pidfd)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
    } control;
    /* One byte more than a request, so that a longer message is noticed. */
    struct {
        struct identify_request request;
        char more;
    } buffer;
    struct iovec place = { .iov_base = &buffer, .iov_len = sizeof buffer.request + 1 };
    struct msghdr message = {
        .msg_iov = &place, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes,
    };
    ssize_t size = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    if (size < 0) return -EBADMSG;
    int received[DESCRIPTORS], count = 0, is_request = 1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
            is_request = 0;
            continue;
        }
        size_t bytes = header->cmsg_len - CMSG_LEN(0);
        for (size_t offset = 0; offset + sizeof(int) <= bytes && count < DESCRIPTORS; offset += sizeof(int))
            memcpy(&received[count++], CMSG_DATA(header) + offset, sizeof(int));
    }
    if (is_request && count == 1 && size == (ssize_t)sizeof buffer.request
        && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) && buffer.request.magic == IDENTIFY_MAGIC
        && buffer.request.reserved == 0
        && (buffer.request.wants & ~(IDENTIFY_WANTS_DIGEST | IDENTIFY_WANTS_EXECUTABLE_ONLY)) == 0) {
        *request = buffer.request;
        *pidfd = received[0];
        return 0;
    }
    while (count > 0) close(received[--count]);
    return -EBADMSG;
}

/* The broker's side of the channel. */

static int connect_to(const char *path, int milliseconds)
{
    struct sockaddr_un address;
    int result = clinux_address(path, &address);
    if (result < 0) return result;
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connection < 0) return -errno;
    /* SO_SNDTIMEO limits how long connect(2) waits for room in the backlog, and SO_RCVTIMEO how long recv(2) waits.
       On timeout both fail with EAGAIN. */
    struct timeval timeout = { .tv_sec = milliseconds / 1000, .tv_usec = (milliseconds % 1000) * 1000 };
    if (setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0
        || setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0)
        result = -errno;
    /* Root or the broker's own user must listen: the helper, or systemd on its behalf. */
    struct clinux_credentials peer;
    if (result == 0 && connect(connection, (struct sockaddr *)&address, sizeof address) != 0) result = -errno;
    if (result == 0) result = clinux_peer_credentials(connection, &peer);
    if (result == 0 && peer.uid != 0 && peer.uid != geteuid()) result = -EACCES;
    if (result == 0) return connection;
    close(connection);
    return result;
}

static int is_whole(const struct identify_answer *answer)
{
    const struct identify_inspection *inspection = &answer->inspection;
    return answer->magic == IDENTIFY_MAGIC && answer->outcome <= IDENTIFY_FAILED && inspection->path_size < IDENTIFY_PATH_SIZE
        && inspection->digest >= IDENTIFY_DIGEST_NONE && inspection->digest <= IDENTIFY_DIGEST_UNREADABLE
        && inspection->place >= IDENTIFY_PLACE_NONE && inspection->place <= IDENTIFY_PLACE_SAME_AND_ROOTS
        && memchr(inspection->app, 0, sizeof inspection->app) && memchr(inspection->instance, 0, sizeof inspection->instance);
}

static int send_request(int connection, const struct identify_request *request, int pidfd)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec place = { .iov_base = (void *)request, .iov_len = sizeof *request };
    struct msghdr message = {
        .msg_iov = &place, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes,
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &pidfd, sizeof pidfd);
    if (sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof *request) return -errno;
    return 0;
}

static int receive_answer(int connection, struct identify_answer *answer)
{
    ssize_t size;
    do size = recv(connection, answer, sizeof *answer, MSG_TRUNC);
    while (size < 0 && errno == EINTR);
    if (size < 0) return errno == EAGAIN ? -ETIMEDOUT : -errno;
    if (size == 0) return -ECONNRESET;
    return size == (ssize_t)sizeof *answer && is_whole(answer) ? 0 : -EBADMSG;
}

int identify_ask(const char *path, const struct identify_request *request, int pidfd, int milliseconds,
    struct identify_answer *answer)
{
    int connection = connect_to(path, milliseconds);
    if (connection < 0) return connection;
    int result = send_request(connection, request, pidfd);
    if (result == 0) result = receive_answer(connection, answer);
    close(connection);
    return result;
}
