/* Runs the client's side of a transcript of clients/conformance with this library.
 *
 *     conformance [--loop] SCRIPTED-DAEMON TRANSCRIPT SOCKET
 *
 * With --loop it uses junction_start and junction_step in an event loop, otherwise the blocking functions. It exits with
 * 0 if the client saw the expected results and the scripted daemon reports no mismatch. */
#define _GNU_SOURCE
#include "../src/json.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static junction *handle;
static bool uses_loop;
static FILE *to_daemon, *from_daemon;
static pid_t daemon_id;
static const char *transcript;

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", transcript);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    if (daemon_id > 0) kill(daemon_id, SIGKILL);
    exit(1);
}

static junction_value *parse(const char *text, size_t count) {
    const char *fault;
    junction_value *value = json_read((const unsigned char *)text, count, &fault);
    if (value == NULL) fail("no JSON: %s", fault == NULL ? "no memory" : fault);
    return value;
}

static void hear(void) {
    char line[64];
    do
        if (fgets(line, sizeof line, from_daemon) == NULL) fail("the daemon did not tell");
    while (strcmp(line, "told\n") != 0);
}

static void tell(void) {
    fputs("\n", to_daemon);
    fflush(to_daemon);
}

/* -- Comparing ------------------------------------------------------------------------------------------------------- */

static const junction_value *repeated(const junction_value *value) {
    return junction_type_of(value) == JUNCTION_OBJECT && junction_count(value) == 1 ? junction_member(value, "$repeat") : NULL;
}

static char *written_out(const junction_value *repeat) {
    const char *text = junction_string(junction_at(repeat, 0), NULL);
    size_t length = strlen(text), count = (size_t)junction_integer(junction_at(repeat, 1), 0);
    char *all = malloc(length * count + 1);
    for (size_t i = 0; i < count; i++) memcpy(all + i * length, text, length);
    all[length * count] = '\0';
    return all;
}

/* Writes the value as JSON, with repetitions expanded. */
static void write_out(struct bytes *into, const junction_value *value) {
    if (repeated(value) != NULL) {
        char *text = written_out(repeated(value));
        json_write_string(into, text, strlen(text));
        free(text);
    } else if (junction_type_of(value) == JUNCTION_OBJECT) {
        bytes_add_text(into, "{");
        for (size_t i = 0; i < junction_count(value); i++) {
            const char *name = junction_name_at(value, i);
            if (i > 0) bytes_add_text(into, ",");
            json_write_string(into, name, strlen(name));
            bytes_add_text(into, ":");
            write_out(into, junction_at(value, i));
        }
        bytes_add_text(into, "}");
    } else {
        json_write(into, value);
    }
}

static bool fits(const junction_value *expected, const junction_value *found) {
    if (repeated(expected) != NULL) {
        char *text = written_out(repeated(expected));
        bool is_same = junction_string(found, NULL) != NULL && strcmp(text, junction_string(found, NULL)) == 0;
        free(text);
        return is_same;
    }
    size_t a, b;
    const char *text, *other;
    switch (junction_type_of(expected)) {
    case JUNCTION_NOTHING:
    case JUNCTION_NULL: return junction_type_of(found) <= JUNCTION_NULL;
    case JUNCTION_BOOLEAN:
        return junction_type_of(found) == JUNCTION_BOOLEAN && junction_boolean(expected, false) == junction_boolean(found, true);
    case JUNCTION_NUMBER:
        return junction_type_of(found) == JUNCTION_NUMBER && junction_number(expected, 0) == junction_number(found, 1);
    case JUNCTION_STRING:
        text = junction_string(expected, &a);
        other = junction_string(found, &b);
        return other != NULL && a == b && memcmp(text, other, a) == 0;
    case JUNCTION_ARRAY:
        /* An empty list may be absent. */
        if (junction_count(expected) == 0 && found == NULL) return true;
        if (junction_type_of(found) != JUNCTION_ARRAY || junction_count(expected) != junction_count(found)) return false;
        for (size_t i = 0; i < junction_count(expected); i++)
            if (!fits(junction_at(expected, i), junction_at(found, i))) return false;
        return true;
    case JUNCTION_OBJECT:
        if (junction_type_of(found) != JUNCTION_OBJECT) return false;
        for (size_t i = 0; i < junction_count(expected); i++)
            if (!fits(junction_at(expected, i), junction_member(found, junction_name_at(expected, i)))) return false;
        return true;
    }
    return false;
}

