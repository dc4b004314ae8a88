#define _GNU_SOURCE
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* One value. Its descendants follow it in the array, up to `end`. In an object each value follows its name. */
struct junction_value {
    uint8_t type;
    bool truth;
    uint32_t index;
    uint32_t start;  /* offset of the decoded, zero-terminated text of a string, or of a number */
    uint32_t length;
    uint32_t count;
    uint32_t end;
};

struct document {
    char *text;
    size_t size;
    size_t count;
    size_t capacity;
    struct junction_value values[];
};

static struct document *document_of(const junction_value *value) {
    const junction_value *first = value - value->index;
    return (struct document *)((char *)(uintptr_t)first - offsetof(struct document, values));
}

static const char *text_of(const junction_value *value) {
    return document_of(value)->text + value->start;
}

void junction_value_free(junction_value *value) {
    if (value == NULL) return;
    struct document *document = document_of(value);
    wipe_free(document->text, document->size);
    free(document);
}

/* -- Reading --------------------------------------------------------------------------------------------------------- */

struct parser {
    struct document *document;
    char *at;
    char *end;
    const char *fault;
    bool without_memory;
};

static bool fail(struct parser *parser, const char *fault) {
    if (parser->fault == NULL) parser->fault = fault;
    return false;
}

static struct junction_value *add_value(struct parser *parser, enum junction_type type) {
    struct document *document = parser->document;
    if (document->count == MOST_VALUES) {
        fail(parser, "too many values");
        return NULL;
    }
    if (document->count == document->capacity) {
        size_t capacity = document->capacity * 2;
        struct document *larger = realloc(document, sizeof *document + capacity * sizeof document->values[0]);
        if (larger == NULL) {
            parser->without_memory = true;
            fail(parser, "no memory");
            return NULL;
        }
        larger->capacity = capacity;
        parser->document = document = larger;
    }
    struct junction_value *value = &document->values[document->count];
    *value = (struct junction_value){.type = (uint8_t)type, .index = (uint32_t)document->count};
    document->count++;
    value->end = (uint32_t)document->count;
    return value;
}

