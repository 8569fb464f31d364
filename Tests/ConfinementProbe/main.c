#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "thumbnail.h"
#include "worker.h"

/* Confines itself as a worker of contactbroker-identify does, then tries one thing. Ends with 0 if it was not stopped. */
static void as_worker(const char *what)
{
    if (identify_confine() != 0 || identify_confine_worker() != 0) _exit(2);
    struct open_how how = { .flags = O_WRONLY | O_CREAT | O_TRUNC, .mode = 0600 };
    char *words[] = { "/bin/true", NULL };
    if (strcmp(what, "reading") == 0) _exit(openat(AT_FDCWD, "/etc/passwd", O_RDONLY) < 0 ? 3 : 0);
    if (strcmp(what, "openat2") == 0) syscall(SYS_openat2, AT_FDCWD, "/tmp/confinement-probe", &how, sizeof how);
    else if (strcmp(what, "writing") == 0) openat(AT_FDCWD, "/tmp/confinement-probe", O_WRONLY);
    else if (strcmp(what, "creating") == 0) openat(AT_FDCWD, "/tmp/confinement-probe", O_CREAT, 0600);
    else if (strcmp(what, "temporary") == 0) openat(AT_FDCWD, "/tmp", O_TMPFILE | O_RDWR, 0600);
    else if (strcmp(what, "socket") == 0) socket(AF_UNIX, SOCK_STREAM, 0);
    else if (strcmp(what, "exec") == 0) execv(words[0], words);
    else if (strcmp(what, "ptrace") == 0) syscall(SYS_ptrace, 0, 0, 0, 0);
    else if (strcmp(what, "handle") == 0) syscall(SYS_open_by_handle_at, AT_FDCWD, 0, 0);
    _exit(0);
}

/* Confines itself as contactbroker-thumbnail does, then tries one forbidden thing. Ends with 0 if it was not stopped. */
int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    if (count > 2 && strcmp(what, "worker") == 0) as_worker(arguments[2]);
    if (thumbnail_confine() != 0) _exit(2);
    char byte = 0, *words[] = { "/bin/true", NULL };
    if (strcmp(what, "nothing") == 0) _exit(write(1, "done", 4) == 4 ? 0 : 3);
    if (strcmp(what, "open") == 0) open("/etc/passwd", O_RDONLY);
    else if (strcmp(what, "read") == 0) (void)!read(1, &byte, 1);
    else if (strcmp(what, "write") == 0) (void)!write(2, &byte, 1);
    else if (strcmp(what, "socket") == 0) socket(AF_UNIX, SOCK_STREAM, 0);
    else if (strcmp(what, "fork") == 0) (void)!fork();
    else if (strcmp(what, "exec") == 0) execv(words[0], words);
    else if (strcmp(what, "ptrace") == 0) syscall(SYS_ptrace, 0, 0, 0, 0);
    else if (strcmp(what, "kill") == 0) syscall(SYS_kill, getpid(), 0);
    else if (strcmp(what, "protect") == 0) mprotect(&byte, 1, PROT_READ | PROT_EXEC);
    else if (strcmp(what, "limit") == 0) syscall(SYS_prlimit64, 0, 0, NULL, NULL);
    /* mmap and allocation are refused without killing the process, so that malloc(3) can fail. */
    else if (strcmp(what, "map") == 0)
        _exit(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 4 : 0);
    else if (strcmp(what, "enough") == 0) {
        char *all = malloc((size_t)128 << 20);
        _exit(all && memset(all, 1, (size_t)128 << 20) ? 4 : 0);
    }
    /* malloc(3) fails, or the process is killed because malloc(3) tries another system call. */
    else if (strcmp(what, "memory") == 0) {
        for (size_t total = 0; total < (size_t)THUMBNAIL_MEMORY + (1 << 20); total += 1 << 20)
            if (!malloc(1 << 20)) _exit(4);
    }
    /* Endless: a timer kills the process. */
    else if (strcmp(what, "time") == 0)
        for (;;) __asm__ volatile("");
    _exit(0);
}
