#ifndef CLINUX_PRIVILEGE_H
#define CLINUX_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

// What a program does that may do more than whoever started it, and how it starts others. Every function answers -errno
// where it fails.

/// Whether the kernel gave this program rights that whoever started it has not (getauxval(3), AT_SECURE). It stays so
/// when the rights are given up.
bool clinux_is_privileged(void);

/// Opens the standard descriptors that are closed on /dev/null, closes all that were handed down beside them, unblocks
/// signals, and leaves no core file. What is made from now on is this user's alone. `name` is what the process is called:
/// one that started itself anew is called after a link in /proc.
int clinux_begin_anew(const char *name);

/// Nobody but root may look into this process or steer it: prctl(2), PR_SET_DUMPABLE.
int clinux_hide(void);

/// Gives up the group of the program's file for good, and makes sure of it: -EPERM where it could be had again.
int clinux_drop_group(void);

/// The path of the file that this program was started from. Only true as long as nobody has replaced the file.
int clinux_own_path(char *path, size_t size);

/// Restarts this program, with the rights that its file gives. Executes what is installed at `path` now, if that is a
/// regular setgid file of root's and only root can write to it and to every folder above it; otherwise the file that the
/// program was started from. Returns only if that fails: -EACCES while dpkg unpacks a package.
int clinux_start_anew(const char *path, char *const arguments[], char *const environment[]);

/// Starts a program in this process group, with its standard descriptors on /dev/null, that ends when this one does.
/// `told` becomes its descriptor 3, the only other one that it gets; -1 for none.
int clinux_start(const char *path, char *const arguments[], char *const environment[], int told, pid_t *child);

/// 1 once a child has ended, and is gone then; 0 while it runs. Never waits.
int clinux_has_child_ended(pid_t child);

/// A pipe that is closed on exec.
int clinux_pipe(int ends[2]);

#endif