static void skip_space(struct parser *parser) {
    while (parser->at < parser->end && (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n' || *parser->at == '\r'))
        parser->at++;
}

/* Returns the length of the UTF-8 character at `at`; 0 if it is invalid. */
static size_t character(const unsigned char *at, size_t left) {
    unsigned char first = at[0];
    if (first < 0x80) return 1;
    size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || left < length) return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    if (first == 0xE0 && at[1] < 0xA0) return 0; /* overlong */
    if (first == 0xED && at[1] > 0x9F) return 0; /* a surrogate */
    if (first == 0xF0 && at[1] < 0x90) return 0; /* overlong */
    if (first == 0xF4 && at[1] > 0x8F) return 0; /* past U+10FFFF */
    return length;
}

bool json_is_utf8(const unsigned char *text, size_t count) {
    for (size_t i = 0; i < count;) {
        size_t length = character(text + i, count - i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Reads the four hex digits after \u. Returns -1 if they are invalid. */
static int32_t read_unit(struct parser *parser) {
    if (parser->end - parser->at < 4) return -1;
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(parser->at[i]);
        if (digit < 0) return -1;
        unit = unit << 4 | digit;
    }
    parser->at += 4;
    return unit;
}

static char *put_character(char *to, uint32_t c) {
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xC0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *to++ = (char)(0xE0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    } else {
        *to++ = (char)(0xF0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3F));
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    }
    return to;
}

/* Decodes an escape after its backslash. The decoded text is never longer than the escape. */
static char *read_escape(struct parser *parser, char *to) {
    if (parser->at == parser->end) return NULL;
    char c = *parser->at++;
    switch (c) {
    case '"':
    case '\\':
    case '/': *to++ = c; return to;
    case 'b': *to++ = '\b'; return to;
    case 'f': *to++ = '\f'; return to;
    case 'n': *to++ = '\n'; return to;
    case 'r': *to++ = '\r'; return to;
    case 't': *to++ = '\t'; return to;
    case 'u': break;
    default: return NULL;
    }
    int32_t unit = read_unit(parser);
    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return NULL;
    if (unit < 0xD800 || unit > 0xDBFF) return put_character(to, (uint32_t)unit);
    if (parser->end - parser->at < 2 || parser->at[0] != '\\' || parser->at[1] != 'u') return NULL;
    parser->at += 2;
    int32_t low = read_unit(parser);
    if (low < 0xDC00 || low > 0xDFFF) return NULL;
    return put_character(to, 0x10000 + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00));
}

/* Decodes a string in place. The terminating zero overwrites at most the closing quote. */
static bool read_string(struct parser *parser) {
    struct junction_value *value = add_value(parser, JUNCTION_STRING);
    if (value == NULL) return false;
    parser->at++;
    char *start = parser->at, *to = start;
    while (parser->at < parser->end) {
        unsigned char c = (unsigned char)*parser->at;
        if (c == '"') {
            parser->at++;
            *to = '\0';
            value->start = (uint32_t)(start - parser->document->text);
            value->length = (uint32_t)(to - start);
            return true;
        }
        if (c < 0x20) return fail(parser, "a control character in a string");
        if (c == '\\') {
            parser->at++;
            to = read_escape(parser, to);
            if (to == NULL) return fail(parser, "an escape that does not exist");
            continue;
        }
        size_t length = character((const unsigned char *)parser->at, (size_t)(parser->end - parser->at));
        if (length == 0) return fail(parser, "a string that is not UTF-8");
        if (to != parser->at) memmove(to, parser->at, length);
        to += length;
        parser->at += length;
    }
    return fail(parser, "a string without an end");
}

static bool skip_digits(struct parser *parser) {
    char *start = parser->at;
    while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9') parser->at++;
    return parser->at > start;
}

static bool read_number(struct parser *parser) {
    struct junction_value *value = add_value(parser, JUNCTION_NUMBER);
    if (value == NULL) return false;
    char *start = parser->at;
    if (*parser->at == '-') parser->at++;
    if (parser->at < parser->end && *parser->at == '0') {
        parser->at++;
    } else if (!skip_digits(parser)) {
        return fail(parser, "a number without digits");
    }
    if (parser->at < parser->end && *parser->at == '.') {
        parser->at++;
        if (!skip_digits(parser)) return fail(parser, "a number without digits");
    }
    if (parser->at < parser->end && (*parser->at == 'e' || *parser->at == 'E')) {
        parser->at++;
        if (parser->at < parser->end && (*parser->at == '+' || *parser->at == '-')) parser->at++;
        if (!skip_digits(parser)) return fail(parser, "a number without digits");
    }
    value->start = (uint32_t)(start - parser->document->text);
    value->length = (uint32_t)(parser->at - start);
    return true;
}

static bool read_word(struct parser *parser, const char *word, enum junction_type type) {
    size_t length = strlen(word);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length) != 0) return fail(parser, "no value");
    struct junction_value *value = add_value(parser, type);
    if (value == NULL) return false;
    value->truth = *word == 't';
    parser->at += length;
    return true;
}

/* Reads a name and the following colon. */
static bool read_name(struct parser *parser) {
    skip_space(parser);
    if (parser->at == parser->end || *parser->at != '"') return fail(parser, "a member without a name");
    if (!read_string(parser)) return false;
    skip_space(parser);
    if (parser->at == parser->end || *parser->at != ':') return fail(parser, "a name without a colon");
    parser->at++;
    return true;
}

