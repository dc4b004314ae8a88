/* A small reader and writer of JSON: all of RFC 8259, validated, in one pass, without recursion, with bounds. */
#ifndef JUNCTION_JSON_H
#define JUNCTION_JSON_H

#include "../junction.h"
#include "bytes.h"

/* How deep a message may be nested, as with the daemon. */
#define DEEPEST_NESTING 128
/* How many values one line may hold: an honest one has a few dozen, and each takes more memory here than on the wire. */
#define MOST_VALUES ((size_t)1 << 20)

/* Reads one text, of which it keeps a copy that is wiped by junction_value_free. NULL when it is not JSON, with the reason, or
 * where there is no memory, with NULL for it. */
junction_value *json_read(const unsigned char *text, size_t count, const char **fault);

bool json_is_utf8(const unsigned char *text, size_t count);
/* Whether it is a string that equals this one. */
bool json_equals(const junction_value *value, const char *text);
/* The text of a string without zeros inside; NULL when it is something else. */
const char *json_text(const junction_value *value);
bool json_has_number(const junction_value *value);

void json_write(struct bytes *into, const junction_value *value);
void json_write_string(struct bytes *into, const char *text, size_t count);
/* A list of pairs as an object; false when a name or a value is not UTF-8. */
bool json_write_pairs(struct bytes *into, const junction_pair *pairs);
void json_write_base64(struct bytes *into, const unsigned char *data, size_t count);
/* Decodes padded base64 into memory of the caller's of 3/4 the length; false when it is none. */
bool json_read_base64(const char *text, size_t count, unsigned char *into, size_t *length);
/* Milliseconds since 1970 of a time of RFC 3339; false when it is none. */
bool json_read_time(const junction_value *value, int64_t *milliseconds);

#endif
