#ifndef CLINUX_SOCKET_H
#define CLINUX_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

// Unix sockets. Swift's overlay of Glibc lacks struct ucred, sockaddr_un's path and flags of socket(2).
// Functions return -errno on failure. The descriptors that they create are close-on-exec.

/// Fills in the address of a socket's file. Returns -ENAMETOOLONG if the path and a NUL do not fit.
int clinux_address(const char *path, struct sockaddr_un *address);

/// The peer credentials at the time of connect (SO_PEERCRED, unix(7)).
struct clinux_credentials {
    pid_t pid;
    uid_t uid;
    /// The effective group at that time.
    gid_t gid;
};

int clinux_peer_credentials(int descriptor, struct clinux_credentials *credentials);

/// Connects a stream socket, which is then non-blocking. Waits for room in a full backlog until the timeout;
/// 0 waits without limit.
int clinux_connect(const char *path, int timeout_milliseconds);

/// Binds a stream socket and listens. The socket's file never has more permissions than `mode`. When the
/// function returns, the file has exactly these permissions; the umask has no effect. The function enables
/// sender credentials (clinux_know_writers in event.h) before it listens, so every connection has them.
int clinux_listen(const char *path, mode_t mode, int backlog);

/// Returns 1 if a process listens at the path, 0 if the socket's file is stale.
int clinux_is_answered(const char *path);

/// Whether the descriptor is a listening Unix socket of that type, such as SOCK_STREAM.
bool clinux_is_listening(int descriptor, int type);

/// Writes the path that the socket is bound to, with a NUL; `length` must be at least 109.
int clinux_bound_path(int descriptor, char *path, size_t length);

int clinux_set_close_on_exec(int descriptor);
int clinux_set_nonblocking(int descriptor);

/// Creates a connected pair of non-blocking sockets.
int clinux_pair(int descriptors[2]);

#endif
