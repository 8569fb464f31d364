#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The only two descriptors that the worker has open. */
#define CONNECTION 3
#define PROCESS 4

static struct identify_answer answer;

static void answer_with(const struct identify_request *request)
{
    answer.magic = IDENTIFY_MAGIC;
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
    /* This cannot block, because it is the first message in this direction. */
    (void)send(CONNECTION, &answer, sizeof answer, MSG_NOSIGNAL);
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

/* Runs in the worker. From here on the worker runs no Swift code. */
static _Noreturn void work(const struct identify_request *request, int connection, int pidfd, int parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    /* Copies both to higher numbers first, so that dup2 cannot overwrite either of them. */
    int first = fcntl(connection, F_DUPFD, PROCESS + 1), second = fcntl(pidfd, F_DUPFD, PROCESS + 1);
    if (first < 0 || second < 0 || dup2(first, CONNECTION) < 0 || dup2(second, PROCESS) < 0) _exit(1);
    if (syscall(SYS_close_range, PROCESS + 1, ~0U, 0) != 0 || syscall(SYS_close_range, 0, CONNECTION - 1, 0) != 0) _exit(1);
    if (identify_confine_worker() != 0) _exit(1);
    answer_with(request);
    _exit(0);
}

int identify_start_worker(const struct identify_request *request, int connection, int pidfd, int *worker)
{
    int parent = getpid();
    pid_t pid = fork();
    if (pid < 0) return -errno;
    if (pid == 0) work(request, connection, pidfd, parent);
    *worker = clinux_pidfd_open(pid);
    if (*worker >= 0) return pid;
    /* The child is not reaped yet, so its pid is not reused. */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return *worker;
}

void identify_kill(int worker)
{
    (void)syscall(SYS_pidfd_send_signal, worker, SIGKILL, NULL, 0);
}

int identify_reap(int worker)
{
    siginfo_t end;
    memset(&end, 0, sizeof end);
    /* 3 is P_PIDFD. */
    while (waitid((idtype_t)3, (id_t)worker, &end, WEXITED) != 0)
        if (errno != EINTR) return 0;
    return end.si_code == CLD_EXITED && end.si_status == 0;
}
