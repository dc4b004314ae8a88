#define _GNU_SOURCE
#include "bytes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void wipe_free(void *memory, size_t count) {
    if (memory == NULL) return;
    explicit_bzero(memory, count);
    free(memory);
}

bool bytes_reserve(struct bytes *bytes, size_t more) {
    if (bytes->failed) return false;
    if (bytes->capacity - bytes->count >= more) return true;
    size_t capacity = bytes->capacity < 512 ? 512 : bytes->capacity;
    while (capacity - bytes->count < more && capacity <= SIZE_MAX / 4) capacity *= 2;
    /* Not realloc: it would leave a copy of the old bytes in freed memory. */
    unsigned char *data = capacity - bytes->count < more ? NULL : malloc(capacity);
    if (data == NULL) {
        bytes->failed = true;
        return false;
    }
    if (bytes->count > 0) memcpy(data, bytes->data, bytes->count);
    wipe_free(bytes->data, bytes->capacity);
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void bytes_add(struct bytes *bytes, const void *data, size_t count) {
    if (count == 0 || !bytes_reserve(bytes, count)) return;
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

void bytes_add_text(struct bytes *bytes, const char *text) {
    bytes_add(bytes, text, strlen(text));
}

void bytes_drop(struct bytes *bytes, size_t count) {
    if (count == 0) return;
    size_t rest = bytes->count - count;
    if (rest > 0) memmove(bytes->data, bytes->data + count, rest);
    explicit_bzero(bytes->data + rest, count);
    bytes->count = rest;
}

void bytes_wipe(struct bytes *bytes) {
    wipe_free(bytes->data, bytes->capacity);
    *bytes = (struct bytes){0};
}
