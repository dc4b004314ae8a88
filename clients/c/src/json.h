/* A small JSON reader and writer: all of RFC 8259, validated in one pass, without recursion, with limits. */
#ifndef JUNCTION_JSON_H
#define JUNCTION_JSON_H

#include "../junction.h"
#include "bytes.h"

/* The deepest nesting of a message, the same as in the daemon. */
#define DEEPEST_NESTING 128
/* The largest number of values in one line. A normal line has a few dozen, and each value takes more memory here than on
 * the wire. */
#define MOST_VALUES ((size_t)1 << 20)

/* Parses a text. It keeps a copy, which junction_value_free wipes. Returns NULL with the reason in `*fault` if the text
 * is not JSON, and NULL with `*fault` NULL without memory. */
junction_value *json_read(const unsigned char *text, size_t count, const char **fault);

bool json_is_utf8(const unsigned char *text, size_t count);
/* Whether the value is a string that equals `text`. */
bool json_equals(const junction_value *value, const char *text);
/* Returns the text of a string without zero bytes, or NULL. */
const char *json_text(const junction_value *value);
bool json_has_number(const junction_value *value);

void json_write(struct bytes *into, const junction_value *value);
void json_write_string(struct bytes *into, const char *text, size_t count);
/* Writes a list of pairs as an object. Returns false if a name or a value is not UTF-8. */
bool json_write_pairs(struct bytes *into, const junction_pair *pairs);
void json_write_base64(struct bytes *into, const unsigned char *data, size_t count);
/* Decodes padded base64 into the caller's buffer of 3/4 of the length. Returns false if the text is not base64. */
bool json_read_base64(const char *text, size_t count, unsigned char *into, size_t *length);
/* Reads an RFC 3339 time as milliseconds since 1970. Returns false if the value is not one. */
bool json_read_time(const junction_value *value, int64_t *milliseconds);

#endif
