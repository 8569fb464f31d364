#ifndef CLINUX_SOCKET_H
#define CLINUX_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

// Unix sockets. Swift's overlay of Glibc lacks struct ucred, sockaddr_un's path and flags of socket(2). Functions
// return -errno on failure. Descriptors made here are close-on-exec.

/// The address of a socket's file. -ENAMETOOLONG if the path and a NUL do not fit.
int clinux_address(const char *path, struct sockaddr_un *address);

/// The peer credentials at the time of connect (SO_PEERCRED, unix(7)).
struct clinux_credentials {
    pid_t pid;
    uid_t uid;
};

int clinux_peer_credentials(int descriptor, struct clinux_credentials *credentials);

/// Connects a stream socket, which is then non-blocking. Waits for room in a full backlog at most as long as the
/// timeout; 0 waits forever.
int clinux_connect(const char *path, int timeout_milliseconds);

/// Binds a stream socket and listens. The socket's file never has more permissions than `mode`, and in the end exactly
/// those, whatever the umask is. The socket reports senders (event.h) before anybody can connect.
int clinux_listen(const char *path, mode_t mode, int backlog);

/// 1 if a process listens at the path, 0 if the socket is a leftover.
int clinux_is_answered(const char *path);

/// Whether the descriptor is a listening Unix socket of that type, such as SOCK_STREAM.
bool clinux_is_listening(int descriptor, int type);

/// Writes the path that the socket is bound to, with a NUL; `length` must be at least 109.
int clinux_bound_path(int descriptor, char *path, size_t length);

int clinux_set_close_on_exec(int descriptor);
int clinux_set_nonblocking(int descriptor);

/// A connected pair of non-blocking sockets.
int clinux_pair(int descriptors[2]);

#endif
