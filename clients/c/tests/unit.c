/* Unit tests without a daemon: the reader, the writer, the line splitter, errors. */
#define _GNU_SOURCE
#include "../src/error.h"
#include "../src/handle.h"
#include "../src/json.h"
#include "../src/line.h"
#include "check.h"

#include <locale.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static junction_value *read_text(const char *text) {
    const char *fault;
    /* A buffer of exactly this size, so that the sanitizer reports a read past its end. */
    size_t count = strlen(text);
    unsigned char *copy = malloc(count == 0 ? 1 : count);
    memcpy(copy, text, count);
    junction_value *value = json_read(copy, count, &fault);
    free(copy);
    CHECK((value == NULL) == (fault != NULL));
    return value;
}

static void valid_json_is_read_and_written(void) {
    static const char *const texts[] = {
        "null", "true", "false", "0", "-0", "1.5", "-1.5e+10", "1E-2", "\"\"", "\"a\"", "[]", "{}", "[1,[2,[3]],{}]",
        "{\"a\":1,\"b\":[true,null],\"c\":{\"d\":\"e\"}}", "\"\\\"\\\\\\n\\r\\t\\u0001\"", "\"\xc3\xa4\xf0\x9f\xa6\x8a\"", "[[],[],{}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        junction_value *value = read_text(texts[i]);
        CHECK(value != NULL);
        char *written = junction_json(value);
        CHECK(strcmp(written, texts[i]) == 0);
        junction_string_free(written);
        junction_value_free(value);
    }
    junction_value *value = read_text(" \t\r\n{ \"a\" : [ 1 , 2 ] } \n");
    char *written = junction_json(value);
    CHECK(strcmp(written, "{\"a\":[1,2]}") == 0);
    junction_string_free(written);
    junction_value_free(value);
}

static void invalid_json_is_rejected(void) {
    static const char *const texts[] = {
        "", " ", "nul", "nulll", "tru", "TRUE", "+1", "01", "1.", ".5", "-", "1e", "1e+", "0x10", "NaN", "Infinity", "\"", "\"a", "'a'",
        "\"\x01\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\ud800x\"",
        "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}",
        "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[1}", "{\"a\":1]", "1 2", "[] []", "//", "\"\\", "\"\\u", "\"\xff\"",
        "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"", "\"\xc3\"", "\"\x80\"", "\xef\xbb\xbf" "1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        junction_value *value = read_text(texts[i]);
        if (value != NULL) fprintf(stderr, "read: %s\n", texts[i]);
        CHECK(value == NULL);
    }
}

static void nesting_and_number_of_values_are_bounded(void) {
    char text[2 * (DEEPEST_NESTING + 1) + 1] = {0};
    for (int depth = DEEPEST_NESTING; depth <= DEEPEST_NESTING + 1; depth++) {
        memset(text, 0, sizeof text);
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        junction_value *value = read_text(text);
        CHECK((value != NULL) == (depth == DEEPEST_NESTING));
        if (value != NULL) {
            char *written = junction_json(value);
            CHECK(strcmp(written, text) == 0);
            junction_string_free(written);
        }
        junction_value_free(value);
    }
    size_t count = 2 * MOST_VALUES + 3;
    char *many = malloc(count);
    memset(many, '1', count);
    many[0] = '[';
    for (size_t i = 2; i < count; i += 2) many[i] = ',';
    many[count - 1] = ']';
    const char *fault;
    CHECK(json_read((unsigned char *)many, count, &fault) == NULL && fault != NULL);
    /* One array, and the maximum minus one values. */
    many[2 * (MOST_VALUES - 1)] = ']';
    junction_value *value = json_read((unsigned char *)many, 2 * (MOST_VALUES - 1) + 1, &fault);
    CHECK(value != NULL && junction_count(value) == MOST_VALUES - 1);
    junction_value_free(value);
    free(many);
}

