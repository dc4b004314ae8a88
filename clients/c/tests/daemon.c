/* Tests the library against the built daemon and the sandbox, which run-tests has started.
 *
 *     daemon USER SIGN-IN-TOKEN-FILE ANOTHER-TOKEN-FILE
 *
 * The program prints `restart` to have the daemon restarted at the same socket, and then waits for a line on standard
 * input. */
#define _GNU_SOURCE
#include "../junction.h"
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static junction *handle;
static char user[64], token[16384], other_token[16384];
static junction_error error;

static bool is_ok(int kind) {
    if (kind != JUNCTION_OK) fprintf(stderr, "%s (%s): %s\n", error.message, error.word, error.remedy);
    return kind == JUNCTION_OK;
}

static void read_file(const char *path, char *into, size_t capacity) {
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fgets(into, (int)capacity, file) != NULL);
    fclose(file);
    into[strcspn(into, "\r\n")] = '\0';
}

static void without_a_session_a_token_is_refused(void) {
    junction_snapshot *snapshot;
    CHECK(is_ok(junction_status(handle, 10000, &snapshot, &error)));
    CHECK(snapshot->state == JUNCTION_STATE_NOT_LOGGED_IN && !snapshot->signed_in && snapshot->user_id == NULL);
    CHECK(strcmp(snapshot->provider, "junction") == 0 && strcmp(snapshot->storage_status, "ok") == 0);
    junction_snapshot_free(snapshot);
    junction_token *access;
    CHECK(junction_access_token(handle, 0, 10000, &access, &error) == JUNCTION_NOT_SIGNED_IN);
    CHECK(access == NULL && error.code == 1003 && *error.message && *error.remedy);
}

static void *await_sign_in(void *context) {
    (void)context;
    junction_snapshot *snapshot;
    CHECK(junction_wait(handle, JUNCTION_FRESH, 60000, &snapshot, NULL) == JUNCTION_OK);
    CHECK(strcmp(snapshot->user_id, user) == 0);
    junction_snapshot_free(snapshot);
    return NULL;
}

static int asked;
static void renew(void *context, const junction_renewal *renewal, junction_reply *reply) {
    (void)context;
    CHECK(strcmp(renewal->user_id, user) == 0 && *renewal->reason && renewal->deadline > 0);
    __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
    CHECK(junction_reply_with(reply, (junction_pair[]){{"action", "renew"}, {NULL, NULL}}) == JUNCTION_OK);
}

static void *handle_renewals(void *context) {
    (void)context;
    CHECK(junction_handle_renewals(handle, renew, NULL, -1, NULL) == JUNCTION_CANCELLED);
    return NULL;
}

static void a_sign_in_establishes_the_session(void) {
    pthread_t waiting;
    CHECK(pthread_create(&waiting, NULL, await_sign_in, NULL) == 0);
    junction_snapshot *snapshot;
    CHECK(junction_sign_in(handle, JUNCTION_SIGN_IN_TOKEN("nonsense"), 10000, &snapshot, &error) == JUNCTION_INVALID_CREDENTIAL);
    CHECK(snapshot == NULL && error.code == 1002);
    CHECK(is_ok(junction_sign_in(handle, JUNCTION_SIGN_IN_TOKEN(token), 30000, &snapshot, &error)));
    CHECK(snapshot->signed_in && snapshot->state == JUNCTION_STATE_ESTABLISHED && strcmp(snapshot->user_id, user) == 0);
    CHECK(snapshot->token_generation > 0 && snapshot->token_expires_at > snapshot->token_issued_at && snapshot->durable);
    junction_snapshot_free(snapshot);
    pthread_join(waiting, NULL);
}

static void a_token_is_valid_for_the_requested_time(void) {
    junction_token *access;
    CHECK(is_ok(junction_access_token(handle, 1.5, 30000, &access, &error)));
    CHECK(strlen(access->access_token) > 20 && strcmp(access->token_type, "Bearer") == 0 && strcmp(access->user_id, user) == 0);
    CHECK(access->expires_at > (int64_t)time(NULL) * 1000);
    junction_token_free(access);
    CHECK(junction_access_token(handle, 1e9, 30000, &access, &error) == JUNCTION_INVALID_PARAMS && error.maximum > 0);
    CHECK(strncmp(error.remedy, "at most ", 8) == 0);
    CHECK(junction_access_token(handle, -1, 30000, &access, &error) == JUNCTION_INVALID_ARGUMENT);
}

