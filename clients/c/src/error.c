#define _GNU_SOURCE
#include "error.h"

#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct word {
    enum junction_kind kind;
    const char *word;
    const char *remedy;
} words[] = {
    {JUNCTION_DAEMON_UNREACHABLE, "daemonUnreachable", "start junctiond, or name its socket"},
    {JUNCTION_CONNECTION_LOST, "connectionLost", "ask for the state before it is done again"},
    {JUNCTION_LOCAL_FAILURE, "localFailure", "raise the limits of this program, or free memory"},
    {JUNCTION_INVALID_SOCKET_PATH, "invalidSocketPath", "correct the path of the socket"},
    {JUNCTION_UNREADABLE_ANSWER, "unreadableAnswer", "see 'junctionctl doctor'"},
    {JUNCTION_REQUEST_TOO_LARGE, "requestTooLarge", "send less"},
    {JUNCTION_TIMED_OUT, "timedOut", "wait longer, or ask for the state"},
    {JUNCTION_CANCELLED, "cancelled", "ask for the state before it is done again"},
    {JUNCTION_INVALID_ARGUMENT, "invalidArgument", "correct this program"},
    {JUNCTION_ALREADY_SIGNED_IN, "alreadySignedIn", "sign out first, or identify the other user"},
    {JUNCTION_INVALID_CREDENTIAL, "invalidCredential", "get a new token, code or key and sign in with that"},
    {JUNCTION_NOT_SIGNED_IN, "notSignedIn", "sign in"},
    {JUNCTION_REAUTHENTICATION_REQUIRED, "reauthenticationRequired", "sign in with a new token for the same user"},
    {JUNCTION_SESSION_TERMINATED, "sessionTerminated", "the account is closed at the provider; sign in as somebody else"},
    {JUNCTION_PROVIDER_UNAVAILABLE, "providerUnavailable", "nothing is lost; try again later"},
    {JUNCTION_PERMISSION_DENIED, "permissionDenied", "ask for access: the socket's group, or an [[access]] entry of the configuration"},
    {JUNCTION_INCOMPATIBLE_CREDENTIAL, "incompatibleCredential", "sign out first"},
    {JUNCTION_STORAGE_UNAVAILABLE, "storageUnavailable", "run 'junctionctl doctor'"},
    {JUNCTION_TOKEN_EXPIRED, "tokenExpired", "renew, or wait for the next attempt"},
    {JUNCTION_BUSY, "busy", "let some of this user's requests finish first"},
    {JUNCTION_UNSUPPORTED, "unsupported", "see the state for the provider and the scheme"},
    {JUNCTION_MISCONFIGURED, "misconfigured", "correct it ('junctiond --check-config'), then: systemctl reload junctiond"},
    {JUNCTION_PARSE_ERROR, "parseError", "see 'junctionctl doctor'"},
    {JUNCTION_INVALID_REQUEST, "invalidRequest", "see 'junctionctl doctor'"},
    {JUNCTION_METHOD_NOT_FOUND, "methodNotFound", "the daemon is older than this program: update it"},
    {JUNCTION_INVALID_PARAMS, "invalidParams", "correct what was asked for"},
    {JUNCTION_INTERNAL_ERROR, "internalError", "see 'junctionctl doctor'"},
};

static const struct word *word_of(int kind) {
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if ((int)words[i].kind == kind) return &words[i];
    return NULL;
}

/* Copies the text, truncated at a character boundary if it is too long. */
static void copy(char *into, size_t capacity, const char *text) {
    size_t count = strnlen(text, capacity);
    if (count == capacity) {
        count--;
        while (count > 0 && ((unsigned char)text[count] & 0xC0) == 0x80) count--;
    }
    memcpy(into, text, count);
    into[count] = '\0';
}

/* Copies the text only if it fits completely. */
static void copy_whole(char *into, size_t capacity, const junction_value *value) {
    const char *text = json_text(value);
    if (text != NULL && strlen(text) < capacity) strcpy(into, text);
}

static void begin(junction_error *error, int kind) {
    *error = (junction_error){.kind = kind, .retry_after = -1, .maximum = -1};
    const struct word *known = word_of(kind);
    if (known == NULL) return;
    copy(error->word, sizeof error->word, known->word);
    copy(error->remedy, sizeof error->remedy, known->remedy);
}

int error_set(junction_error *error, enum junction_kind kind, const char *format, ...) {
    if (error == NULL) return kind;
    begin(error, kind);
    char message[2 * sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    copy(error->message, sizeof error->message, message);
    return kind;
}

/* Reads a number of seconds. Returns -1 if it is no usable duration. */
static double seconds(const junction_value *value) {
    double number = junction_number(value, -1);
    return number >= 0 && number < 1e15 ? number : -1;
}

void error_read(junction_error *error, const junction_value *wire) {
    int64_t code = junction_integer(junction_member(wire, "code"), 0);
    const char *message = json_text(junction_member(wire, "message"));
    if (!json_has_number(junction_member(wire, "code")) || message == NULL || code < INT32_MIN || code > INT32_MAX) {
        begin(error, JUNCTION_INTERNAL_ERROR);
        error->code = JUNCTION_INTERNAL_ERROR;
        copy(error->message, sizeof error->message, "The other side's answer cannot be read");
        return;
    }
    const junction_value *data = junction_member(wire, "data");
    const char *word = json_text(junction_member(data, "kind"));
    int kind = JUNCTION_OTHER;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bool is_on_wire = (int)words[i].kind > 1000 || (int)words[i].kind < 0;
        if (is_on_wire && (word != NULL ? strcmp(words[i].word, word) == 0 : (int)words[i].kind == (int)code)) kind = words[i].kind;
    }
    begin(error, kind);
    error->code = (int)code;
    if (kind == JUNCTION_OTHER) {
        if (word != NULL)
            copy(error->word, sizeof error->word, word);
        else
            snprintf(error->word, sizeof error->word, "error%d", (int)code);
        copy(error->remedy, sizeof error->remedy, "see 'junctionctl doctor'");
    }
    copy(error->message, sizeof error->message, message);
    error->retry_after = seconds(junction_member(data, "retryAfter"));
    error->maximum = seconds(junction_member(data, "maximum"));
    copy_whole(error->user_id, sizeof error->user_id, junction_member(data, "userId"));
    copy_whole(error->capability, sizeof error->capability, junction_member(data, "capability"));
    const junction_value *termination = junction_member(data, "termination");
    copy_whole(error->termination_code, sizeof error->termination_code, junction_member(termination, "code"));
    const char *why = json_text(junction_member(termination, "message"));
    if (why != NULL) copy(error->termination_message, sizeof error->termination_message, why);
    if (!json_read_time(junction_member(termination, "at"), &error->termination_at)) error->termination_at = 0;
    /* The daemon knows the cause, so its remedy has priority. */
    const char *remedy = json_text(junction_member(data, "remedy"));
    if (remedy != NULL)
        copy(error->remedy, sizeof error->remedy, remedy);
    else if (error->retry_after >= 0)
        snprintf(error->remedy, sizeof error->remedy, "try again in %.0f s", error->retry_after < 1 ? 1 : error->retry_after + 0.499);
    else if (kind == JUNCTION_INVALID_PARAMS && error->maximum >= 0)
        snprintf(error->remedy, sizeof error->remedy, "at most %.0f s is possible", error->maximum);
}

bool error_is_passing(const junction_error *error) {
    return error->kind == JUNCTION_DAEMON_UNREACHABLE || error->kind == JUNCTION_CONNECTION_LOST ||
           error->kind == JUNCTION_BUSY || error->kind == JUNCTION_MISCONFIGURED;
}
