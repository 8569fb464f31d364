// What the thread sanitizer has to be told of Swift's Mutex, in `make tsan` alone.
//
// Taking and giving back a mutex that nobody else wants is done in code that the sanitizer sees. Where another thread has it or
// waits for it, the library Synchronization asks the kernel (futex(2), FUTEX_LOCK_PI), and that library is not built with the
// sanitizer: what one thread did under the lock and what the next one does there look like a race. The two functions that ask
// the kernel are found here first; they tell the sanitizer of the order and leave the work to the library.
//
// Nothing is suppressed by that: who looks at the same place without the mutex is found as before.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

// Weak: a tool that is built on the way, without the sanitizer, is linked with this too.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void told_lock(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT void told_unlock(SELF mutex) __asm__(UNLOCK);

// Read when a program starts, before anything of its environment.
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