static void members_are_found(void) {
    junction_value *value = read_text("{\"a\":{\"x\":[1,{\"y\":2},3]},\"b\\u0000c\":4,\"a\":5,\"t\":true,\"s\":\"\\ud83e\\udd8a\\u0000z\",\"n\":null}");
    CHECK(junction_count(value) == 6);
    CHECK(junction_integer(junction_member(value, "a"), 0) == 5);
    CHECK(junction_member(value, "b") == NULL);
    CHECK(junction_member(NULL, "a") == NULL && junction_member(junction_member(value, "a"), "a") == NULL);
    CHECK(junction_boolean(junction_member(value, "t"), false) && !junction_boolean(junction_member(value, "n"), false));
    CHECK(junction_type_of(junction_member(value, "n")) == JUNCTION_NULL && junction_type_of(NULL) == JUNCTION_NOTHING);
    size_t length;
    const char *text = junction_string(junction_member(value, "s"), &length);
    CHECK(length == 6 && memcmp(text, "\xf0\x9f\xa6\x8a\0z", 7) == 0);
    CHECK(json_text(junction_member(value, "s")) == NULL);
    const junction_value *x = junction_member(junction_at(value, 0), "x");
    CHECK(junction_count(x) == 3 && junction_integer(junction_at(x, 2), 0) == 3 && junction_at(x, 3) == NULL);
    CHECK(strcmp(junction_name_at(value, 3), "t") == 0 && junction_name_at(x, 0) == NULL && junction_name_at(value, 6) == NULL);
    junction_value_free(value);
}

static void numbers_are_read_in_any_locale(void) {
    setlocale(LC_ALL, "de_DE.UTF-8");
    static const struct {
        const char *text;
        double number;
        int64_t integer;
    } numbers[] = {
        {"0", 0, 0}, {"-0", 0, 0}, {"12.5", 12.5, -9}, {"-12.5e1", -125, -125}, {"1e3", 1000, 1000}, {"2.0", 2, 2}, {"0.001", 0.001, -9},
        {"9223372036854775807", 9223372036854775807.0, INT64_MAX}, {"-9223372036854775808", -9223372036854775808.0, INT64_MIN},
        {"9223372036854775808", 9223372036854775808.0, -9}, {"18446744073709551616", 18446744073709551616.0, -9},
        {"1e300", 1e300, -9}, {"1e-300", 1e-300, -9}, {"1e99999999999", HUGE_VAL, -9}, {"-1e400", -HUGE_VAL, -9}, {"1e-99999999999", 0, 0},
        {"0e99999", 0, 0}, {"100000000000000000000000000000000", 1e32, -9}, {"0.1", 0.1, -9}, {"1764000000.123", 1764000000.123, -9},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        junction_value *value = read_text(numbers[i].text);
        double number = junction_number(value, -7), wanted = numbers[i].number;
        if (!(number == wanted || fabs(number - wanted) <= fabs(wanted) * 1e-14)) fprintf(stderr, "%s is %.17g\n", numbers[i].text, number);
        CHECK(number == wanted || fabs(number - wanted) <= fabs(wanted) * 1e-14);
        CHECK(junction_integer(value, -9) == numbers[i].integer);
        junction_value_free(value);
    }
    setlocale(LC_ALL, "C");
}

static void times_are_read(void) {
    static const struct {
        const char *text;
        int64_t time; /* -1: none */
    } times[] = {
        {"\"1970-01-01T00:00:00Z\"", 0}, {"\"2026-11-22T10:00:00Z\"", 1795341600000}, {"\"2026-11-22T10:00:00.5Z\"", 1795341600500},
        {"\"2026-11-22T10:00:00.123456789Z\"", 1795341600123}, {"\"2026-11-22T12:30:00+02:30\"", 1795341600000},
        {"\"2024-02-29T00:00:00Z\"", 1709164800000}, {"\"9999-12-31T23:59:59Z\"", 253402300799000}, {"\"2026-11-22\"", -1},
        {"\"2026-13-22T10:00:00Z\"", -1}, {"\"2026-11-22T10:00:00\"", -1}, {"\"2026-11-22T10:00:00Zx\"", -1},
        {"\"2026-11-22T10:00:00.Z\"", -1}, {"\"2026-11-22T10:00:00+2\"", -1}, {"\"\"", -1}, {"7", -1}, {"\"2026-11-22T10:00:00\\u0000Z\"", -1},
        {"\"2026-11-22T24:00:00Z\"", -1}, {"\"-026-11-22T10:00:00Z\"", -1},
    };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        junction_value *value = read_text(times[i].text);
        int64_t time = -1;
        bool is_time = json_read_time(value, &time);
        if (is_time != (times[i].time >= 0) || time != times[i].time) fprintf(stderr, "%s is %lld\n", times[i].text, (long long)time);
        CHECK(is_time == (times[i].time >= 0) && time == times[i].time);
        junction_value_free(value);
    }
}

