/* Fuzzes the line splitter, the JSON reader and all conversions with arbitrary bytes in arbitrary pieces. */
#define _GNU_SOURCE
#include "../src/error.h"
#include "../src/handle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static void look(const junction_value *value, int depth) {
    char *text = junction_json(value);
    const char *fault;
    /* A written value reads back as the same value. */
    junction_value *again = json_read((unsigned char *)text, strlen(text), &fault);
    if (again == NULL) abort();
    char *twice = junction_json(again);
    if (strcmp(text, twice) != 0) abort();
    junction_string_free(twice);
    junction_string_free(text);
    junction_value_free(again);
    int64_t time;
    json_read_time(value, &time);
    junction_number(value, 0);
    junction_integer(value, 0);
    size_t length;
    const char *string = junction_string(value, &length);
    if (string != NULL) {
        if (string[length] != '\0' || !json_is_utf8((const unsigned char *)string, length)) abort();
        unsigned char *decoded = malloc(length / 4 * 3 + 1);
        json_read_base64(string, length, decoded, &length);
        free(decoded);
    }
    for (size_t i = 0; depth < 4 && i < junction_count(value) && i < 64; i++) {
        junction_name_at(value, i);
        look(junction_at(value, i), depth + 1);
    }
}

static void read_line(const unsigned char *line, size_t length) {
    const char *fault;
    junction_value *value = json_read(line, length, &fault);
    if (value == NULL) {
        if (fault == NULL) abort();
        return;
    }
    look(value, 0);
    junction_error error;
    error_read(&error, value);
    error_read(&error, junction_member(value, "error"));
    if (!json_is_utf8((unsigned char *)error.message, strlen(error.message)) || *error.remedy == '\0') abort();
    junction_snapshot *snapshot = is_snapshot(value) ? snapshot_of(value) : NULL;
    if (snapshot != NULL)
        junction_snapshot_free(snapshot);
    else
        junction_value_free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count) {
    if (count < 2) return 0;
    /* The first two bytes set the size of the pieces and the longest line. */
    size_t piece = 1 + data[0] % 64;
    struct splitter splitter = {.limit = 16 + (size_t)data[1] * 16};
    data += 2;
    count -= 2;
    struct bytes bytes = {0};
    size_t start = 0, at = 0;
    while (at < count) {
        size_t some = count - at < piece ? count - at : piece;
        bytes_add(&bytes, data + at, some);
        at += some;
        const unsigned char *line;
        size_t length;
        enum line found;
        while ((found = next_line(&splitter, bytes.data, bytes.count, &start, &line, &length)) == LINE_COMPLETE) {
            if (length > splitter.limit || memchr(line, '\n', length) != NULL) abort();
            read_line(line, length);
        }
        if (found == LINE_TOO_LONG) break;
        bytes_drop(&bytes, start);
        start = 0;
    }
    bytes_wipe(&bytes);
    return 0;
}
