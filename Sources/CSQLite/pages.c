#define _GNU_SOURCE
#include "csqlite.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* A page of a book's cache is one allocation of SQLite's, a little larger than the page. Thousands of them come and go with a
 * large save, between what stays, and of a heap so mixed malloc can give little back to the kernel. So they have places of
 * their own: blocks of 64, each of which goes back as soon as its last page does. What finds no room is malloc's. */

enum { LEAST = 4097, PLACE = 4480, PLACES = 64, BLOCK = 286720, BLOCKS = 360 };

_Static_assert(PLACE * PLACES == BLOCK && BLOCK % 4096 == 0 && PLACE % 16 == 0, "blocks end with pages");

static sqlite3_mem_methods others;
static unsigned char *places;
/* A bit for each place of a block that is free. */
static uint64_t free_places[BLOCKS];
/* No block before this one has a free place. */
static int first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is_ours(const void *memory) {
    return places && (uintptr_t)memory - (uintptr_t)places < (uintptr_t)BLOCK * BLOCKS;
}

static void *take(void) {
    void *memory = NULL;
    pthread_mutex_lock(&lock);
    while (first < BLOCKS && free_places[first] == 0) first++;
    if (first < BLOCKS) {
        int place = __builtin_ctzll(free_places[first]);
        free_places[first] &= ~(UINT64_C(1) << place);
        memory = places + (size_t)first * BLOCK + (size_t)place * PLACE;
    }
    pthread_mutex_unlock(&lock);
    return memory;
}

static void give_back(void *memory) {
    size_t offset = (size_t)((unsigned char *)memory - places);
    int block = (int)(offset / BLOCK);
    pthread_mutex_lock(&lock);
    free_places[block] |= UINT64_C(1) << offset % BLOCK / PLACE;
    if (block < first) first = block;
    /* Within the lock: nobody may have a place of it yet. */
    if (free_places[block] == UINT64_MAX) madvise(places + (size_t)block * BLOCK, BLOCK, MADV_DONTNEED);
    pthread_mutex_unlock(&lock);
}

static void *allocate(int size) {
    void *memory = places && size >= LEAST && size <= PLACE ? take() : NULL;
    return memory ? memory : others.xMalloc(size);
}

static void release(void *memory) {
    if (is_ours(memory)) give_back(memory);
    else others.xFree(memory);
}

static int size_of(void *memory) { return is_ours(memory) ? PLACE : others.xSize(memory); }

static void *reallocate(void *memory, int size) {
    if (!is_ours(memory)) return others.xRealloc(memory, size);
    if (size <= PLACE) return memory;
    void *larger = others.xMalloc(size);
    if (!larger) return NULL;
    memcpy(larger, memory, PLACE);
    give_back(memory);
    return larger;
}

int csqlite_keep_pages_apart(void) {
    /* A second time SQLite would name our own. */
    if (others.xMalloc) return SQLITE_MISUSE;
    int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &others);
    if (code != SQLITE_OK) return code;
    sqlite3_mem_methods methods = others;
    methods.xMalloc = allocate;
    methods.xFree = release;
    methods.xRealloc = reallocate;
    methods.xSize = size_of;
    code = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    if (code != SQLITE_OK || places) return code;
    /* Addresses alone: of memory there is what was written. */
    void *reserved = mmap(
        NULL, (size_t)BLOCK * BLOCKS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return SQLITE_OK;
    /* The kernel would make one page of two megabytes for the first of it. */
    madvise(reserved, (size_t)BLOCK * BLOCKS, MADV_NOHUGEPAGE);
    memset(free_places, 0xFF, sizeof free_places);
    places = reserved;
    return SQLITE_OK;
}