/* The result of a call as JSON, or its error. */
struct outcome {
    struct bytes result;
    junction_error error;
    bool is_done;
};

static void write_error(struct bytes *into, const junction_error *error) {
    char number[400];
    bytes_add_text(into, "{\"kind\":");
    json_write_string(into, error->word, strlen(error->word));
    bytes_add_text(into, ",\"message\":");
    json_write_string(into, error->message, strlen(error->message));
    if (error->code != 0) snprintf(number, sizeof number, ",\"code\":%d", error->code), bytes_add_text(into, number);
    if (error->retry_after >= 0) snprintf(number, sizeof number, ",\"retryAfter\":%.9g", error->retry_after), bytes_add_text(into, number);
    if (error->maximum >= 0) snprintf(number, sizeof number, ",\"maximum\":%.9g", error->maximum), bytes_add_text(into, number);
    if (*error->user_id) bytes_add_text(into, ",\"userId\":"), json_write_string(into, error->user_id, strlen(error->user_id));
    if (*error->capability)
        bytes_add_text(into, ",\"capability\":"), json_write_string(into, error->capability, strlen(error->capability));
    if (*error->termination_code) {
        time_t at = (time_t)(error->termination_at / 1000);
        struct tm broken;
        strftime(number, sizeof number, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &broken));
        bytes_add_text(into, ",\"termination\":{\"code\":");
        json_write_string(into, error->termination_code, strlen(error->termination_code));
        bytes_add_text(into, ",\"message\":");
        json_write_string(into, error->termination_message, strlen(error->termination_message));
        if (error->termination_at != 0) bytes_add_text(into, ",\"at\":"), json_write_string(into, number, strlen(number));
        bytes_add_text(into, "}");
    }
    bytes_add_text(into, "}");
}

static void compare_error(const junction_value *expected, const junction_error *error, const char *step) {
    struct bytes text = {0};
    write_error(&text, error);
    junction_value *found = parse((char *)text.data, text.count);
    for (size_t i = 0; i < junction_count(expected); i++) {
        const char *name = junction_name_at(expected, i);
        const junction_value *wanted = junction_at(expected, i), *seen = junction_member(found, name);
        bool is_met = false;
        if (strcmp(name, "kind") == 0 && junction_type_of(wanted) == JUNCTION_ARRAY)
            for (size_t k = 0; k < junction_count(wanted); k++) is_met = is_met || fits(junction_at(wanted, k), seen);
        else
            is_met = fits(wanted, seen);
        if (!is_met) fail("%s: the error's '%s' is not as expected: %.*s", step, name, (int)text.count, (char *)text.data);
    }
    if (*error->remedy == '\0') fail("%s: the error has no remedy", step);
    junction_value_free(found);
    bytes_wipe(&text);
}

static void compare(const junction_value *expect, struct outcome *outcome, const char *step) {
    const junction_value *error = junction_member(expect, "error");
    if (error != NULL) {
        if (outcome->error.kind == JUNCTION_OK) fail("%s: it succeeded", step);
        compare_error(error, &outcome->error, step);
    } else {
        if (outcome->error.kind != JUNCTION_OK) fail("%s: %s (%s)", step, outcome->error.message, outcome->error.word);
        junction_value *found = parse((char *)outcome->result.data, outcome->result.count);
        if (!fits(junction_member(expect, "result"), found))
            fail("%s: the result is not as expected: %.*s", step, (int)(outcome->result.count > 500 ? 500 : outcome->result.count),
                 (char *)outcome->result.data);
        junction_value_free(found);
    }
    bytes_wipe(&outcome->result);
}

/* -- Calls ----------------------------------------------------------------------------------------------------------- */

static const char *wire_name(const char *call) {
    static const char *const names[][2] = {{"status", "session.status"}, {"token", "token.get"},       {"signIn", "session.signIn"},
                                           {"signOut", "session.signOut"}, {"reconcile", "session.reconcile"},
                                           {"renew", "session.renew"},   {"info", "daemon.info"},      {"metrics", "daemon.metrics"},
                                           {"api", "api.request"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i][0], call) == 0) return names[i][1];
    fail("there is no call %s", call);
    return NULL;
}

