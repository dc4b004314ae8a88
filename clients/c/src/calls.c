#define _GNU_SOURCE
#include "handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Waits until the call has ended and frees it. On success the caller owns `*message`. Expects the lock held and releases
 * it. */
static int outcome_of(junction *j, struct call *call, junction_value **message, junction_error *error) {
    await_call(j, call);
    unlock(j);
    int kind = call->error.kind;
    if (kind != JUNCTION_OK) {
        if (error != NULL) *error = call->error;
    } else {
        *message = (junction_value *)(uintptr_t)call->result;
        call->message = NULL;
    }
    call_free(call);
    return kind;
}

/* Makes a call and waits for its result. Wipes `params`. */
static int perform(junction *j, const char *method, struct bytes *params, int timeout, junction_value **result, junction_error *error) {
    struct call *call = call_new(method, params, deadline_after(timeout));
    if (params != NULL) bytes_wipe(params);
    if (call == NULL) return error_set(error, JUNCTION_LOCAL_FAILURE, "there is no memory for the request");
    lock(j);
    int kind = ask_call(j, call, error);
    if (kind != JUNCTION_OK) {
        unlock(j);
        call_free(call);
        return kind;
    }
    return outcome_of(j, call, result, error);
}

static int unreadable(junction_error *error, const char *what) {
    return error_set(error, JUNCTION_UNREADABLE_ANSWER, "the daemon's answer cannot be read: it is no %s", what);
}

static int without_memory(junction_error *error) {
    return error_set(error, JUNCTION_LOCAL_FAILURE, "there is no memory for the answer");
}

/* The partial snapshot that session.renew returns to a caller without the capability "status". */
static bool is_part_of_snapshot(const junction_value *value) {
    return junction_member(value, "revision") == NULL && json_text(junction_member(value, "state")) != NULL;
}

/* Converts the value to a snapshot, or frees it if `snapshot` is NULL. */
static int give_snapshot(junction_value *value, bool may_be_part, junction_snapshot **snapshot, junction_error *error) {
    if (!is_snapshot(value) && !(may_be_part && is_part_of_snapshot(value))) {
        junction_value_free(value);
        return unreadable(error, "snapshot");
    }
    if (snapshot == NULL) {
        junction_value_free(value);
        return JUNCTION_OK;
    }
    *snapshot = snapshot_of(value);
    if (*snapshot != NULL) return JUNCTION_OK;
    junction_value_free(value);
    return without_memory(error);
}

static int ask_for_snapshot(junction *j, const char *method, struct bytes *params, int timeout, junction_snapshot **snapshot,
                            junction_error *error) {
    if (snapshot != NULL) *snapshot = NULL;
    junction_value *value;
    int kind = perform(j, method, params, timeout, &value, error);
    return kind == JUNCTION_OK ? give_snapshot(value, strcmp(method, "session.renew") == 0, snapshot, error) : kind;
}

/* -- Any method ------------------------------------------------------------------------------------------------------ */

int call_of(const char *method, const char *params, int timeout, struct call **call, junction_error *error) {
    if (method == NULL || !json_is_utf8((const unsigned char *)method, strlen(method)))
        return error_set(error, JUNCTION_INVALID_ARGUMENT, "the method's name is not UTF-8");
    struct bytes text = {0};
    bool is_about_somebody = false;
    if (params != NULL) {
        const char *fault = NULL;
        junction_value *value = json_read((const unsigned char *)params, strlen(params), &fault);
        if (value == NULL && fault != NULL)
            return error_set(error, JUNCTION_INVALID_ARGUMENT, "the parameters are not JSON: %s", fault);
        enum junction_type type = junction_type_of(value);
        is_about_somebody = junction_type_of(junction_member(value, "externalUserId")) == JUNCTION_STRING;
        /* Serialized again, because a request has to be one line. */
        if (value == NULL)
            text.failed = true;
        else
            json_write(&text, value);
        junction_value_free(value);
        if (!text.failed && type != JUNCTION_OBJECT && type != JUNCTION_ARRAY && type != JUNCTION_NULL) {
            bytes_wipe(&text);
            return error_set(error, JUNCTION_INVALID_ARGUMENT, "the parameters are no object");
        }
    }
    *call = call_new(method, &text, deadline_after(timeout));
    bytes_wipe(&text);
    if (*call == NULL) return error_set(error, JUNCTION_LOCAL_FAILURE, "there is no memory for the request");
    /* An identification of a user is repeatable: the daemon does nothing before it has asked for a credential. Without a
     * user it is an immediate sign-out. */
    if (strcmp(method, "session.identify") == 0) (*call)->is_repeatable = is_about_somebody;
    return JUNCTION_OK;
}