static bool parse(struct parser *parser) {
    uint32_t open[DEEPEST_NESTING];
    size_t depth = 0;
    for (;;) {
        skip_space(parser);
        if (parser->at == parser->end) return fail(parser, "no value");
        bool opened = false;
        switch (*parser->at) {
        case '{':
        case '[': {
            enum junction_type type = *parser->at == '{' ? JUNCTION_OBJECT : JUNCTION_ARRAY;
            if (depth == DEEPEST_NESTING) return fail(parser, "nested too deeply");
            struct junction_value *value = add_value(parser, type);
            if (value == NULL) return false;
            open[depth++] = value->index;
            parser->at++;
            skip_space(parser);
            opened = parser->at == parser->end || *parser->at != (type == JUNCTION_OBJECT ? '}' : ']');
            if (opened && type == JUNCTION_OBJECT && !read_name(parser)) return false;
            break;
        }
        case '"':
            if (!read_string(parser)) return false;
            break;
        case 't':
            if (!read_word(parser, "true", JUNCTION_BOOLEAN)) return false;
            break;
        case 'f':
            if (!read_word(parser, "false", JUNCTION_BOOLEAN)) return false;
            break;
        case 'n':
            if (!read_word(parser, "null", JUNCTION_NULL)) return false;
            break;
        default:
            if (*parser->at != '-' && (*parser->at < '0' || *parser->at > '9')) return fail(parser, "no value");
            if (!read_number(parser)) return false;
        }
        if (opened) continue;

        /* A value is complete. Its containers may be complete, too. */
        for (;;) {
            skip_space(parser);
            if (depth == 0) return parser->at == parser->end || fail(parser, "something behind the value");
            struct junction_value *around = &parser->document->values[open[depth - 1]];
            bool is_empty = parser->document->count == around->index + 1;
            if (!is_empty) around->count++;
            if (parser->at == parser->end) return fail(parser, "no end");
            char c = *parser->at;
            if (c == ',' && !is_empty) {
                parser->at++;
                if (around->type == JUNCTION_OBJECT && !read_name(parser)) return false;
                break;
            }
            if (c != (around->type == JUNCTION_OBJECT ? '}' : ']')) return fail(parser, "a value without a comma behind it");
            parser->at++;
            around->end = (uint32_t)parser->document->count;
            depth--;
        }
    }
}

junction_value *json_read(const unsigned char *text, size_t count, const char **fault) {
    *fault = NULL;
    if (count > UINT32_MAX - 1) {
        *fault = "too long";
        return NULL;
    }
    size_t capacity = 32;
    struct document *document = malloc(sizeof *document + capacity * sizeof document->values[0]);
    char *copy = malloc(count + 1);
    if (document == NULL || copy == NULL) {
        free(document);
        free(copy);
        return NULL;
    }
    if (count > 0) memcpy(copy, text, count);
    copy[count] = '\0';
    *document = (struct document){.text = copy, .size = count + 1, .capacity = capacity};
    struct parser parser = {.document = document, .at = copy, .end = copy + count};
    bool is_read = parse(&parser);
    document = parser.document;
    if (is_read) return &document->values[0];
    wipe_free(document->text, document->size);
    free(document);
    *fault = parser.without_memory ? NULL : parser.fault;
    return NULL;
}

/* -- Access ---------------------------------------------------------------------------------------------------------- */

enum junction_type junction_type_of(const junction_value *value) {
    return value == NULL ? JUNCTION_NOTHING : (enum junction_type)value->type;
}

size_t junction_count(const junction_value *container) {
    return container == NULL ? 0 : container->count;
}

static const junction_value *next_value(const junction_value *value) {
    return value + (value->end - value->index);
}

const junction_value *junction_member(const junction_value *object, const char *name) {
    if (name == NULL || junction_type_of(object) != JUNCTION_OBJECT) return NULL;
    const junction_value *found = NULL, *at = object + 1;
    for (size_t i = 0; i < object->count; i++) {
        if (json_equals(at, name)) found = at + 1;
        at = next_value(at + 1);
    }
    return found;
}

