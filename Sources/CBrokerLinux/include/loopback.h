#ifndef CLINUX_LOOPBACK_H
#define CLINUX_LOOPBACK_H

#include <sys/types.h>

/* Finds out the user at the other end of a TCP connection within this machine: sock_diag(7). TCP has no peer
   credentials, but the kernel tells every process which user created a socket. */

/* Writes the user ID of the socket that is bound to `peer` and connected to `own`. Each is a struct sockaddr, of the family
   AF_INET or AF_INET6: the addresses of an accepted connection. (If this header included sys/socket.h, Swift would find
   its constants only here.)

   Returns -ENOTCONN if that socket is not in the state established: for a closed socket the kernel reports user 0.
   Returns -ENOENT if there is none, and -errno for any other failure. Never blocks.

   If the connection was reset, another process may have bound the same port since. So afterwards check that the accepted
   socket is still established (TCP_INFO, tcp(7)): then no other socket can have had this pair of addresses. */
int clinux_tcp_peer_user(const void *own, const void *peer, uid_t *uid);

#endif