int junction_call(junction *j, const char *method, const char *params, int timeout, junction_value **result, junction_error *error) {
    if (result != NULL) *result = NULL;
    struct call *call = NULL;
    int kind = call_of(method, params, timeout, &call, error);
    if (kind != JUNCTION_OK) return kind;
    lock(j);
    kind = ask_call(j, call, error);
    if (kind != JUNCTION_OK) {
        unlock(j);
        call_free(call);
        return kind;
    }
    junction_value *value;
    kind = outcome_of(j, call, &value, error);
    if (kind != JUNCTION_OK) return kind;
    if (result != NULL)
        *result = value;
    else
        junction_value_free(value);
    return JUNCTION_OK;
}

int junction_status(junction *j, int timeout, junction_snapshot **snapshot, junction_error *error) {
    return ask_for_snapshot(j, "session.status", NULL, timeout, snapshot, error);
}

int junction_renew(junction *j, int timeout, junction_snapshot **snapshot, junction_error *error) {
    return ask_for_snapshot(j, "session.renew", NULL, timeout, snapshot, error);
}

int junction_sign_out(junction *j, int timeout, junction_snapshot **snapshot, junction_error *error) {
    return ask_for_snapshot(j, "session.signOut", NULL, timeout, snapshot, error);
}

int junction_sign_in(junction *j, const junction_pair *credential, int timeout, junction_snapshot **snapshot, junction_error *error) {
    if (snapshot != NULL) *snapshot = NULL;
    struct bytes params = {0};
    if (!json_write_pairs(&params, credential)) {
        bytes_wipe(&params);
        return error_set(error, JUNCTION_INVALID_ARGUMENT, "the credential is not UTF-8");
    }
    return ask_for_snapshot(j, "session.signIn", &params, timeout, snapshot, error);
}

/* -- Tokens ---------------------------------------------------------------------------------------------------------- */

/* A token and the message that holds its strings. The message is wiped when it is freed. */
struct owned_token {
    junction_token token;
    junction_value *value;
};

int junction_access_token(junction *j, double minimum_validity, int timeout, junction_token **token, junction_error *error) {
    *token = NULL;
    struct bytes params = {0};
    if (!(minimum_validity >= 0 && minimum_validity < 1e12))
        return error_set(error, JUNCTION_INVALID_ARGUMENT, "a token cannot be valid for %g seconds", minimum_validity);
    if (minimum_validity > 0) {
        /* In whole milliseconds, rounded up, because printf takes the decimal point from the program's locale. */
        uint64_t milliseconds = (uint64_t)(minimum_validity * 1000);
        if ((double)milliseconds < minimum_validity * 1000) milliseconds++;
        char text[64];
        if (milliseconds % 1000 == 0)
            snprintf(text, sizeof text, "{\"minimumValidity\":%llu}", (unsigned long long)(milliseconds / 1000));
        else
            snprintf(text, sizeof text, "{\"minimumValidity\":%llu.%03u}", (unsigned long long)(milliseconds / 1000),
                     (unsigned)(milliseconds % 1000));
        bytes_add_text(&params, text);
    }
    junction_value *value;
    int kind = perform(j, "token.get", &params, timeout, &value, error);
    if (kind != JUNCTION_OK) return kind;
    struct owned_token *owned = calloc(1, sizeof *owned);
    if (owned == NULL) {
        junction_value_free(value);
        return without_memory(error);
    }
    *owned = (struct owned_token){{.access_token = json_text(junction_member(value, "accessToken")),
                                   .token_type = json_text(junction_member(value, "tokenType")),
                                   .user_id = json_text(junction_member(value, "userId"))},
                                  value};
    if (owned->token.access_token == NULL || owned->token.token_type == NULL || owned->token.user_id == NULL ||
        !json_read_time(junction_member(value, "expiresAt"), &owned->token.expires_at)) {
        junction_token_free(&owned->token);
        return unreadable(error, "token");
    }
    *token = &owned->token;
    return JUNCTION_OK;
}

void junction_token_free(junction_token *token) {
    if (token == NULL) return;
    struct owned_token *owned = (struct owned_token *)token;
    junction_value_free(owned->value);
    free(owned);
}

/* -- Identification -------------------------------------------------------------------------------------------------- */