#define MOST_PAIRS 32

static const junction_pair *pairs_of(const junction_value *object, junction_pair *into) {
    size_t count = 0;
    for (size_t i = 0; i < junction_count(object) && count < MOST_PAIRS; i++)
        into[count++] = (junction_pair){junction_name_at(object, i), junction_string(junction_at(object, i), NULL)};
    into[count] = (junction_pair){NULL, NULL};
    return into;
}

static void take_snapshot(struct outcome *outcome, int kind, junction_snapshot *snapshot) {
    if (kind == JUNCTION_OK) {
        if (strcmp(snapshot->state_word, junction_string(junction_member(snapshot->json, "state"), NULL)) != 0) fail("no state");
        json_write(&outcome->result, snapshot->json);
    }
    junction_snapshot_free(snapshot);
}

static void take_answer(struct outcome *outcome, const junction_answer *answer) {
    char number[64];
    snprintf(number, sizeof number, "{\"status\":%d,\"headers\":", answer->status);
    bytes_add_text(&outcome->result, number);
    json_write_pairs(&outcome->result, answer->headers);
    if (json_is_utf8(answer->body, answer->length)) {
        bytes_add_text(&outcome->result, ",\"body\":");
        json_write_string(&outcome->result, (const char *)answer->body, answer->length);
    } else {
        bytes_add_text(&outcome->result, ",\"bodyBase64\":\"");
        json_write_base64(&outcome->result, answer->body, answer->length);
        bytes_add_text(&outcome->result, "\"");
    }
    bytes_add_text(&outcome->result, "}");
}

static void call_api(const junction_value *params, int timeout, struct outcome *outcome) {
    junction_pair query[MOST_PAIRS + 1], headers[MOST_PAIRS + 1];
    const junction_value *body = junction_member(params, "body"), *base64 = junction_member(params, "bodyBase64");
    char *bytes = NULL;
    size_t length = 0;
    if (repeated(body) != NULL) {
        bytes = written_out(repeated(body));
        length = strlen(bytes);
    } else if (body != NULL) {
        bytes = strdup(junction_string(body, &length));
    } else if (base64 != NULL) {
        size_t digits;
        const char *text = junction_string(base64, &digits);
        bytes = malloc(digits + 1);
        json_read_base64(text, digits, (unsigned char *)bytes, &length);
    }
    junction_answer *answer;
    int kind = junction_request(handle, junction_string(junction_member(params, "method"), NULL),
                                junction_string(junction_member(params, "path"), NULL),
                                junction_member(params, "query") == NULL ? NULL : pairs_of(junction_member(params, "query"), query),
                                junction_member(params, "headers") == NULL ? NULL : pairs_of(junction_member(params, "headers"), headers),
                                bytes, length, timeout, &answer, &outcome->error);
    free(bytes);
    if (kind == JUNCTION_OK) take_answer(outcome, answer);
    junction_answer_free(answer);
}

static void call_blocking(const junction_value *step, struct outcome *outcome) {
    const char *call = junction_string(junction_member(step, "call"), NULL);
    const junction_value *params = junction_member(step, "params");
    int timeout = (int)junction_integer(junction_member(step, "timeout"), -1);
    junction_error *error = &outcome->error;
    junction_snapshot *snapshot = NULL;
    int kind;
    if (strcmp(call, "status") == 0) {
        kind = junction_status(handle, timeout, &snapshot, error);
        take_snapshot(outcome, kind, snapshot);
    } else if (strcmp(call, "renew") == 0) {
        kind = junction_renew(handle, timeout, &snapshot, error);
        take_snapshot(outcome, kind, snapshot);
    } else if (strcmp(call, "signOut") == 0) {
        kind = junction_sign_out(handle, timeout, &snapshot, error);
        take_snapshot(outcome, kind, snapshot);
    } else if (strcmp(call, "signIn") == 0) {
        junction_pair pairs[MOST_PAIRS + 1];
        kind = junction_sign_in(handle, pairs_of(params, pairs), timeout, &snapshot, error);
        take_snapshot(outcome, kind, snapshot);
    } else if (strcmp(call, "token") == 0) {
        junction_token *token;
        double validity = junction_number(junction_member(params, "minimumValidity"), 0);
        if (junction_access_token(handle, validity, timeout, &token, error) == JUNCTION_OK) {
            char at[64];
            time_t seconds = (time_t)(token->expires_at / 1000);
            struct tm broken;
            strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &broken));
            json_write_pairs(&outcome->result, (const junction_pair[]){{"accessToken", token->access_token},
                                                                       {"tokenType", token->token_type},
                                                                       {"userId", token->user_id},
                                                                       {"expiresAt", at},
                                                                       {NULL, NULL}});
        }
        junction_token_free(token);
    } else if (strcmp(call, "api") == 0) {
        call_api(params, timeout, outcome);
    } else {
        char *text = params == NULL ? NULL : junction_json(params);
        junction_value *value;
        if (junction_call(handle, wire_name(call), text, timeout, &value, error) == JUNCTION_OK) json_write(&outcome->result, value);
        junction_value_free(value);
        junction_string_free(text);
    }
    outcome->is_done = true;
}

