/* Bytes that are wiped before their memory is given back: a token may be among them. */
#ifndef JUNCTION_BYTES_H
#define JUNCTION_BYTES_H

#include <stdbool.h>
#include <stddef.h>

struct bytes {
    unsigned char *data;
    size_t count;
    size_t room;
    /* There was no memory for something that was added; it says so until the bytes are wiped. */
    bool failed;
};

/* Makes space behind what is there. */
bool bytes_reserve(struct bytes *bytes, size_t more);
void bytes_add(struct bytes *bytes, const void *data, size_t count);
void bytes_add_text(struct bytes *bytes, const char *text);
/* Forgets the first of them. */
void bytes_drop(struct bytes *bytes, size_t count);
/* Forgets all of them, and the memory. */
void bytes_wipe(struct bytes *bytes);

/* Wipes memory of the heap, and gives it back. */
void wipe_free(void *memory, size_t count);

#endif