/* Leaves space in the line for the daemon's id of the question. */
#define LONGEST_REPLY (LONGEST_LINE - 1024)

int junction_reply_with(junction_reply *reply, const junction_pair *members) {
    if (reply->is_answered) return JUNCTION_INVALID_ARGUMENT;
    struct bytes text = {0};
    int kind = !json_write_pairs(&text, members) ? JUNCTION_INVALID_ARGUMENT
               : text.failed                     ? JUNCTION_LOCAL_FAILURE
               : text.count > LONGEST_REPLY      ? JUNCTION_REQUEST_TOO_LARGE
                                                 : JUNCTION_OK;
    if (kind != JUNCTION_OK) {
        bytes_wipe(&text);
        return kind;
    }
    reply->members = text;
    reply->is_answered = true;
    return JUNCTION_OK;
}

void reply_send(const struct junction_reply *reply, struct talk *talk, struct question *question) {
    int kind = talk_answer(talk, question, reply->is_answered ? &reply->members : NULL, NULL);
    if (kind != JUNCTION_OK && kind != JUNCTION_CONNECTION_LOST) talk_answer(talk, question, NULL, NULL);
}

static const char *known_outcome(const char *word) {
    static const char *const words[] = {"unchanged", "signedIn", "switched", "signedOut"};
    for (size_t i = 0; word != NULL && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], word) == 0) return words[i];
    return word == NULL ? NULL : "other";
}

/* The snapshot is a member of the result. It keeps the whole message alive. */
static int give_identified(junction_value *value, const char **outcome, junction_snapshot **snapshot, junction_error *error) {
    const char *word = known_outcome(json_text(junction_member(value, "outcome")));
    junction_value *inner = (junction_value *)(uintptr_t)junction_member(value, "snapshot");
    if (word == NULL || inner == NULL) {
        junction_value_free(value);
        return unreadable(error, "outcome");
    }
    if (outcome != NULL) *outcome = word;
    return give_snapshot(inner, false, snapshot, error);
}

int junction_identify(junction *j, const char *external_user_id, junction_credential_callback *callback, void *context, int timeout,
                      const char **outcome, junction_snapshot **snapshot, junction_error *error) {
    if (snapshot != NULL) *snapshot = NULL;
    if (outcome != NULL) *outcome = NULL;
    struct bytes params = {0};
    bytes_add_text(&params, "{\"externalUserId\":");
    if (external_user_id == NULL) {
        bytes_add_text(&params, "null");
    } else if (json_is_utf8((const unsigned char *)external_user_id, strlen(external_user_id))) {
        json_write_string(&params, external_user_id, strlen(external_user_id));
    } else {
        bytes_wipe(&params);
        return error_set(error, JUNCTION_INVALID_ARGUMENT, "the user's id is not UTF-8");
    }
    bytes_add_text(&params, "}");
    struct call *call = call_new("session.identify", &params, deadline_after(timeout));
    bytes_wipe(&params);
    char *about = external_user_id == NULL ? NULL : strdup(external_user_id);
    if (call == NULL || (external_user_id != NULL && about == NULL)) {
        free(about);
        call_free(call);
        return error_set(error, JUNCTION_LOCAL_FAILURE, "there is no memory for the request");
    }
    call->about = about;
    call->is_repeatable = about != NULL;

    lock(j);
    int kind = ask_call(j, call, error);
    if (kind != JUNCTION_OK) {
        unlock(j);
        call_free(call);
        return kind;
    }
    await_call(j, call);
    if (call->question != 0 && call->stage != STAGE_DONE) {
        unlock(j);
        struct junction_reply reply = {0};
        if (callback != NULL) callback(context, external_user_id, &reply);
        lock(j);
        /* The question no longer exists if the call has ended meanwhile. */
        struct question *question = talk_find_question(&j->calls, call->question);
        call->question = 0;
        if (question != NULL) {
            reply_send(&reply, &j->calls, question);
            push(j, &j->calls);
        }
        bytes_wipe(&reply.members);
    }
    junction_value *value;
    kind = outcome_of(j, call, &value, error);
    return kind == JUNCTION_OK ? give_identified(value, outcome, snapshot, error) : kind;
}

/* -- The provider's API ---------------------------------------------------------------------------------------------- */

static bool write_text(struct bytes *into, const char *name, const char *text) {
    size_t length = strlen(text);
    if (!json_is_utf8((const unsigned char *)text, length)) return false;
    bytes_add_text(into, name);
    json_write_string(into, text, length);
    return true;
}

