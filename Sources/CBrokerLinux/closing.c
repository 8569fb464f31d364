#define _GNU_SOURCE
#include "event.h"

#include <errno.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A descriptor that moves to a thread that ends. */
struct closing {
    unsigned int descriptor;
    pid_t thread;
    /* Whether the thread has the descriptor in a table of its own. */
    bool is_taken;
    sem_t has_tried, may_end;
};

/* Copies the table of descriptors up to the one, and ends. Only the end closes the copies: meanwhile each may have become
   the last reference to another socket on which the kernel would linger for a thread that does not end. */
static void *end_with_descriptor(void *argument) {
    struct closing *closing = argument;
    closing->thread = (pid_t)syscall(SYS_gettid);
    closing->is_taken = syscall(SYS_close_range, closing->descriptor + 1, ~0u, CLOSE_RANGE_UNSHARE) == 0;
    sem_post(&closing->has_tried);
    while (sem_wait(&closing->may_end) < 0) continue;
    return NULL;
}

void clinux_close_by_thread(int descriptor) {
    struct closing closing = {.descriptor = (unsigned int)descriptor};
    pthread_t thread;
    sem_init(&closing.has_tried, 0, 0);
    sem_init(&closing.may_end, 0, 0);
    bool has_started = pthread_create(&thread, NULL, end_with_descriptor, &closing) == 0;
    if (has_started) while (sem_wait(&closing.has_tried) < 0) continue;
    /* If the thread has the descriptor, this is not the last reference and does not wait. */
    close(descriptor);
    if (!has_started) return;
    sem_post(&closing.may_end);
    pthread_join(thread, NULL);
    /* The thread has ended for pthread_join(3), but the kernel may still close its descriptor. */
    struct timespec pause = {.tv_nsec = 100000};
    while (closing.is_taken && syscall(SYS_tgkill, getpid(), closing.thread, 0) == 0) {
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 100000000) pause.tv_nsec *= 2;
    }
}
