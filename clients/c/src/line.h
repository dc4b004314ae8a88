/* Finds the lines in a stream of bytes that arrives in pieces, without copying them. */
#ifndef JUNCTION_LINE_H
#define JUNCTION_LINE_H

#include <stddef.h>

/* What the daemon accepts from us. */
#define LONGEST_LINE ((size_t)1 << 20)
/* What we accept from the daemon: an answer of 8 MiB in which every byte had to be escaped. */
#define LONGEST_ANSWER (6 * ((size_t)8 << 20) + LONGEST_LINE)

struct splitter {
    size_t limit;
    /* How many bytes are known to hold no line feed. */
    size_t searched;
};

enum line { LINE_NONE, LINE_COMPLETE, LINE_TOO_LONG };

/* The next line of `bytes` that is not blank, from `*start` on, without its ending. `*start` is moved past what may be
 * forgotten; the rest is to be shown again, with what comes next behind it. After LINE_TOO_LONG nothing more can be read. */
enum line next_line(struct splitter *splitter, const unsigned char *bytes, size_t count, size_t *start, const unsigned char **line,
                    size_t *length);

#endif
