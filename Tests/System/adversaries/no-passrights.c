// For LD_PRELOAD: a kernel before Linux 6.16, which cannot refuse file descriptors for a socket (SO_PASSRIGHTS).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

enum { PASSRIGHTS = 83 };

int setsockopt(int descriptor, int level, int name, const void *value, socklen_t size) {
    static int (*real)(int, int, int, const void *, socklen_t);
    if (!real) real = (int (*)(int, int, int, const void *, socklen_t))dlsym(RTLD_NEXT, "setsockopt");
    if (level != SOL_SOCKET || name != PASSRIGHTS) return real(descriptor, level, name, value, size);
    errno = ENOPROTOOPT;
    return -1;
}
