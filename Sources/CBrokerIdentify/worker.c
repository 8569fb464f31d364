#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The only two descriptors that the worker has open. */
#define CONNECTION 3
#define PROCESS 4

static struct identify_answer answer;

static void inspect(const struct identify_request *request)
{
    int result = identify_inspect(
        PROCESS, request->wants | IDENTIFY_WANTS_PLACE, IDENTIFY_HELPER_HASH_LIMIT, &answer.inspection);
    if (result != 0) memset(&answer.inspection, 0, sizeof answer.inspection);
    switch (result) {
    case 0: answer.outcome = IDENTIFY_INSPECTED; break;
    case -ESRCH: answer.outcome = IDENTIFY_ENDED; break;
    case -EBADF: answer.outcome = IDENTIFY_MALFORMED; break;
    default:
        answer.outcome = IDENTIFY_FAILED;
        answer.reason = -result;
        break;
    }
}

static void send_answer(int connection)
{
    answer.magic = IDENTIFY_MAGIC;
    /* This cannot block, because it is the first message in this direction. If it fails, the broker has closed its end. */
    (void)send(connection, &answer, sizeof answer, MSG_NOSIGNAL);
}

void identify_close_from(int first)
{
    (void)syscall(SYS_close_range, first, ~0U, 0);
}

void identify_begin(void)
{
    int self = clinux_pidfd_open(getpid());
    if (self < 0) return;
    struct identify_inspection seen;
    (void)identify_inspect(self, IDENTIFY_WANTS_PLACE, 0, &seen);
    close(self);
}

/* Has the kernel kill this process after half a second, even if it is stopped then. */
static int start_timer(timer_t timer)
{
    struct itimerspec once = { .it_value.tv_nsec = IDENTIFY_WORKER_MILLISECONDS * 1000000L };
    return timer_settime(timer, 0, &once, NULL);
}

/* Runs in the worker, which runs no Swift code. */
static _Noreturn void work(int listener, uint32_t uid, int parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    struct sigevent end = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &end, &timer) != 0) _exit(1);
    int connection = identify_accept(listener, uid);
    if (connection < 0 || start_timer(timer) != 0) _exit(1);
    struct identify_request request;
    int pidfd;
    if (identify_receive(connection, &request, &pidfd) != 0) {
        answer.outcome = IDENTIFY_MALFORMED;
        send_answer(connection);
        _exit(0);
    }
    /* Copies both to higher numbers first, so that dup2 cannot overwrite either of them. */
    int first = fcntl(connection, F_DUPFD, PROCESS + 1), second = fcntl(pidfd, F_DUPFD, PROCESS + 1);
    if (first < 0 || second < 0 || dup2(first, CONNECTION) < 0 || dup2(second, PROCESS) < 0) _exit(1);
    if (syscall(SYS_close_range, PROCESS + 1, ~0U, 0) != 0 || syscall(SYS_close_range, 0, CONNECTION - 1, 0) != 0) _exit(1);
    if (identify_confine_worker() != 0) _exit(1);
    inspect(&request);
    send_answer(CONNECTION);
    _exit(0);
}

int identify_start_worker(int listener, uint32_t uid)
{
    int parent = getpid();
    pid_t pid = fork();
    if (pid < 0) return -errno;
    if (pid == 0) work(listener, uid, parent);
    return pid;
}