static void an_api_request_returns_the_answer(void) {
    char path[128];
    snprintf(path, sizeof path, "/v2/user/providers/%s", user);
    junction_answer *answer;
    CHECK(is_ok(junction_request(handle, "GET", path, NULL, NULL, NULL, 0, 30000, &answer, &error)));
    CHECK(answer->status == 200 && answer->length > 0 && answer->body[answer->length] == '\0' && answer->headers[0].name != NULL);
    junction_answer_free(answer);
    CHECK(junction_request(handle, "GET", "/v2/user/00000000-0000-4000-8000-000000000000", NULL, NULL, NULL, 0, 30000, &answer, &error) ==
          JUNCTION_PERMISSION_DENIED);
    CHECK(answer == NULL && error.code == 1007);
}

static void a_renewal_reaches_the_handler_and_the_watch(void) {
    pthread_t handler;
    CHECK(pthread_create(&handler, NULL, handle_renewals, NULL) == 0);
    junction_watch *watch = junction_watch_open(handle, 0, &error);
    junction_snapshot *snapshot;
    CHECK(is_ok(junction_watch_next(watch, 30000, &snapshot, &error)));
    uint64_t generation = snapshot->token_generation;
    junction_snapshot_free(snapshot);
    /* Until the handler has registered, the daemon has no handler to ask. */
    int kind = JUNCTION_TOKEN_EXPIRED;
    for (int tries = 0; tries < 1000 && __atomic_load_n(&asked, __ATOMIC_RELAXED) == 0; tries++) {
        kind = junction_renew(handle, 30000, &snapshot, &error);
        junction_snapshot_free(snapshot);
        if (kind != JUNCTION_OK) poll(NULL, 0, 10);
    }
    CHECK(__atomic_load_n(&asked, __ATOMIC_RELAXED) > 0);
    for (uint64_t seen = generation; seen <= generation;) {
        CHECK(is_ok(junction_watch_next(watch, 30000, &snapshot, &error)));
        seen = snapshot->token_generation;
        junction_snapshot_free(snapshot);
    }
    junction_watch_close(watch);
    junction_cancel(handle);
    pthread_join(handler, NULL);
}

static int wanted;
static void give_too_much(void *context, const char *external_user_id, junction_reply *reply) {
    (void)external_user_id;
    wanted++;
    CHECK(junction_reply_with(reply, JUNCTION_SIGN_IN_TOKEN((const char *)context)) == JUNCTION_REQUEST_TOO_LARGE);
}

static void give_credential(void *context, const char *external_user_id, junction_reply *reply) {
    CHECK(strcmp(external_user_id, "alice") == 0);
    wanted++;
    if (context != NULL) CHECK(junction_reply_with(reply, JUNCTION_SIGN_IN_TOKEN((const char *)context)) == JUNCTION_OK);
}

static void an_identification_asks_for_a_credential_only_if_needed(void) {
    const char *outcome;
    junction_snapshot *snapshot;
    CHECK(junction_identify(handle, "alice", give_credential, NULL, 30000, &outcome, &snapshot, &error) == JUNCTION_INVALID_CREDENTIAL);
    CHECK(wanted == 1 && outcome == NULL && snapshot == NULL);
    static char long_token[(1 << 20) + 1];
    memset(long_token, 'x', sizeof long_token - 1);
    CHECK(junction_identify(handle, "alice", give_too_much, long_token, 30000, &outcome, &snapshot, &error) == JUNCTION_INVALID_CREDENTIAL);
    CHECK(is_ok(junction_identify(handle, "alice", give_credential, other_token, 30000, &outcome, &snapshot, &error)));
    CHECK(wanted == 3 && strcmp(outcome, "unchanged") == 0 && strcmp(snapshot->external_user_id, "alice") == 0);
    junction_snapshot_free(snapshot);
    CHECK(is_ok(junction_identify(handle, "alice", give_credential, NULL, 30000, &outcome, NULL, &error)) && wanted == 3);
}

struct seen {
    int answers, changes;
};