/* Returns the element at this index, or the name of the member. */
static const junction_value *nth(const junction_value *container, size_t index) {
    if (container == NULL || index >= container->count) return NULL;
    const junction_value *at = container + 1;
    for (size_t i = 0; i < index; i++) at = next_value(container->type == JUNCTION_OBJECT ? at + 1 : at);
    return at;
}

const junction_value *junction_at(const junction_value *container, size_t index) {
    const junction_value *found = nth(container, index);
    return found != NULL && container->type == JUNCTION_OBJECT ? found + 1 : found;
}

const char *junction_name_at(const junction_value *object, size_t index) {
    return junction_type_of(object) == JUNCTION_OBJECT ? junction_string(nth(object, index), NULL) : NULL;
}

const char *junction_string(const junction_value *value, size_t *length) {
    if (length != NULL) *length = 0;
    if (junction_type_of(value) != JUNCTION_STRING) return NULL;
    if (length != NULL) *length = value->length;
    return text_of(value);
}

bool junction_boolean(const junction_value *value, bool otherwise) {
    return junction_type_of(value) == JUNCTION_BOOLEAN ? value->truth : otherwise;
}

bool json_has_number(const junction_value *value) {
    return junction_type_of(value) == JUNCTION_NUMBER;
}

/* Not strtod, which takes the decimal point from the program's locale. Exact to about fifteen digits. */
double junction_number(const junction_value *value, double otherwise) {
    if (!json_has_number(value)) return otherwise;
    const char *at = text_of(value), *end = at + value->length;
    bool is_negative = *at == '-';
    if (is_negative) at++;
    long double digits = 0;
    long scale = 0, exponent = 0;
    bool is_fraction = false;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            is_fraction = true;
            continue;
        }
        if (digits < 1e17L) {
            digits = digits * 10 + (*at - '0');
            if (is_fraction) scale--;
        } else if (!is_fraction) {
            scale++;
        }
    }
    if (at < end) {
        at++;
        bool is_small = *at == '-';
        if (*at == '-' || *at == '+') at++;
        for (; at < end; at++)
            if (exponent < 100000) exponent = exponent * 10 + (*at - '0');
        if (is_small) exponent = -exponent;
    }
    scale += exponent;
    if (scale > 5000) scale = 5000;
    if (scale < -5000) scale = -5000;
    long double power = 1, base = 10;
    for (unsigned long left = (unsigned long)(scale < 0 ? -scale : scale); left > 0; left >>= 1) {
        if (left & 1) power *= base;
        if (left > 1) base *= base;
    }
    long double number = digits == 0 ? 0 : scale < 0 ? digits / power : digits * power;
    /* A number outside the range of double becomes infinite, because the conversion would be undefined. */
    if (number > 1.7976931348623157e308L) return is_negative ? -__builtin_inf() : __builtin_inf();
    return (double)(is_negative ? -number : number);
}

int64_t junction_integer(const junction_value *value, int64_t otherwise) {
    if (!json_has_number(value)) return otherwise;
    const char *at = text_of(value), *end = at + value->length;
    bool is_negative = *at == '-';
    if (is_negative) at++;
    uint64_t digits = 0, most = is_negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') {
            /* Not written as an integer, but possibly one: 1e3, 2.0. */
            double number = junction_number(value, 0.5);
            if (number < -9007199254740992.0 || number > 9007199254740992.0) return otherwise;
            return (double)(int64_t)number == number ? (int64_t)number : otherwise;
        }
        uint64_t digit = (uint64_t)(*at - '0');
        if (digits > (most - digit) / 10) return otherwise;
        digits = digits * 10 + digit;
    }
    if (!is_negative) return (int64_t)digits;
    return digits == (uint64_t)INT64_MAX + 1 ? INT64_MIN : -(int64_t)digits;
}

bool json_equals(const junction_value *value, const char *text) {
    size_t length = strlen(text);
    return junction_type_of(value) == JUNCTION_STRING && value->length == length && memcmp(text_of(value), text, length) == 0;
}

