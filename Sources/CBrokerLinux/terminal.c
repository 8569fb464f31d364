#define _GNU_SOURCE
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

int clinux_terminal_size(int descriptor, struct clinux_terminal_size *size) {
    struct winsize found;
    if (ioctl(descriptor, TIOCGWINSZ, &found) < 0) return -errno;
    size->rows = found.ws_row;
    size->columns = found.ws_col;
    return 0;
}

int clinux_resize_terminal(int descriptor, struct clinux_terminal_size size) {
    struct winsize wanted = {.ws_row = size.rows, .ws_col = size.columns};
    return ioctl(descriptor, TIOCSWINSZ, &wanted) < 0 ? -errno : 0;
}

static int signals_written = -1;

static void note_signal(int number) {
    int code = errno;
    unsigned char byte = (unsigned char)number;
    // If the pipe is full, its unread bytes wake up the reader anyway.
    (void)!write(signals_written, &byte, 1);
    errno = code;
}

static int catch_signal(int number) {
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL) < 0 ? -errno : 0;
}

int clinux_watch_signals(const int *signals, size_t count) {
    if (signals_written >= 0) return -EALREADY;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return -errno;
    signals_written = ends[1];
    for (size_t index = 0; index < count; index++) {
        int code = catch_signal(signals[index]);
        if (code < 0) return code;
    }
    return ends[0];
}

int clinux_take_signal(int number) {
    struct sigaction natural = {.sa_handler = SIG_DFL};
    sigemptyset(&natural.sa_mask);
    if (sigaction(number, &natural, NULL) < 0) return -errno;
    if (raise(number) != 0) return -errno;
    return catch_signal(number);
}

static locale_t unicode;
static pthread_once_t unicode_made = PTHREAD_ONCE_INIT;

static void make_unicode(void) { unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

int clinux_columns(uint32_t scalar) {
    pthread_once(&unicode_made, make_unicode);
    if (unicode == (locale_t)0) return scalar >= 0x20 && scalar < 0x7F ? 1 : -1;
    locale_t before = uselocale(unicode);
    int columns = wcwidth((wchar_t)scalar);
    uselocale(before);
    return columns;
}

static int failed(int descriptor) {
    int code = errno;
    close(descriptor);
    return -code;
}

// Between fork and execve, call only functions listed in signal-safety(7), and ioctl(2), which is a plain
// system call: another thread may have held a lock at the fork.
static void become(
    const char *slave, const char *path, char *const arguments[], char *const environment[]
) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (setsid() < 0) _exit(127);
    int terminal = open(slave, O_RDWR);
    if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0) _exit(127);
    for (int standard = 0; standard < 3; standard++) {
        if (dup2(terminal, standard) < 0) _exit(127);
    }
    if (terminal > 2) close(terminal);
    execve(path, arguments, environment);
    _exit(127);
}

int clinux_pseudo_terminal(
    const char *path, char *const arguments[], char *const environment[], struct clinux_terminal_size size, pid_t *child
) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (master < 0) return -errno;
    char slave[64];
    if (grantpt(master) < 0 || unlockpt(master) < 0) return failed(master);
    int code = ptsname_r(master, slave, sizeof slave);
    if (code != 0) {
        errno = code;
        return failed(master);
    }
    code = clinux_resize_terminal(master, size);
    if (code < 0) {
        errno = -code;
        return failed(master);
    }
    pid_t born = fork();
    if (born < 0) return failed(master);
    if (born == 0) become(slave, path, arguments, environment);
    *child = born;
    return master;
}

int clinux_open_slave(int master) {
    int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return slave < 0 ? -errno : slave;
}
