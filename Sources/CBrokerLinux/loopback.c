#define _GNU_SOURCE
#include "loopback.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Writes the port and the address as sock_diag(7) has them: in network byte order, an IPv4 address in the first word. */
static int endpoint(const struct sockaddr *from, __be16 *port, __be32 address[4]) {
    if (from->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, from, sizeof v4);
        *port = v4.sin_port;
        address[0] = v4.sin_addr.s_addr;
        return 0;
    }
    if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, from, sizeof v6);
        *port = v6.sin6_port;
        memcpy(address, &v6.sin6_addr, sizeof v6.sin6_addr);
        return 0;
    }
    return -EAFNOSUPPORT;
}

struct question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 body;
};

/* Sends the question and receives the answer. The kernel has it ready when send(2) returns. */
static ssize_t ask(const struct question *question, void *answer, size_t room) {
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink < 0) return -errno;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK}, sender = {0};
    socklen_t size = sizeof sender;
    ssize_t count = sendto(netlink, question, sizeof *question, 0, (const struct sockaddr *)&kernel, sizeof kernel);
    if (count >= 0) count = recvfrom(netlink, answer, room, MSG_DONTWAIT, (struct sockaddr *)&sender, &size);
    if (count < 0) count = -errno;
    close(netlink);
    /* Other processes may send to this socket too. */
    if (count >= 0 && (size != sizeof sender || sender.nl_pid != 0)) return -EBADMSG;
    return count;
}

int clinux_tcp_peer_user(const void *own_address, const void *peer_address, uid_t *uid) {
    const struct sockaddr *own = own_address, *peer = peer_address;
    struct question question;
    memset(&question, 0, sizeof question);
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    question.body.sdiag_family = (__u8)peer->sa_family;
    question.body.sdiag_protocol = IPPROTO_TCP;
    question.body.idiag_states = UINT32_MAX;
    struct inet_diag_sockid *id = &question.body.id;
    if (own->sa_family != peer->sa_family) return -EAFNOSUPPORT;
    /* The other end's source is our destination. */
    int result = endpoint(peer, &id->idiag_sport, id->idiag_src);
    if (result == 0) result = endpoint(own, &id->idiag_dport, id->idiag_dst);
    if (result < 0) return result;
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;

    union {
        struct nlmsghdr header;
        char bytes[4096];
    } answer;
    ssize_t count = ask(&question, &answer, sizeof answer);
    if (count < 0) return (int)count;
    if (!NLMSG_OK(&answer.header, (size_t)count)) return -EBADMSG;
    if (answer.header.nlmsg_type == NLMSG_ERROR) {
        if (answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr))) return -EBADMSG;
        int code = ((const struct nlmsgerr *)NLMSG_DATA(&answer.header))->error;
        return code < 0 ? code : -EBADMSG;
    }
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.header);
    if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY || answer.header.nlmsg_len < NLMSG_LENGTH(sizeof *found))
        return -EBADMSG;
    /* If no socket has both addresses, the kernel reports one that listens at `peer`, in another state. */
    if (found->idiag_state != TCP_ESTABLISHED) return -ENOTCONN;
    *uid = found->idiag_uid;
    return 0;
}