const char *json_text(const junction_value *value) {
    if (junction_type_of(value) != JUNCTION_STRING) return NULL;
    return memchr(text_of(value), '\0', value->length) == NULL ? text_of(value) : NULL;
}

/* -- Writing --------------------------------------------------------------------------------------------------------- */

void json_write_string(struct bytes *into, const char *text, size_t count) {
    bytes_add_text(into, "\"");
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        bytes_add(into, text + start, i - start);
        start = i + 1;
        switch (c) {
        case '"': bytes_add_text(into, "\\\""); break;
        case '\\': bytes_add_text(into, "\\\\"); break;
        case '\n': bytes_add_text(into, "\\n"); break;
        case '\r': bytes_add_text(into, "\\r"); break;
        case '\t': bytes_add_text(into, "\\t"); break;
        default: {
            const char digits[] = "0123456789abcdef";
            char escape[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15], 0};
            bytes_add_text(into, escape);
        }
        }
    }
    bytes_add(into, text + start, count - start);
    bytes_add_text(into, "\"");
}

bool json_write_pairs(struct bytes *into, const junction_pair *pairs) {
    bytes_add_text(into, "{");
    bool is_first = true;
    for (; pairs != NULL && pairs->name != NULL; pairs++) {
        if (pairs->value == NULL) continue;
        size_t name = strlen(pairs->name), value = strlen(pairs->value);
        if (!json_is_utf8((const unsigned char *)pairs->name, name)) return false;
        if (!json_is_utf8((const unsigned char *)pairs->value, value)) return false;
        if (!is_first) bytes_add_text(into, ",");
        is_first = false;
        json_write_string(into, pairs->name, name);
        bytes_add_text(into, ":");
        json_write_string(into, pairs->value, value);
    }
    bytes_add_text(into, "}");
    return true;
}

static void write_scalar(struct bytes *into, const junction_value *value) {
    switch ((enum junction_type)value->type) {
    case JUNCTION_NULL: bytes_add_text(into, "null"); break;
    case JUNCTION_BOOLEAN: bytes_add_text(into, value->truth ? "true" : "false"); break;
    case JUNCTION_NUMBER: bytes_add(into, text_of(value), value->length); break;
    case JUNCTION_STRING: json_write_string(into, text_of(value), value->length); break;
    case JUNCTION_NOTHING:
    case JUNCTION_ARRAY:
    case JUNCTION_OBJECT: break;
    }
}

void json_write(struct bytes *into, const junction_value *value) {
    if (value == NULL) {
        bytes_add_text(into, "null");
        return;
    }
    /* The open containers, outermost first, and how many of their values are written. */
    struct {
        const junction_value *value;
        size_t written;
    } open[DEEPEST_NESTING];
    size_t depth = 0;
    const junction_value *at = value, *end = next_value(value);
    while (at < end || depth > 0) {
        if (depth > 0 && open[depth - 1].written == open[depth - 1].value->count) {
            depth--;
            bytes_add_text(into, open[depth].value->type == JUNCTION_OBJECT ? "}" : "]");
            continue;
        }
        if (depth > 0) {
            if (open[depth - 1].written++ > 0) bytes_add_text(into, ",");
            if (open[depth - 1].value->type == JUNCTION_OBJECT) {
                write_scalar(into, at++);
                bytes_add_text(into, ":");
            }
        }
        if (at->type == JUNCTION_OBJECT || at->type == JUNCTION_ARRAY) {
            bytes_add_text(into, at->type == JUNCTION_OBJECT ? "{" : "[");
            open[depth].value = at;
            open[depth++].written = 0;
        } else {
            write_scalar(into, at);
        }
        at++;
    }
}

char *junction_json(const junction_value *value) {
    struct bytes text = {0};
    json_write(&text, value);
    bytes_add(&text, "", 1);
    if (!text.failed) return (char *)text.data;
    bytes_wipe(&text);
    return NULL;
}

void junction_string_free(char *text) {
    if (text != NULL) wipe_free(text, strlen(text));
}

