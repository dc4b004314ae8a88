#include "line.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(const unsigned char *line, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') return false;
    return true;
}

enum line next_line(struct splitter *splitter, const unsigned char *bytes, size_t count, size_t *start, const unsigned char **line,
                    size_t *length) {
    while (*start < count) {
        size_t from = *start + splitter->searched;
        const unsigned char *feed = from < count ? memchr(bytes + from, '\n', count - from) : NULL;
        size_t end = feed == NULL ? count : (size_t)(feed - bytes);
        size_t found = end - *start;
        if (found > 0 && bytes[end - 1] == '\r') found--;
        if (found > splitter->limit) return LINE_TOO_LONG;
        if (feed == NULL) {
            splitter->searched = count - *start;
            return LINE_NONE;
        }
        *line = bytes + *start;
        *length = found;
        *start = end + 1;
        splitter->searched = 0;
        if (!is_blank(*line, *length)) return LINE_COMPLETE;
    }
    return LINE_NONE;
}