static void base64_round_trips(void) {
    unsigned char data[64], back[64];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37 + 200);
    for (size_t count = 0; count <= sizeof data; count++) {
        struct bytes text = {0};
        json_write_base64(&text, data, count);
        size_t length;
        CHECK(json_read_base64((char *)text.data, text.count, back, &length) && length == count && memcmp(data, back, count) == 0);
        bytes_wipe(&text);
    }
    static const char *const wrong[] = {"a", "ab", "abc", "ab=c", "a===", "====", "ab==ab==", "a b=", "ab\n=", "aa-_", "ab==\n", "aB=="};
    size_t length;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) CHECK(!json_read_base64(wrong[i], strlen(wrong[i]), back, &length));
}

/* Finds the same lines for each position at which the stream is cut. */
static void lines_are_found_across_any_cut(void) {
    static const char stream[] = "one\n\r\n \t\r\ntwo\r\n\n{\"three\":3}\nrest";
    static const char *const expected[] = {"one", "two", "{\"three\":3}"};
    size_t whole = sizeof stream - 1;
    for (size_t cut = 0; cut <= whole; cut++) {
        struct splitter splitter = {.limit = 100};
        struct bytes bytes = {0};
        size_t start = 0, found = 0;
        for (int part = 0; part < 2; part++) {
            bytes_add(&bytes, part == 0 ? stream : stream + cut, part == 0 ? cut : whole - cut);
            const unsigned char *line;
            size_t length;
            while (next_line(&splitter, bytes.data, bytes.count, &start, &line, &length) == LINE_COMPLETE) {
                CHECK(found < 3 && length == strlen(expected[found]) && memcmp(line, expected[found], length) == 0);
                found++;
            }
            bytes_drop(&bytes, start);
            start = 0;
        }
        CHECK(found == 3 && bytes.count == 4);
        bytes_wipe(&bytes);
    }
}

static void a_line_that_is_too_long_is_rejected(void) {
    for (size_t over = 0; over < 2; over++) {
        struct splitter splitter = {.limit = 10};
        size_t start = 0, length;
        const unsigned char *line;
        enum line found = next_line(&splitter, (const unsigned char *)"0123456789x\n", 10 + over, &start, &line, &length);
        CHECK(found == (over ? LINE_TOO_LONG : LINE_NONE));
    }
    struct splitter splitter = {.limit = 10};
    size_t start = 0, length;
    const unsigned char *line;
    CHECK(next_line(&splitter, (const unsigned char *)"0123456789\r\n", 12, &start, &line, &length) == LINE_COMPLETE && length == 10);
}