static void answered(void *context, const junction_value *result, const junction_error *error) {
    struct outcome *outcome = context;
    if ((result == NULL) == (error == NULL)) fail("both or nothing");
    if (error != NULL) outcome->error = *error;
    if (result != NULL) json_write(&outcome->result, result);
    outcome->is_done = true;
}

static void start(const junction_value *step, struct outcome *outcome, uint64_t *number) {
    const char *call = junction_string(junction_member(step, "call"), NULL);
    struct bytes params = {0};
    if (junction_member(step, "params") != NULL) write_out(&params, junction_member(step, "params"));
    bytes_add(&params, "", 1);
    int timeout = (int)junction_integer(junction_member(step, "timeout"), -1);
    junction_error error;
    if (junction_start(handle, wire_name(call), params.count > 1 ? (char *)params.data : NULL, timeout, answered, outcome, number, &error)) {
        outcome->error = error;
        outcome->is_done = true;
    }
    bytes_wipe(&params);
}

/* One turn of an event loop that serves only this library. */
static void turn(void) {
    struct pollfd waited = {.fd = junction_fd(handle), .events = junction_events(handle)};
    int ready = poll(&waited, 1, 60000);
    if (ready < 0 && errno != EINTR) fail("poll: %s", strerror(errno));
    if (ready == 0) fail("nothing happened for a minute");
    junction_step(handle);
}

struct thread {
    pthread_t id;
    const junction_value *step;
    struct outcome outcome;
};

static void *run_thread(void *context) {
    struct thread *thread = context;
    call_blocking(thread->step, &thread->outcome);
    return NULL;
}

static void play_calls(const junction_value *steps, size_t count, const char *name) {
    struct thread threads[16] = {0};
    bool cancels = junction_boolean(junction_member(junction_at(steps, 0), "cancelWhenHeard"), false);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = 0;
        threads[i].step = junction_at(steps, i);
        if (!uses_loop) {
            if (count == 1 && !cancels)
                call_blocking(threads[i].step, &threads[i].outcome);
            else
                pthread_create(&threads[i].id, NULL, run_thread, &threads[i]);
        } else {
            start(threads[i].step, &threads[i].outcome, &number);
        }
        if (!cancels) continue;
        hear();
        if (!uses_loop) {
            junction_cancel(handle);
        } else {
            if (!junction_stop(handle, number)) fail("%s: it cannot be stopped", name);
            threads[i].outcome.error.kind = JUNCTION_CANCELLED;
            strcpy(threads[i].outcome.error.word, "cancelled");
            strcpy(threads[i].outcome.error.remedy, "none");
            threads[i].outcome.is_done = true;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (threads[i].id != 0) pthread_join(threads[i].id, NULL);
        while (!threads[i].outcome.is_done) turn();
    }
    for (size_t i = 0; i < count; i++) compare(junction_member(threads[i].step, "expect"), &threads[i].outcome, name);
}

/* -- Questions of the daemon ----------------------------------------------------------------------------------------- */

struct identification {
    const junction_value *credential;
    int timeout;
    bool is_late;
    int asked;
    bool has_failed;
    uint64_t question; /* in an event loop, answered after the call has ended */
};

