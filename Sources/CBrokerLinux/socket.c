#define _GNU_SOURCE
#include "socket.h"

#include "event.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

int clinux_address(const char *path, struct sockaddr_un *address) {
    size_t length = strlen(path);
    if (length == 0) return -ENOENT;
    // Requires room for the NUL. unix(7) does not need it, but other programs do.
    if (length >= sizeof address->sun_path) return -ENAMETOOLONG;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return 0;
}

static int failed(int descriptor) {
    int code = errno;
    close(descriptor);
    return -code;
}

int clinux_peer_credentials(int descriptor, struct clinux_credentials *credentials) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -errno;
    credentials->pid = peer.pid;
    credentials->uid = peer.uid;
    credentials->gid = peer.gid;
    return 0;
}

int clinux_connect(const char *path, int timeout_milliseconds) {
    struct sockaddr_un address;
    int result = clinux_address(path, &address);
    if (result < 0) return result;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    // SO_SNDTIMEO limits how long connect(2) on a Unix socket waits for room in the backlog. On timeout
    // connect(2) fails with EAGAIN.
    struct timeval timeout = {
        .tv_sec = timeout_milliseconds / 1000,
        .tv_usec = (timeout_milliseconds % 1000) * 1000,
    };
    if (setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) < 0) return failed(descriptor);
    do {
        result = connect(descriptor, (const struct sockaddr *)&address, sizeof address);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return failed(descriptor);
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return failed(descriptor);
    return descriptor;
}

int clinux_listen(const char *path, mode_t mode, int backlog) {
    struct sockaddr_un address;
    int result = clinux_address(path, &address);
    if (result < 0) return result;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    // bind(2) gives the file the socket's own mode minus the umask, so the file never has more permissions
    // than `mode`. chmod then restores the permissions that the umask removed.
    if (fchmod(descriptor, mode) < 0) return failed(descriptor);
    if (bind(descriptor, (const struct sockaddr *)&address, sizeof address) < 0) return failed(descriptor);
    result = clinux_know_writers(descriptor);
    if (result == 0 && (chmod(path, mode) < 0 || listen(descriptor, backlog) < 0)) result = -errno;
    if (result < 0) {
        close(descriptor);
        unlink(path);
        return result;
    }
    return descriptor;
}

int clinux_is_answered(const char *path) {
    struct sockaddr_un address;
    int result = clinux_address(path, &address);
    if (result < 0) return result;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    do {
        result = connect(descriptor, (const struct sockaddr *)&address, sizeof address);
    } while (result < 0 && errno == EINTR);
    int code = errno;
    close(descriptor);
    if (result == 0) return 1;
    // A full backlog means that a process listens.
    if (code == EAGAIN) return 1;
    if (code == ECONNREFUSED) return 0;
    return -code;
}

bool clinux_is_listening(int descriptor, int type) {
    int domain = 0, found = 0, accepts = 0;
    socklen_t length = sizeof(int);
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0 || domain != AF_UNIX) return false;
    length = sizeof(int);
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &found, &length) < 0 || found != type) return false;
    length = sizeof(int);
    return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &length) == 0 && accepts != 0;
}

int clinux_bound_path(int descriptor, char *path, size_t length) {
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) < 0) return -errno;
    if (address.sun_family != AF_UNIX) return -EAFNOSUPPORT;
    if (length <= sizeof address.sun_path) return -ENAMETOOLONG;
    memcpy(path, address.sun_path, sizeof address.sun_path);
    path[sizeof address.sun_path] = 0;
    return 0;
}

int clinux_set_close_on_exec(int descriptor) {
    int flags = fcntl(descriptor, F_GETFD);
    if (flags < 0 || fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) < 0) return -errno;
    return 0;
}

int clinux_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return -errno;
    return 0;
}

int clinux_pair(int descriptors[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, descriptors) < 0) return -errno;
    return 0;
}
