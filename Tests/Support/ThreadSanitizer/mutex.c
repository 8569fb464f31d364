// Tells the thread sanitizer about Swift's Mutex, in `make tsan` alone.
//
// A mutex without contention is locked and unlocked in code that the sanitizer sees. With contention, the library
// Synchronization calls the kernel (futex(2), FUTEX_LOCK_PI). That library is not built with the sanitizer, so two
// threads that hold the lock one after the other look like a race. The linker finds the two functions below before the
// library's. They report the order to the sanitizer and let the library do the work.
//
// This suppresses nothing: an access without the mutex is found as before.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

// Weak, because tools that the build runs are linked with this file, but are built without the sanitizer.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void told_lock(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT void told_unlock(SELF mutex) __asm__(UNLOCK);

// The sanitizer reads this when a program starts, before its environment.
const char *__tsan_default_options(void) { return "log_path=" REPORTS; }

static void *of_library(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

SWIFT void told_lock(uint32_t thread, SELF mutex) {
    typedef SWIFT void (*function)(uint32_t, SELF);
    static _Atomic(void *) known;
    if (!known) known = of_library(LOCK);
    ((function)known)(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void told_unlock(SELF mutex) {
    typedef SWIFT void (*function)(SELF);
    static _Atomic(void *) known;
    if (!known) known = of_library(UNLOCK);
    if (__tsan_release) __tsan_release(mutex);
    ((function)known)(mutex);
}