static void credential(void *context, const char *user, junction_reply *reply) {
    struct identification *it = context;
    (void)user;
    it->asked++;
    if (junction_type_of(it->credential) != JUNCTION_OBJECT) {
        it->has_failed = true;
        return;
    }
    /* The timeout of the call started before this sleep, so it has passed after it. */
    if (it->is_late) poll(NULL, 0, it->timeout + 1);
    junction_pair pairs[MOST_PAIRS + 1];
    if (junction_reply_with(reply, pairs_of(it->credential, pairs)) != JUNCTION_OK) fail("no reply");
}

static void credential_in_loop(void *context, const char *method, const junction_value *params, uint64_t question) {
    struct identification *it = context;
    if (strcmp(method, "session.authenticate") != 0 || junction_member(params, "externalUserId") == NULL) fail("asked for %s", method);
    it->asked++;
    it->question = question;
    if (it->is_late) return;
    junction_pair pairs[MOST_PAIRS + 1];
    it->has_failed = junction_type_of(it->credential) != JUNCTION_OBJECT;
    junction_respond(handle, question, it->has_failed ? NULL : pairs_of(it->credential, pairs), NULL);
}

static void play_identify(const junction_value *step, const char *name) {
    struct identification it = {.credential = junction_member(step, "credential"),
                                .timeout = (int)junction_integer(junction_member(step, "timeout"), -1),
                                .is_late = junction_boolean(junction_member(step, "late"), false)};
    const char *user = junction_string(junction_member(step, "identify"), NULL);
    struct outcome outcome = {0};
    if (!uses_loop) {
        const char *word;
        junction_snapshot *snapshot;
        if (junction_identify(handle, user, credential, &it, it.timeout, &word, &snapshot, &outcome.error) == JUNCTION_OK) {
            bytes_add_text(&outcome.result, "{\"outcome\":");
            json_write_string(&outcome.result, word, strlen(word));
            bytes_add_text(&outcome.result, ",\"snapshot\":");
            json_write(&outcome.result, snapshot->json);
            bytes_add_text(&outcome.result, "}");
        }
        junction_snapshot_free(snapshot);
    } else {
        struct bytes params = {0};
        bytes_add_text(&params, "{\"externalUserId\":");
        json_write(&params, junction_member(step, "identify"));
        bytes_add(&params, "}", 2);
        junction_on_question(handle, credential_in_loop, &it);
        if (junction_start(handle, "session.identify", (char *)params.data, it.timeout, answered, &outcome, NULL, &outcome.error))
            fail("start");
        while (!outcome.is_done) turn();
        junction_pair pairs[MOST_PAIRS + 1];
        if (it.is_late && it.asked > 0 &&
            junction_respond(handle, it.question, pairs_of(it.credential, pairs), NULL) != JUNCTION_CONNECTION_LOST)
            fail("%s: a late answer was taken", name);
        junction_on_question(handle, NULL, NULL);
        bytes_wipe(&params);
    }
    if (it.asked != (int)junction_integer(junction_member(step, "asked"), it.asked)) fail("%s: asked %d times", name, it.asked);
    if (it.has_failed) {
        /* The app reports its own failure: C has no exception that could carry it through the library. */
        strcpy(outcome.error.word, "raised");
        if (outcome.error.kind == JUNCTION_OK) fail("%s: it succeeded without a credential", name);
    }
    compare(junction_member(step, "expect"), &outcome, name);
}

struct duty {
    const junction_value *questions;
    size_t asked;
    const char *name;
    bool has_ended;
    junction_error error;
};

static const junction_pair *next_answer(struct duty *duty, const junction_value *request, junction_pair *pairs) {
    const junction_value *expected = junction_at(duty->questions, duty->asked++);
    if (expected == NULL) fail("%s: asked once too often", duty->name);
    if (!fits(junction_member(expected, "request"), request)) fail("%s: question %zu is not as expected", duty->name, duty->asked);
    const junction_value *answer = junction_member(expected, "answer");
    return junction_type_of(answer) == JUNCTION_OBJECT ? pairs_of(answer, pairs) : NULL;
}

