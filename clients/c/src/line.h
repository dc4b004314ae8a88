/* Splits a stream of bytes that arrives in pieces into lines, without a copy. */
#ifndef JUNCTION_LINE_H
#define JUNCTION_LINE_H

#include <stddef.h>

/* The longest line that the daemon accepts. */
#define LONGEST_LINE ((size_t)1 << 20)
/* The longest line that the library accepts: an answer of 8 MiB in which every byte is escaped. */
#define LONGEST_ANSWER (6 * ((size_t)8 << 20) + LONGEST_LINE)

struct splitter {
    size_t limit;
    /* The number of bytes that contain no line feed. */
    size_t searched;
};

enum line { LINE_NONE, LINE_COMPLETE, LINE_TOO_LONG };

/* Finds the next line in `bytes` that is not blank, from `*start` on, without its line ending. Moves `*start` past the
 * bytes that the caller may drop. The next call expects the remaining bytes, followed by new ones. After LINE_TOO_LONG
 * the stream is unusable. */
enum line next_line(struct splitter *splitter, const unsigned char *bytes, size_t count, size_t *start, const unsigned char **line,
                    size_t *length);

#endif
