#ifndef CLINUX_PRIVILEGE_H
#define CLINUX_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

// Functions for a program with more privileges than the process that started it, and for starting other
// programs. Functions return -errno on failure.

/// Whether the kernel gave this program privileges that the user who started it lacks (getauxval(3),
/// AT_SECURE). Stays true after the privileges are dropped.
bool clinux_is_privileged(void);

/// Opens closed standard descriptors on /dev/null, closes all other inherited descriptors, unblocks signals,
/// and disables core files. Sets the umask so that only this user can access new files. `name` becomes the
/// process's name: otherwise a restarted program would be named after a link in /proc.
int clinux_begin_anew(const char *name);

/// Prevents all users except root from inspecting or tracing this process: prctl(2), PR_SET_DUMPABLE.
int clinux_hide(void);

/// Permanently drops the group that the program got from its setgid file. Returns -EPERM if a check shows that
/// the process could regain the group.
int clinux_drop_group(void);

/// Writes the path of the file that this program was started from. The path is valid only until the file is
/// replaced.
int clinux_own_path(char *path, size_t size);

/// Restarts this program with the privileges of its file. Executes the file at `path` if it is a regular
/// setgid file, it and every folder above it belong to root, and nobody else can write to them. Otherwise
/// executes the file that the program was started from. Returns only on failure, for example -EACCES while
/// dpkg unpacks a package.
int clinux_start_anew(const char *path, char *const arguments[], char *const environment[]);

/// Starts a program in this process group, with standard descriptors on /dev/null. The kernel terminates the
/// program when this process ends. `told` becomes the program's descriptor 3, its only other one; -1 for none.
int clinux_start(const char *path, char *const arguments[], char *const environment[], int told, pid_t *child);

/// Returns 1 if the child has ended, and reaps it; 0 while it runs. Never blocks.
int clinux_has_child_ended(pid_t child);

/// Creates a close-on-exec pipe.
int clinux_pipe(int ends[2]);

#endif