static void renew(void *context, const junction_renewal *renewal, junction_reply *reply) {
    struct duty *duty = context;
    junction_pair pairs[MOST_PAIRS + 1];
    if (renewal->deadline == 0 || strcmp(renewal->user_id, "anna") != 0) fail("%s: no renewal", duty->name);
    const junction_pair *answer = next_answer(duty, renewal->json, pairs);
    if (answer != NULL && junction_reply_with(reply, answer) != JUNCTION_OK) fail("%s: no reply", duty->name);
    if (duty->asked == junction_count(duty->questions)) junction_cancel(handle);
}

static void renew_in_loop(void *context, const char *method, const junction_value *params, uint64_t question) {
    struct duty *duty = context;
    junction_pair pairs[MOST_PAIRS + 1];
    if (strcmp(method, "session.willRenewAccessToken") != 0) fail("asked for %s", method);
    if (junction_respond(handle, question, next_answer(duty, params, pairs), NULL) != JUNCTION_OK) fail("%s: no answer", duty->name);
}

static void duty_ended(void *context, const junction_value *result, const junction_error *error) {
    struct duty *duty = context;
    (void)result;
    duty->has_ended = true;
    duty->error = *error;
}

static void play_handle(const junction_value *step, const char *name) {
    struct duty duty = {.questions = junction_member(step, "handle"), .name = name};
    const junction_value *error = junction_member(step, "error");
    if (!uses_loop) {
        int kind = junction_handle_renewals(handle, renew, &duty, -1, &duty.error);
        if (error == NULL && kind != JUNCTION_CANCELLED) fail("%s: the duty ended: %s", name, duty.error.message);
    } else {
        junction_on_question(handle, renew_in_loop, &duty);
        if (junction_register_start(handle, duty_ended, &duty, NULL) != JUNCTION_OK) fail("%s: no duty", name);
        while (!duty.has_ended && (error != NULL || duty.asked < junction_count(duty.questions))) turn();
        junction_register_stop(handle);
        junction_on_question(handle, NULL, NULL);
    }
    if (error != NULL) compare_error(error, &duty.error, name);
    if (duty.asked != junction_count(duty.questions)) fail("%s: asked %zu times", name, duty.asked);
}

/* -- Watches --------------------------------------------------------------------------------------------------------- */

static junction_watch *watch;
static bool is_watching;
static struct bytes newest; /* in the event loop */
static junction_error watch_error;

static void changed(void *context, const junction_snapshot *snapshot, const junction_error *error) {
    (void)context;
    if (error != NULL) watch_error = *error;
    if (snapshot == NULL) return;
    bytes_wipe(&newest);
    json_write(&newest, snapshot->json);
}

/* Returns the next snapshot as JSON, or NULL with an error. */
static junction_value *next_snapshot(junction_error *error) {
    if (!uses_loop) {
        junction_snapshot *snapshot;
        if (junction_watch_next(watch, -1, &snapshot, error) != JUNCTION_OK) return NULL;
        struct bytes text = {0};
        json_write(&text, snapshot->json);
        junction_value *value = parse((char *)text.data, text.count);
        bytes_wipe(&text);
        junction_snapshot_free(snapshot);
        return value;
    }
    while (newest.count == 0 && watch_error.kind == JUNCTION_OK) turn();
    if (newest.count == 0) {
        *error = watch_error;
        return NULL;
    }
    junction_value *value = parse((char *)newest.data, newest.count);
    bytes_wipe(&newest);
    return value;
}

static void play_watch(const junction_value *step, const char *name) {
    junction_error error;
    if (!is_watching) {
        is_watching = true;
        watch_error = (junction_error){0};
        bool only_states = junction_boolean(junction_member(step, "states"), false);
        if (uses_loop)
            (only_states ? junction_states_start : junction_watch_start)(handle, changed, NULL, NULL);
        else
            watch = junction_watch_open(handle, only_states ? JUNCTION_EVERY | JUNCTION_STATES : JUNCTION_EVERY, NULL);
    }
    const junction_value *next = junction_member(step, "next"), *until = junction_member(step, "until"),
                         *wrong = junction_member(step, "error");
    int64_t last = -1;
    for (size_t i = 0; i < junction_count(next); i++) {
        junction_value *found = next_snapshot(&error);
        if (found == NULL) fail("%s: %s (%s)", name, error.message, error.word);
        if (!fits(junction_at(next, i), found)) fail("%s: snapshot %zu is not as expected: %s", name, i + 1, junction_json(found));
        junction_value_free(found);
    }
    for (bool is_met = until == NULL; !is_met;) {
        junction_value *found = next_snapshot(&error);
        if (found == NULL) fail("%s: %s (%s)", name, error.message, error.word);
        int64_t revision = junction_integer(junction_member(found, "revision"), 0);
        if (revision <= last) fail("%s: %lld came after %lld", name, (long long)revision, (long long)last);
        last = revision;
        is_met = fits(until, found);
        junction_value_free(found);
    }
    if (wrong != NULL) {
        junction_value *found = next_snapshot(&error);
        if (found != NULL) fail("%s: there was a snapshot", name);
        compare_error(wrong, &error, name);
    }
}

