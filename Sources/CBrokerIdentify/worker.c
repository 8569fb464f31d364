#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the worker has the end of its channel; nothing else is open in it until it is told. */
#define CHANNEL 3
/* And, before, a pidfd of its own. */
#define ITSELF 4

static struct identify_answer answer;

static void answer_with(const struct identify_request *request, int connection, int pidfd)
{
    answer.magic = IDENTIFY_MAGIC;
    int result = identify_look_at(
        pidfd, request->wants | IDENTIFY_WANTS_PLACE, IDENTIFY_HELPER_HASH_LIMIT, &answer.look);
    if (result != 0) memset(&answer.look, 0, sizeof answer.look);
    switch (result) {
    case 0: answer.outcome = IDENTIFY_LOOKED; break;
    case -ESRCH: answer.outcome = IDENTIFY_ENDED; break;
    case -EBADF: answer.outcome = IDENTIFY_MALFORMED; break;
    default:
        answer.outcome = IDENTIFY_FAILED;
        answer.reason = -result;
        break;
    }
    /* There is room: it is the first message that way. */
    if (send(connection, &answer, sizeof answer, MSG_NOSIGNAL) < 0) return;
    /* Ending takes longer than looking. It waits until the answer was taken, or until it is killed: where both have one
       processor, whoever asked goes first. */
    struct pollfd taken = { .fd = connection };
    while (poll(&taken, 1, -1) < 0 && errno == EINTR) {}
}

void identify_close_from(int first)
{
    (void)syscall(SYS_close_range, first, ~0U, 0);
}

void identify_begin(void)
{
    identify_prepare();
    /* A look at ourselves: every function that a worker will call is found by then, and none has to find it again. */
    int self = clinux_pidfd_open(getpid());
    if (self < 0) return;
    (void)identify_look_at(self, IDENTIFY_WANTS_PLACE, 0, &answer.look);
    memset(&answer, 0, sizeof answer);
    close(self);
}

/* Two descriptors and a request. What is on its way to a process ends with it. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(2 * sizeof(int))];
};

/* What the parent hands over, or no return: it has gone, or has no use for this one any more. */
static void wait_for_request(struct identify_request *request, int descriptors[2])
{
    union control control;
    struct iovec place = { .iov_base = request, .iov_len = sizeof *request };
    struct msghdr message = {
        .msg_iov = &place, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes,
    };
    ssize_t size;
    do size = recvmsg(CHANNEL, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (size != (ssize_t)sizeof *request || !header || header->cmsg_type != SCM_RIGHTS
        || header->cmsg_len != CMSG_LEN(2 * sizeof(int)))
        _exit(size == 0 ? 0 : 1);
    memcpy(descriptors, CMSG_DATA(header), 2 * sizeof(int));
}

int identify_hand_over(int channel, const struct identify_request *request, int connection, int pidfd)
{
    int descriptors[2] = { connection, pidfd };
    union control control;
    memset(&control, 0, sizeof control);
    struct iovec place = { .iov_base = (void *)request, .iov_len = sizeof *request };
    struct msghdr message = {
        .msg_iov = &place, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes,
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptors);
    memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
    ssize_t size;
    do size = sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (size < 0 && errno == EINTR);
    return size == (ssize_t)sizeof *request ? 0 : size < 0 ? -errno : -EIO;
}

/* From here to the end nothing runs but what stands in this target. */
static void work(int end, int parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    /* Through numbers that neither has, so that neither is lost under the other. */
    int channel = fcntl(end, F_DUPFD, ITSELF + 1), opened = clinux_pidfd_open(getpid());
    int itself = opened < 0 ? -1 : fcntl(opened, F_DUPFD, ITSELF + 1);
    if (channel < 0 || itself < 0 || dup2(channel, CHANNEL) < 0 || dup2(itself, ITSELF) < 0) _exit(1);
    if (syscall(SYS_close_range, ITSELF + 1, ~0U, 0) != 0 || syscall(SYS_close_range, 0, CHANNEL - 1, 0) != 0) _exit(1);
    if (identify_confine_worker() != 0) _exit(1);
    /* A look at itself, of which nothing is kept: the pages that a look needs are its own before somebody waits for it. */
    (void)identify_look_at(ITSELF, IDENTIFY_WANTS_PLACE, 0, &answer.look);
    memset(&answer, 0, sizeof answer);
    close(ITSELF);
    struct identify_request request;
    int descriptors[2];
    wait_for_request(&request, descriptors);
    answer_with(&request, descriptors[0], descriptors[1]);
    _exit(0);
}

int identify_make_worker(int *worker, int *channel)
{
    int parent = getpid(), ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
    pid_t pid = fork();
    if (pid == 0) work(ends[1], parent);
    int reason = pid < 0 ? -errno : 0;
    close(ends[1]);
    if (reason == 0) {
        *worker = clinux_pidfd_open(pid);
        if (*worker < 0) {
            reason = *worker;
            /* Not waited for yet, so that the number is its own. */
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
        }
    }
    if (reason == 0) {
        *channel = ends[0];
        return pid;
    }
    close(ends[0]);
    return reason;
}

void identify_kill(int worker)
{
    (void)syscall(SYS_pidfd_send_signal, worker, SIGKILL, NULL, 0);
}

int identify_reap(int worker)
{
    siginfo_t end;
    memset(&end, 0, sizeof end);
    /* P_PIDFD. */
    while (waitid((idtype_t)3, (id_t)worker, &end, WEXITED) != 0)
        if (errno != EINTR) return 0;
    return end.si_code == CLD_EXITED && end.si_status == 0;
}