static void every_error_has_a_remedy(void) {
    junction_error error;
    junction_value *wire = read_text("{\"code\":1006,\"message\":\"no\",\"data\":{\"kind\":\"providerUnavailable\",\"retryAfter\":2.5}}");
    error_read(&error, wire);
    CHECK(error.kind == JUNCTION_PROVIDER_UNAVAILABLE && error.code == 1006 && error.retry_after == 2.5 && error.maximum < 0);
    CHECK(strcmp(error.remedy, "try again in 3 s") == 0 && strcmp(error.word, "providerUnavailable") == 0);
    junction_value_free(wire);

    wire = read_text("{\"code\":1003,\"message\":\"no\",\"data\":{\"kind\":\"notSignedIn\",\"remedy\":\"ask the oracle\"}}");
    error_read(&error, wire);
    CHECK(strcmp(error.remedy, "ask the oracle") == 0);
    junction_value_free(wire);

    /* A long message is truncated at a character boundary. */
    char text[4096] = "{\"code\":1003,\"message\":\"x";
    for (int i = 0; i < 600; i++) strcat(text, "\xc3\xa4");
    strcat(text, "\"}");
    wire = read_text(text);
    error_read(&error, wire);
    CHECK(strlen(error.message) == sizeof error.message - 1 && json_is_utf8((unsigned char *)error.message, strlen(error.message)));
    junction_value_free(wire);

    /* Errors of the library have a remedy, too. */
    for (int kind = JUNCTION_DAEMON_UNREACHABLE; kind <= JUNCTION_INVALID_ARGUMENT; kind++) {
        CHECK(error_set(&error, (enum junction_kind)kind, "%s", "what") == kind && *error.word && *error.remedy && error.code == 0);
    }
    CHECK(error_set(NULL, JUNCTION_BUSY, "%s", "nobody listens") == JUNCTION_BUSY);
    CHECK(sizeof(junction_error) == 2488);
}

static void pairs_are_written_as_an_object(void) {
    struct bytes text = {0};
    CHECK(json_write_pairs(&text, (junction_pair[]){{"a", "\"\x01\xc3\xa4"}, {"b", NULL}, {"c", ""}, {NULL, NULL}}));
    CHECK(text.count == 25 && memcmp(text.data, "{\"a\":\"\\\"\\u0001\xc3\xa4\",\"c\":\"\"}", text.count) == 0);
    bytes_wipe(&text);
    CHECK(!json_write_pairs(&text, (junction_pair[]){{"a", "\xff"}, {NULL, NULL}}));
    bytes_wipe(&text);
}

static void missing_text_is_an_invalid_argument(void) {
    junction *j = junction_open("/nowhere", NULL);
    junction_answer *answer;
    junction_error error;
    CHECK(junction_request(j, NULL, "/x", NULL, NULL, NULL, 0, -1, &answer, &error) == JUNCTION_INVALID_ARGUMENT && answer == NULL);
    CHECK(junction_request(j, "GET", NULL, NULL, NULL, NULL, 0, -1, &answer, &error) == JUNCTION_INVALID_ARGUMENT && answer == NULL);
    CHECK(junction_call(j, NULL, NULL, -1, NULL, &error) == JUNCTION_INVALID_ARGUMENT);
    CHECK(junction_start(j, NULL, NULL, -1, NULL, NULL, NULL, &error) == JUNCTION_INVALID_ARGUMENT);
    /* A missing value and a missing list are allowed: the pair is skipped, and the list is empty. */
    CHECK(junction_sign_in(j, JUNCTION_SIGN_IN_TOKEN(NULL), -1, NULL, &error) == JUNCTION_DAEMON_UNREACHABLE);
    CHECK(junction_sign_in(j, NULL, -1, NULL, &error) == JUNCTION_DAEMON_UNREACHABLE);
    CHECK(junction_member(NULL, "a") == NULL);
    junction_value *value = read_text("{\"a\":1}");
    CHECK(junction_member(value, NULL) == NULL);
    junction_value_free(value);
    junction_close(j);
}

static void dropped_bytes_are_wiped(void) {
    struct bytes bytes = {0};
    bytes_add_text(&bytes, "a secret, and what comes next");
    bytes_drop(&bytes, 10);
    CHECK(bytes.count == 19 && memcmp(bytes.data, "and what comes next", 19) == 0);
    for (size_t i = bytes.count; i < bytes.count + 10; i++) CHECK(bytes.data[i] == 0);
    bytes_wipe(&bytes);
}

static void a_failed_allocation_is_reported(void) {
    struct bytes bytes = {0};
    bytes_add_text(&bytes, "abc");
    CHECK(!bytes_reserve(&bytes, SIZE_MAX - 10) && bytes.failed);
    bytes_add_text(&bytes, "def");
    CHECK(bytes.count == 3);
    bytes_wipe(&bytes);
    CHECK(!bytes.failed);
}

