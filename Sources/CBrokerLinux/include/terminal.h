#ifndef CLINUX_TERMINAL_H
#define CLINUX_TERMINAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Terminals and signals. This is in C, because Swift code cannot run safely in a signal handler or between
// fork(2) and execve(2). Functions return -errno on failure. The descriptors that they create are
// close-on-exec.

struct clinux_terminal_size {
    uint16_t rows;
    uint16_t columns;
};

int clinux_terminal_size(int descriptor, struct clinux_terminal_size *size);

/// Catches these signals for the whole process. Returns a non-blocking descriptor from which one byte, the
/// signal's number, can be read for each signal. May be called once.
int clinux_watch_signals(const int *signals, size_t count);

/// Takes the signal's default action, which ends or stops the process. If the process was stopped and
/// continues, catches the signal again and returns.
int clinux_take_signal(int signal);

/// Returns the number of terminal columns of a Unicode scalar, as wcwidth(3) reports it: 0, 1 or 2; -1 if the
/// scalar has no width.
int clinux_columns(uint32_t scalar);

/// Starts a program as a session leader, with a new pseudo-terminal as its controlling terminal and standard
/// descriptors. Signals have their default actions. Returns the master's non-blocking descriptor.
int clinux_pseudo_terminal(
    const char *path, char *const arguments[], char *const environment[], struct clinux_terminal_size size, pid_t *child);

/// Opens the other end of a pseudo-terminal, as a program that runs on it can (ioctl_tty(2), TIOCGPTPEER).
int clinux_open_slave(int master);

int clinux_resize_terminal(int descriptor, struct clinux_terminal_size size);

#endif