/* -- Base64 and times ------------------------------------------------------------------------------------------------ */

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void json_write_base64(struct bytes *into, const unsigned char *data, size_t count) {
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t group = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) | (left > 2 ? data[i + 2] : 0);
        char digits[4] = {base64_digits[group >> 18], base64_digits[group >> 12 & 63], left > 1 ? base64_digits[group >> 6 & 63] : '=',
                          left > 2 ? base64_digits[group & 63] : '='};
        bytes_add(into, digits, 4);
    }
}

static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool json_read_base64(const char *text, size_t count, unsigned char *into, size_t *length) {
    *length = 0;
    if (count % 4 != 0) return false;
    for (size_t i = 0; i < count; i += 4) {
        size_t padding = i + 4 < count || text[i + 3] != '=' ? 0 : text[i + 2] == '=' ? 2 : 1;
        uint32_t group = 0;
        for (size_t k = 0; k < 4; k++) {
            int digit = k < 4 - padding ? base64_digit(text[i + k]) : 0;
            if (digit < 0) return false;
            group = group << 6 | (uint32_t)digit;
        }
        if ((padding > 0 && (group & 0xFF) != 0) || (padding > 1 && (group & 0xFFFF) != 0)) return false;
        into[(*length)++] = (unsigned char)(group >> 16);
        if (padding < 2) into[(*length)++] = (unsigned char)(group >> 8);
        if (padding < 1) into[(*length)++] = (unsigned char)group;
    }
    return true;
}

/* Reads `count` digits as a number. Returns -1 for another character. */
static int64_t read_digits(const char **at, int count) {
    int64_t number = 0;
    for (int i = 0; i < count; i++) {
        char c = (*at)[i];
        if (c < '0' || c > '9') return -1;
        number = number * 10 + (c - '0');
    }
    *at += count;
    return number;
}

static int64_t days_since_1970(int64_t year, int64_t month, int64_t day) {
    if (month <= 2) year--;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

bool json_read_time(const junction_value *value, int64_t *milliseconds) {
    const char *at = json_text(value);
    /* The shortest time is 2026-11-22T10:00:00Z, 20 characters. The code checks each later character before the next one,
     * so it stops at the zero. */
    if (at == NULL || value->length < 20) return false;
    int64_t year = read_digits(&at, 4);
    if (year < 0 || *at++ != '-') return false;
    int64_t month = read_digits(&at, 2);
    if (month < 1 || month > 12 || *at++ != '-') return false;
    int64_t day = read_digits(&at, 2);
    if (day < 1 || day > 31 || (*at != 'T' && *at != 't')) return false;
    at++;
    int64_t hour = read_digits(&at, 2);
    if (hour < 0 || hour > 23 || *at++ != ':') return false;
    int64_t minute = read_digits(&at, 2);
    if (minute < 0 || minute > 59 || *at++ != ':') return false;
    int64_t second = read_digits(&at, 2);
    if (second < 0 || second > 60) return false;
    int64_t fraction = 0;
    if (*at == '.') {
        at++;
        if (*at < '0' || *at > '9') return false;
        for (int64_t weight = 100; *at >= '0' && *at <= '9'; at++, weight /= 10) fraction += weight * (*at - '0');
    }
    int64_t offset = 0;
    if (*at == 'Z' || *at == 'z') {
        at++;
    } else if (*at == '+' || *at == '-') {
        int sign = *at++ == '-' ? -1 : 1;
        int64_t hours = read_digits(&at, 2);
        if (hours < 0 || hours > 23 || *at++ != ':') return false;
        int64_t minutes = read_digits(&at, 2);
        if (minutes < 0 || minutes > 59) return false;
        offset = sign * (hours * 60 + minutes) * 60;
    } else {
        return false;
    }
    if (*at != '\0') return false;
    int64_t seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second - offset;
    *milliseconds = seconds * 1000 + fraction;
    return true;
}
