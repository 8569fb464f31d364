#define _GNU_SOURCE
#include "event.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The headers of Debian 12 do not define this. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

int clinux_epoll(void) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll < 0 ? -errno : epoll;
}

int64_t clinux_uptime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int control(int epoll, int operation, int descriptor, uint32_t readiness, uint64_t token) {
    struct epoll_event event = {
        .events = (readiness & CLINUX_READABLE ? EPOLLIN : 0u) | (readiness & CLINUX_WRITABLE ? EPOLLOUT : 0u),
        .data.u64 = token,
    };
    return epoll_ctl(epoll, operation, descriptor, &event) < 0 ? -errno : 0;
}

int clinux_epoll_add(int epoll, int descriptor, uint32_t readiness, uint64_t token) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, readiness, token);
}

int clinux_epoll_change(int epoll, int descriptor, uint32_t readiness, uint64_t token) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, readiness, token);
}

int clinux_epoll_remove(int epoll, int descriptor) {
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL) < 0 ? -errno : 0;
}

static int wait_precisely(int epoll, struct epoll_event *events, int64_t nanoseconds) {
    if (nanoseconds <= 0) return epoll_wait(epoll, events, CLINUX_MOST_EVENTS, nanoseconds < 0 ? -1 : 0);
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int count = epoll_pwait2(epoll, events, CLINUX_MOST_EVENTS, &time, NULL);
    if (count >= 0 || errno != ENOSYS) return count;
    /* Linux before 5.11 lacks epoll_pwait2. This then waits for whole milliseconds, rounded up, and at most a day. */
    int64_t milliseconds = nanoseconds / 1000000 + 1;
    return epoll_wait(epoll, events, CLINUX_MOST_EVENTS, milliseconds > 86400000 ? 86400000 : (int)milliseconds);
}

int clinux_epoll_wait(int epoll, struct clinux_event *events, int64_t nanoseconds) {
    struct epoll_event ready[CLINUX_MOST_EVENTS];
    int count = wait_precisely(epoll, ready, nanoseconds);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int index = 0; index < count; index++) {
        uint32_t told = ready[index].events;
        events[index].token = ready[index].data.u64;
        events[index].readiness = (told & EPOLLIN ? CLINUX_READABLE : 0u) | (told & EPOLLOUT ? CLINUX_WRITABLE : 0u)
            | (told & (EPOLLHUP | EPOLLERR) ? CLINUX_HUNG_UP : 0u);
    }
    return count;
}

int clinux_bell(void) {
    int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return bell < 0 ? -errno : bell;
}

void clinux_bell_ring(int bell) {
    uint64_t one = 1;
    ssize_t written;
    do {
        written = write(bell, &one, sizeof one);
    } while (written < 0 && errno == EINTR);
}

void clinux_bell_hush(int bell) {
    uint64_t count;
    ssize_t taken;
    do {
        taken = read(bell, &count, sizeof count);
    } while (taken < 0 && errno == EINTR);
}

int clinux_know_writers(int descriptor) {
    int yes = 1, no = 0;
    /* Older kernels lack this option. clinux_receive() works without it. */
    setsockopt(descriptor, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof no);
    return setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) < 0 ? -errno : 0;
}

int clinux_accept(int listening) {
    int descriptor, yes = 1;
    do {
        descriptor = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return -errno;
    /* Fails only for a descriptor that is no socket. */
    setsockopt(descriptor, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof yes);
    return descriptor;
}

ssize_t clinux_receive(int descriptor, void *bytes, size_t length, struct clinux_writer *writer) {
    /* There is room for credentials only. The kernel writes them first. */
    union {
        struct cmsghdr header;
        char bytes[CMSG_LEN(sizeof(struct ucred))];
    } control;
    struct iovec place = {.iov_base = bytes, .iov_len = length};
    struct msghdr message = {
        .msg_iov = &place,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control.bytes,
    };
    writer->is_known = false;
    ssize_t count = recvmsg(descriptor, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count <= 0) return count < 0 ? -errno : 0;
    if (message.msg_flags & MSG_CTRUNC) return -EBADMSG;
    /* Receives only the bytes that it has seen: others may have arrived since, with descriptors. */
    place.iov_len = (size_t)count;
    message.msg_controllen = sizeof control.bytes;
    count = recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return -errno;
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_CREDENTIALS
        && first->cmsg_len == CMSG_LEN(sizeof(struct ucred))) {
        struct ucred credentials;
        memcpy(&credentials, CMSG_DATA(first), sizeof credentials);
        writer->pid = credentials.pid;
        writer->uid = credentials.uid;
        writer->is_known = true;
    }
    return count;
}

bool clinux_close_if_empty(int descriptor, void *bytes, size_t length) {
    int unread = 0, no = 0;
    /* After this, nothing can arrive. */
    if (shutdown(descriptor, SHUT_RDWR) < 0 && errno != ENOTCONN) return false;
    if (ioctl(descriptor, SIOCINQ, &unread) < 0) return false;
    if (unread > 0) {
        /* Without senders, only descriptors make the kernel report that there is no room for a control message. */
        struct iovec place = {.iov_base = bytes, .iov_len = length};
        struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1};
        if (setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &no, sizeof no) < 0) return false;
        if (recvmsg(descriptor, &message, MSG_PEEK | MSG_DONTWAIT) != unread) return false;
        if (message.msg_flags & MSG_CTRUNC) return false;
    }
    close(descriptor);
    return true;
}
