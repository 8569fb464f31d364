#ifndef CLINUX_SOCKET_H
#define CLINUX_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

// Unix sockets. What the Swift overlay of Glibc cannot say: struct ucred, sockaddr_un's path, flags of socket(2).
// Every function answers -errno where it fails. Descriptors made here are close-on-exec.

/// The address of a socket's file. -ENAMETOOLONG where there is no room for the path and a NUL.
int clinux_address(const char *path, struct sockaddr_un *address);

/// Who was at the other end when it connected (SO_PEERCRED, unix(7)).
struct clinux_credentials {
    pid_t pid;
    uid_t uid;
};

int clinux_peer_credentials(int descriptor, struct clinux_credentials *credentials);

/// Connects a stream; the descriptor does not block afterwards. A full backlog is waited for as long as the timeout says;
/// 0 waits for ever.
int clinux_connect(const char *path, int timeout_milliseconds);

/// Binds a stream socket and listens. The socket never admits more than `mode` says, not even between its birth and the next call,
/// and in the end admits exactly that, whatever the process's umask is. It knows its writers (event.h) before anybody
/// can connect.
int clinux_listen(const char *path, mode_t mode, int backlog);

/// 1 where somebody answers at the path, 0 where the socket is a left-over nobody answers.
int clinux_is_answered(const char *path);

/// Whether the descriptor is a Unix socket of that type, such as SOCK_STREAM, that listens.
bool clinux_is_listening(int descriptor, int type);

/// Writes the path the socket is bound to, ended by NUL; `length` must be at least 109.
int clinux_bound_path(int descriptor, char *path, size_t length);

int clinux_set_close_on_exec(int descriptor);
int clinux_set_nonblocking(int descriptor);

/// A connected pair that does not block.
int clinux_pair(int descriptors[2]);

#endif