static void count_answer(void *context, const junction_value *result, const junction_error *failure) {
    struct seen *seen = context;
    CHECK(failure == NULL && junction_string(junction_member(result, "accessToken"), NULL) != NULL);
    seen->answers++;
}

static void count_change(void *context, const junction_snapshot *snapshot, const junction_error *failure) {
    struct seen *seen = context;
    CHECK(failure == NULL && strcmp(snapshot->user_id, user) == 0);
    seen->changes++;
}

static void restart(void) {
    char line[16];
    puts("restart");
    fflush(stdout);
    CHECK(fgets(line, sizeof line, stdin) != NULL);
}

static void calls_and_watches_continue_after_a_restart(void) {
    junction_watch *watch = junction_watch_open(handle, 0, &error);
    junction_snapshot *snapshot;
    CHECK(is_ok(junction_watch_next(watch, 30000, &snapshot, &error)));
    junction_snapshot_free(snapshot);
    struct seen seen = {0};
    struct pollfd waited = {.fd = junction_fd(handle), .events = junction_events(handle)};
    CHECK(is_ok(junction_watch_start(handle, count_change, &seen, &error)));
    while (seen.changes == 0) CHECK(poll(&waited, 1, 30000) == 1 && junction_step(handle) >= 0);

    restart();

    /* The old connection has ended. The library repeats the call on a new one. */
    CHECK(is_ok(junction_status(handle, 30000, &snapshot, &error)));
    CHECK(strcmp(snapshot->user_id, user) == 0 && strcmp(snapshot->external_user_id, "alice") == 0);
    junction_snapshot_free(snapshot);
    CHECK(is_ok(junction_watch_next(watch, 30000, &snapshot, &error)) && snapshot->signed_in);
    junction_snapshot_free(snapshot);
    junction_watch_close(watch);
    CHECK(junction_start(handle, "token.get", NULL, 30000, count_answer, &seen, NULL, &error) == JUNCTION_OK);
    while (seen.answers == 0 || seen.changes < 2) CHECK(poll(&waited, 1, 30000) == 1 && junction_step(handle) >= 0);
    junction_watch_stop(handle);
}

static void any_method_can_be_called(void) {
    junction_value *result;
    CHECK(is_ok(junction_call(handle, "daemon.info", "{\n}", 30000, &result, &error)));
    CHECK(strcmp(junction_string(junction_member(result, "name"), NULL), "junctiond") == 0);
    junction_value_free(result);
    CHECK(is_ok(junction_call(handle, "rpc.discover", NULL, 30000, &result, &error)));
    CHECK(junction_count(junction_member(result, "methods")) > 10);
    junction_value_free(result);
    CHECK(junction_call(handle, "session.dance", NULL, 30000, &result, &error) == JUNCTION_METHOD_NOT_FOUND && result == NULL);
    CHECK(junction_call(handle, "session.reconcile", "{\"userId\":7}", 30000, NULL, &error) == JUNCTION_INVALID_PARAMS);
}

static void a_sign_out_ends_the_session(void) {
    junction_snapshot *snapshot;
    CHECK(is_ok(junction_sign_out(handle, 30000, &snapshot, &error)));
    CHECK(snapshot->state == JUNCTION_STATE_NOT_LOGGED_IN && snapshot->durable);
    junction_snapshot_free(snapshot);
    CHECK(is_ok(junction_wait(handle, JUNCTION_SIGNED_OUT, 30000, NULL, &error)));
    CHECK(junction_wait(handle, JUNCTION_SIGNED_IN, 50, NULL, &error) == JUNCTION_TIMED_OUT);
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    snprintf(user, sizeof user, "%s", arguments[1]);
    read_file(arguments[2], token, sizeof token);
    read_file(arguments[3], other_token, sizeof other_token);
    handle = junction_open(NULL, &error);
    CHECK(handle != NULL);
    RUN(without_a_session_a_token_is_refused);
    RUN(a_sign_in_establishes_the_session);
    RUN(a_token_is_valid_for_the_requested_time);
    RUN(an_api_request_returns_the_answer);
    RUN(a_renewal_reaches_the_handler_and_the_watch);
    RUN(an_identification_asks_for_a_credential_only_if_needed);
    RUN(calls_and_watches_continue_after_a_restart);
    RUN(any_method_can_be_called);
    RUN(a_sign_out_ends_the_session);
    junction_close(handle);
    return 0;
}
