// Sets another file as its executable, which /proc/PID/exe then shows, and makes calls like caller.c. The process stays in
// process 1's namespaces. A child that shares its memory has the necessary capability, in a user namespace of its own.
// usage: impostor FILE SOCKET CALL…
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int call(int count, char **arguments);
#define main call
#include "caller.c"
#undef main

static struct prctl_mm_map map;
static int outcome = -1;

static int child(void *unused) {
    (void)unused;
    outcome = prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0 ? 0 : errno;
    _exit(0);
}

// Fills the map with the current values: proc_pid_stat(5), fields 26 to 51.
static void read_map(void) {
    char line[4096] = "";
    FILE *file = fopen("/proc/self/stat", "r");
    if (!file || !fgets(line, sizeof line, file)) exit(3);
    fclose(file);
    uint64_t fields[64] = {0};
    int number = 3;
    for (char *word = strtok(strrchr(line, ')') + 2, " "); word && number < 64; word = strtok(NULL, " ")) fields[number++] = strtoull(word, NULL, 10);
    map.start_code = fields[26];
    map.end_code = fields[27];
    map.start_stack = fields[28];
    map.start_data = fields[45];
    map.end_data = fields[46];
    map.start_brk = fields[47];
    map.brk = (uintptr_t)sbrk(0);
    map.arg_start = fields[48];
    map.arg_end = fields[49];
    map.env_start = fields[50];
    map.env_end = fields[51];
}

// Replaces the mappings of the old file by copies: while the file is mapped, the kernel accepts no other executable.
static void unmap_own_file(void) {
    char line[4096], own[1024];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    if (size < 0) exit(3);
    own[size] = 0;
    struct { uintptr_t start, end; int protection; } parts[32];
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file) && count < 32) {
        char mode[8];
        if (!strstr(line, own) || sscanf(line, "%lx-%lx %7s", &parts[count].start, &parts[count].end, mode) != 3) continue;
        parts[count].protection = (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) | (mode[2] == 'x' ? PROT_EXEC : 0);
        count++;
    }
    if (file) fclose(file);
    for (int index = 0; index < count; index++) {
        size_t length = parts[index].end - parts[index].start;
        void *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(copy, (void *)parts[index].start, length);
        mprotect(copy, length, parts[index].protection);
        mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)parts[index].start);
    }
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    read_map();
    map.exe_fd = (uint32_t)open(arguments[1], O_RDONLY);
    unmap_own_file();
    char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pid_t helper = clone(child, stack + 65536, CLONE_VM | CLONE_NEWUSER | SIGCHLD, NULL);
    if (helper < 0) {
        printf("not forged: %s\n", strerror(errno));
        return 4;
    }
    waitpid(helper, NULL, 0);
    if (outcome != 0) {
        printf("not forged: %s\n", strerror(outcome));
        return 4;
    }
    return call(count - 1, arguments + 1);
}
