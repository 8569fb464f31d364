#ifndef CLINUX_TERMINAL_H
#define CLINUX_TERMINAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Terminals and what a program on one must arrange. What Swift cannot say: ioctl(2), signal handlers, a child between
// fork(2) and execve(2). Every function answers -errno where it fails. Descriptors made here are close-on-exec.

struct clinux_terminal_size {
    uint16_t rows;
    uint16_t columns;
};

int clinux_terminal_size(int descriptor, struct clinux_terminal_size *size);

/// Catches these signals from now on, for the whole process. Whoever reads the descriptor answered finds one byte, the
/// signal's number, for each that came; it does not block. May be called once.
int clinux_watch_signals(const int *signals, size_t count);

/// Ends or stops the process by this signal, as if it had never been caught. Returns when a stopped process goes on;
/// the signal is caught again then.
int clinux_take_signal(int signal);

/// How many columns of a terminal a Unicode scalar takes (wcwidth(3), Unicode's table): 0, 1 or 2; -1 where it has no width.
int clinux_columns(uint32_t scalar);

/// Starts a program in a pseudo-terminal of its own, as a session's leader with that terminal in control of it
/// and on its standard descriptors. Signals are as at birth. Answers the master's descriptor, which does not block.
int clinux_pseudo_terminal(
    const char *path, char *const arguments[], char *const environment[], struct clinux_terminal_size size, pid_t *child);

/// Opens the other side of a pseudo-terminal, as any program on it could (ioctl_tty(2), TIOCGPTPEER).
int clinux_open_slave(int master);

int clinux_resize_terminal(int descriptor, struct clinux_terminal_size size);

#endif
