#define _GNU_SOURCE
#include "cwipe.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// The allocator of glibc, under the names that a replacement may call.
extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

void free(void *block) {
    if (block == NULL) return;
    int error = errno;
    explicit_bzero(block, malloc_usable_size(block));
    __libc_free(block);
    errno = error;
}

void *realloc(void *block, size_t size) {
    if (block == NULL) return __libc_malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t room = malloc_usable_size(block);
    // If a block shrinks a little, it stays where it is. `free` wipes its unused end later.
    if (size <= room && size >= room / 2) return block;
    void *moved = __libc_malloc(size);
    if (moved == NULL) return NULL;
    memcpy(moved, block, size < room ? size : room);
    free(block);
    return moved;
}
