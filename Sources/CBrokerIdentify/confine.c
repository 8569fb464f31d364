#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls knows x86-64 and 64-bit ARM"
#endif

/* Capabilities. */

#define NEEDED (1u << CAP_SYS_PTRACE | 1u << CAP_DAC_READ_SEARCH)

static int keep_two_capabilities(void)
{
    /* A capability outside the bounding set cannot be regained. An error marks the end of the list. */
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
        if (capability < 32 && (NEEDED & 1u << capability)) continue;
        /* Without CAP_SETPCAP, which systemd may have dropped already, the bounding set stays as it is.
           no_new_privs then prevents the process from gaining a capability of that set. */
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM) return -errno;
    }
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return -errno;
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct sets[2] = { { .effective = NEEDED, .permitted = NEEDED } };
    return syscall(SYS_capset, &header, sets) == 0 ? 0 : -errno;
}

static int limit(int what, rlim_t most)
{
    struct rlimit bound = { most, most };
    return setrlimit((__rlimit_resource_t)what, &bound) == 0 ? 0 : -errno;
}

/* System calls. */

struct list {
    const int *calls;
    size_t count;
};

/* The calls that an inspection needs. For openat the filter also checks the flags and permits only
   reading. openat2 is missing, because its flags are in memory, where the filter cannot see them. */
static const int inspecting[] = {
    SYS_openat, SYS_readlinkat, SYS_statx, SYS_read, SYS_close, SYS_ppoll, SYS_sendto, SYS_exit,
    SYS_exit_group, SYS_mmap, SYS_munmap, SYS_mremap, SYS_brk, SYS_madvise, SYS_futex, SYS_rt_sigreturn,
    SYS_restart_syscall, SYS_clock_gettime,
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_readlink
    SYS_readlink,
#endif
};

/* The calls that the parent also needs to start workers, and a worker to receive its request. A worker gives them up
   when it confines itself further. */
static const int serving[] = {
    SYS_clone, SYS_set_robust_list, SYS_wait4, SYS_prctl, SYS_getppid, SYS_timer_create, SYS_timer_settime,
    SYS_accept4, SYS_getsockopt, SYS_recvmsg, SYS_dup3, SYS_close_range, SYS_fcntl, SYS_seccomp, SYS_prlimit64,
    SYS_getpid, SYS_gettid, SYS_tgkill, SYS_getrandom, SYS_write, SYS_writev, SYS_clock_nanosleep, SYS_nanosleep,
    SYS_rt_sigprocmask, SYS_mprotect, SYS_rt_sigaction, SYS_sigaltstack,
#ifdef SYS_dup2
    SYS_dup2,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define STATEMENT(what, value) (struct sock_filter) BPF_STMT(what, value)
#define JUMP(what, value, yes, no) (struct sock_filter) BPF_JUMP(what, value, yes, no)
#define LOAD(field) STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

static size_t append(struct sock_filter *program, size_t length, struct list list)
{
    for (size_t index = 0; index < list.count; index++) {
        if (list.calls[index] == SYS_openat) continue;
        program[length++] = JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)list.calls[index], 0, 1);
        program[length++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    return length;
}

/* Permits only the listed system calls. Any other call kills the process, because this program makes none. */
static int filter(const struct list *lists, size_t count)
{
    struct sock_filter program[16 + 2 * (COUNT(inspecting) + COUNT(serving))];
    size_t length = 0;
    program[length++] = LOAD(arch);
    program[length++] = JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    program[length++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    program[length++] = LOAD(nr);
    /* System calls of x32 on x86-64 have an extra bit set, so they match no list below and kill the process. */
    program[length++] = JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4);
    program[length++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]));
    program[length++] = JUMP(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND, 0, 1);
    program[length++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    program[length++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    for (size_t index = 0; index < count; index++) length = append(program, length, lists[index]);
    program[length++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog whole = { .len = (unsigned short)length, .filter = program };
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) == 0 ? 0 : -errno;
}

int identify_confine(void)
{
    const struct list both[] = { { inspecting, COUNT(inspecting) }, { serving, COUNT(serving) } };
    int result = keep_two_capabilities();
    if (result == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) result = -errno;
    if (result == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) result = -errno;
    if (result == 0) result = limit(RLIMIT_CORE, 0);
    if (result == 0) result = limit(RLIMIT_FSIZE, 0);
    if (result == 0) result = limit(RLIMIT_MEMLOCK, 0);
    if (result == 0) result = limit(RLIMIT_NOFILE, 4096);
    return result == 0 ? filter(both, COUNT(both)) : result;
}

int identify_confine_worker(void)
{
    const struct list one[] = { { inspecting, COUNT(inspecting) } };
    int result = limit(RLIMIT_NOFILE, 32);
    /* Bytes of private memory: enough for one piece of a file and the list of mounts. */
    if (result == 0) result = limit(RLIMIT_DATA, 67108864);
    return result == 0 ? filter(one, COUNT(one)) : result;
}