static void end_watch(void) {
    if (uses_loop) junction_watch_stop(handle);
    junction_watch_close(watch);
    watch = NULL;
    is_watching = false;
    bytes_wipe(&newest);
}

/* -- Transcript ------------------------------------------------------------------------------------------------------- */

static void play(const junction_value *steps) {
    for (size_t i = 0; i < junction_count(steps); i++) {
        const junction_value *step = junction_at(steps, i);
        char name[32];
        snprintf(name, sizeof name, "step %zu", i + 1);
        if (junction_member(step, "call") != NULL) {
            /* play_calls expects a list. */
            struct bytes text = {0};
            bytes_add_text(&text, "[");
            json_write(&text, step);
            bytes_add_text(&text, "]");
            junction_value *list = parse((char *)text.data, text.count);
            play_calls(list, 1, name);
            junction_value_free(list);
            bytes_wipe(&text);
        } else if (junction_member(step, "together") != NULL) {
            play_calls(junction_member(step, "together"), junction_count(junction_member(step, "together")), name);
        } else if (junction_member(step, "identify") != NULL) {
            play_identify(step, name);
        } else if (junction_member(step, "watch") != NULL) {
            play_watch(step, name);
        } else if (junction_member(step, "end") != NULL) {
            end_watch();
        } else if (junction_member(step, "handle") != NULL) {
            play_handle(step, name);
        } else if (junction_member(step, "tell") != NULL) {
            tell();
        } else if (junction_member(step, "hear") != NULL) {
            hear();
        } else {
            fail("%s: there is no such step: %s", name, junction_json(step));
        }
    }
}

static void spawn_daemon(char *program, char *story, char *socket) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail("pipe: %s", strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    char *arguments[] = {program, story, socket, NULL};
    if (posix_spawn(&daemon_id, program, &actions, NULL, arguments, environ) != 0) fail("cannot start %s", program);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_daemon = fdopen(in[1], "w");
    from_daemon = fdopen(out[0], "r");
    char line[64];
    if (fgets(line, sizeof line, from_daemon) == NULL || strcmp(line, "listening\n") != 0) fail("the daemon does not listen");
}

int main(int count, char **arguments) {
    uses_loop = count > 1 && strcmp(arguments[1], "--loop") == 0;
    if (count != 4 + uses_loop) return 64;
    char **rest = arguments + 1 + uses_loop;
    transcript = rest[1];
    signal(SIGPIPE, SIG_DFL);
    struct bytes text = {0};
    FILE *file = fopen(transcript, "r");
    if (file == NULL) fail("%s", strerror(errno));
    while (bytes_reserve(&text, 65536)) {
        size_t got = fread(text.data + text.count, 1, 65536, file);
        if (got == 0) break;
        text.count += got;
    }
    fclose(file);
    junction_value *story = parse((char *)text.data, text.count);
    bytes_wipe(&text);

    spawn_daemon(rest[0], rest[1], rest[2]);
    junction_error error;
    handle = junction_open(rest[2], &error);
    if (handle == NULL) fail("%s", error.message);
    play(junction_member(story, "do"));
    end_watch();
    junction_close(handle);
    junction_value_free(story);
    int status;
    waitpid(daemon_id, &status, 0);
    fclose(to_daemon);
    fclose(from_daemon);
    if (status != 0) {
        daemon_id = 0;
        fail("the scripted daemon reports a mismatch");
    }
    return 0;
}
