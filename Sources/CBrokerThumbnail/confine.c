#define _GNU_SOURCE
#include "thumbnail.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls knows x86-64 and 64-bit ARM"
#endif

static int limit(int what, rlim_t most)
{
    struct rlimit bound = { most, most };
    if (setrlimit((__rlimit_resource_t)what, &bound) == 0 || errno == EPERM) return 0;
    return -errno;
}

/* Reserves all memory in advance: the heap grows once and never shrinks. Pages take memory only when used. */
static int reserve_memory(void)
{
    if (!mallopt(M_MMAP_MAX, 0) || !mallopt(M_TRIM_THRESHOLD, 2147483647) || !mallopt(M_ARENA_MAX, 1)) return -EINVAL;
    /* volatile: otherwise the compiler may remove malloc and free, because nothing uses the memory. */
    void *volatile all = malloc(THUMBNAIL_MEMORY);
    if (!all) return -ENOMEM;
    free(all);
    return 0;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_NOT(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)

static int filter(void)
{
    struct sock_filter program[] = {
        LOAD(arch), IF_NOT(ARCHITECTURE, 1), BPF_STMT(BPF_JMP | BPF_JA, 1), ANSWER(SECCOMP_RET_KILL_PROCESS), LOAD(nr),
        /* Allow read(2) only from standard input, and write(2) only to standard output. */
        IF_NOT(SYS_read, 4), LOAD(args[0]), IF_NOT(0, 1), ANSWER(SECCOMP_RET_ALLOW), ANSWER(SECCOMP_RET_KILL_PROCESS),
        IF_NOT(SYS_write, 4), LOAD(args[0]), IF_NOT(1, 1), ANSWER(SECCOMP_RET_ALLOW), ANSWER(SECCOMP_RET_KILL_PROCESS),
        IF_NOT(SYS_exit_group, 1), ANSWER(SECCOMP_RET_ALLOW), IF_NOT(SYS_exit, 1), ANSWER(SECCOMP_RET_ALLOW),
        /* If the heap is full, malloc(3) asks the kernel for more memory and gets ENOMEM. */
        IF_NOT(SYS_brk, 1), ANSWER(SECCOMP_RET_ERRNO | ENOMEM), IF_NOT(SYS_mmap, 1), ANSWER(SECCOMP_RET_ERRNO | ENOMEM),
        IF_NOT(SYS_mremap, 1), ANSWER(SECCOMP_RET_ERRNO | ENOMEM), ANSWER(SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog whole = { .len = sizeof program / sizeof *program, .filter = program };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0 ? 0 : -errno;
}

int thumbnail_confine(void)
{
    signal(SIGALRM, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) != 0) return -errno;
    alarm(THUMBNAIL_SECONDS);
    /* If this fails, the process only takes more of the processors. */
    setpriority(PRIO_PROCESS, 0, THUMBNAIL_NICE);
    if (syscall(SYS_close_range, 3, ~0U, 0) != 0) return -errno;
    int result = reserve_memory();
    if (result == 0) result = limit(RLIMIT_AS, 268435456);
    if (result == 0) result = limit(RLIMIT_CPU, THUMBNAIL_PROCESSOR_SECONDS);
    if (result == 0) result = limit(RLIMIT_NOFILE, 3);
    if (result == 0) result = limit(RLIMIT_FSIZE, 0);
    if (result == 0) result = limit(RLIMIT_NPROC, 0);
    if (result == 0) result = limit(RLIMIT_CORE, 0);
    if (result == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) result = -errno;
    if (result == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) result = -errno;
    return result == 0 ? filter() : result;
}