static bool write_api_request(struct bytes *into, const char *method, const char *path, const junction_pair *query,
                              const junction_pair *headers, const void *body, size_t length) {
    if (!write_text(into, "{\"method\":", method) || !write_text(into, ",\"path\":", path)) return false;
    if (query != NULL) {
        bytes_add_text(into, ",\"query\":");
        if (!json_write_pairs(into, query)) return false;
    }
    if (headers != NULL) {
        bytes_add_text(into, ",\"headers\":");
        if (!json_write_pairs(into, headers)) return false;
    }
    if (body != NULL && json_is_utf8(body, length)) {
        bytes_add_text(into, ",\"body\":");
        json_write_string(into, body, length);
    } else if (body != NULL) {
        bytes_add_text(into, ",\"bodyBase64\":\"");
        json_write_base64(into, body, length);
        bytes_add_text(into, "\"");
    }
    bytes_add_text(into, "}");
    return true;
}

/* An answer and the message that holds its strings. */
struct owned_answer {
    junction_answer answer;
    junction_value *value;
    unsigned char *decoded;
    size_t decoded_size;
    junction_pair headers[];
};

/* The lookup of each header is linear, so the count is limited. The limit is about a hundred times what a server sends. */
#define MOST_HEADERS 4096

static struct owned_answer *read_answer(junction_value *value, int *kind, junction_error *error) {
    const junction_value *headers = junction_member(value, "headers"), *text = junction_member(value, "body"),
                         *base64 = junction_member(value, "bodyBase64");
    size_t count = junction_type_of(headers) == JUNCTION_OBJECT ? junction_count(headers) : 0;
    bool is_readable = count <= MOST_HEADERS;
    if (!is_readable) count = 0;
    int64_t status = junction_integer(junction_member(value, "status"), -1);
    struct owned_answer *owned = calloc(1, sizeof *owned + (count + 1) * sizeof owned->headers[0]);
    if (owned == NULL) {
        junction_value_free(value);
        *kind = without_memory(error);
        return NULL;
    }
    owned->value = value;
    owned->answer = (junction_answer){.status = (int)status, .headers = owned->headers, .body = (const unsigned char *)""};
    is_readable = is_readable && status >= 0 && status <= 999;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = junction_name_at(headers, i), *field = json_text(junction_at(headers, i));
        if (name == NULL || field == NULL)
            is_readable = false;
        else
            owned->headers[used++] = (junction_pair){name, field};
    }
    if (junction_type_of(text) == JUNCTION_STRING) {
        owned->answer.body = (const unsigned char *)junction_string(text, &owned->answer.length);
    } else if (junction_type_of(base64) == JUNCTION_STRING) {
        size_t length;
        const char *digits = junction_string(base64, &length);
        owned->decoded_size = length / 4 * 3 + 1;
        owned->decoded = calloc(1, owned->decoded_size);
        if (owned->decoded == NULL) {
            junction_answer_free(&owned->answer);
            *kind = without_memory(error);
            return NULL;
        }
        is_readable = json_read_base64(digits, length, owned->decoded, &owned->answer.length) && is_readable;
        owned->answer.body = owned->decoded;
    }
    if (is_readable) return owned;
    junction_answer_free(&owned->answer);
    *kind = unreadable(error, "answer of an API");
    return NULL;
}

int junction_request(junction *j, const char *method, const char *path, const junction_pair *query, const junction_pair *headers,
                     const void *body, size_t length, int timeout, junction_answer **answer, junction_error *error) {
    *answer = NULL;
    if (method == NULL || path == NULL) return error_set(error, JUNCTION_INVALID_ARGUMENT, "a request needs a method and a path");
    struct bytes params = {0};
    if (!write_api_request(&params, method, path, query, headers, body, length)) {
        bytes_wipe(&params);
        return error_set(error, JUNCTION_INVALID_ARGUMENT, "the request is not UTF-8");
    }
    junction_value *value;
    int kind = perform(j, "api.request", &params, timeout, &value, error);
    if (kind != JUNCTION_OK) return kind;
    struct owned_answer *owned = read_answer(value, &kind, error);
    if (owned != NULL) *answer = &owned->answer;
    return kind;
}

void junction_answer_free(junction_answer *answer) {
    if (answer == NULL) return;
    struct owned_answer *owned = (struct owned_answer *)answer;
    junction_value_free(owned->value);
    wipe_free(owned->decoded, owned->decoded_size);
    free(owned);
}
