/* A byte buffer. It wipes its memory before it frees it, because it may contain a token. */
#ifndef JUNCTION_BYTES_H
#define JUNCTION_BYTES_H

#include <stdbool.h>
#include <stddef.h>

struct bytes {
    unsigned char *data;
    size_t count;
    size_t capacity;
    /* An allocation failed. The flag stays set until bytes_wipe. */
    bool failed;
};

/* Ensures space for `more` bytes after the content. */
bool bytes_reserve(struct bytes *bytes, size_t more);
void bytes_add(struct bytes *bytes, const void *data, size_t count);
void bytes_add_text(struct bytes *bytes, const char *text);
/* Removes the first `count` bytes. */
void bytes_drop(struct bytes *bytes, size_t count);
/* Wipes and frees the content. */
void bytes_wipe(struct bytes *bytes);

/* Wipes heap memory and frees it. */
void wipe_free(void *memory, size_t count);

#endif