/* Replaces the words of the table: - is absent, X64 and X65 are that many letters. */
static const char *cell(const char *text) {
    static const char letters[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    if (strcmp(text, "-") == 0) return NULL;
    if (strcmp(text, "EMPTY") == 0) return "";
    if (strcmp(text, "X64") == 0) return letters + 1;
    return strcmp(text, "X65") == 0 ? letters : text;
}

static void set(const char *variable, const char *value) {
    CHECK((value != NULL ? setenv(variable, value, 1) : unsetenv(variable)) == 0);
}

static void the_socket_is_the_one_in_the_table_of_all_clients(void) {
    FILE *table = fopen("../conformance/sockets.txt", "r");
    char line[512], texts[6][128], folder[] = "/tmp/junction-unit.XXXXXX", path[256], file[512];
    int rows = 0;
    CHECK(table != NULL && mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/junctiond", folder);
    CHECK(mkdir(path, 0700) == 0);
    while (fgets(line, sizeof line, table) != NULL) {
        if (line[0] == '#') continue;
        CHECK(sscanf(line, "%127s %127s %127s %127s %127s %127s", texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]) == 6);
        const char *socket = cell(texts[0]), *instance = cell(texts[1]), *present = cell(texts[4]);
        /* Each function of this library takes one of the two. */
        if (socket != NULL && instance != NULL) continue;
        rows++;
        set("JUNCTIOND_SOCKET", cell(texts[2]));
        set("JUNCTIOND_INSTANCE", cell(texts[3]));
        set("XDG_RUNTIME_DIR", folder);
        if (present != NULL) {
            snprintf(file, sizeof file, "%s/%s", path, present);
            FILE *made = fopen(file, "w");
            CHECK(made != NULL && fclose(made) == 0);
        }
        junction_error error;
        junction *j = instance != NULL ? junction_open_instance(instance, &error) : junction_open(socket, &error);
        if (strcmp(texts[5], "invalid") == 0) {
            CHECK(j == NULL && error.kind == JUNCTION_INVALID_SOCKET_PATH);
        } else {
            char expected[512];
            const char *rest = texts[5];
            if (strncmp(rest, "RUNTIME", 7) == 0) rest += 7;
            char *letters = strstr(rest, "X64");
            if (letters != NULL) {
                snprintf(expected, sizeof expected, "%.*s%s%s", (int)(letters - rest), rest, cell("X64"), letters + 3);
            } else {
                snprintf(expected, sizeof expected, "%s%s", rest == texts[5] ? "" : folder, rest);
            }
            CHECK(j != NULL);
            if (strcmp(j->path, expected) != 0) fprintf(stderr, "%s instead of: %s", j->path, line);
            CHECK(strcmp(j->path, expected) == 0);
        }
        junction_close(j);
        if (present != NULL) CHECK(remove(file) == 0);
    }
    fclose(table);
    CHECK(rows >= 20 && rmdir(path) == 0 && rmdir(folder) == 0);
    set("JUNCTIOND_SOCKET", NULL);
    set("JUNCTIOND_INSTANCE", NULL);
    set("XDG_RUNTIME_DIR", NULL);
}

int main(void) {
    RUN(valid_json_is_read_and_written);
    RUN(invalid_json_is_rejected);
    RUN(nesting_and_number_of_values_are_bounded);
    RUN(members_are_found);
    RUN(numbers_are_read_in_any_locale);
    RUN(times_are_read);
    RUN(base64_round_trips);
    RUN(lines_are_found_across_any_cut);
    RUN(a_line_that_is_too_long_is_rejected);
    RUN(every_error_has_a_remedy);
    RUN(pairs_are_written_as_an_object);
    RUN(missing_text_is_an_invalid_argument);
    RUN(dropped_bytes_are_wiped);
    RUN(a_failed_allocation_is_reported);
    RUN(the_socket_is_the_one_in_the_table_of_all_clients);
    return 0;
}
