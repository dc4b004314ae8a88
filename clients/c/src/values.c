#define _GNU_SOURCE
#include "handle.h"

#include <stdlib.h>
#include <string.h>

static int64_t time_of(const junction_value *value) {
    int64_t time;
    return json_read_time(value, &time) ? time : 0;
}

static enum junction_state state_of(const char *word) {
    static const char *const words[] = {NULL, "notLoggedIn", "establishing", "established", "tokenExpired", "terminated"};
    for (int i = 1; i <= JUNCTION_STATE_TERMINATED; i++)
        if (strcmp(words[i], word) == 0) return (enum junction_state)i;
    return JUNCTION_STATE_OTHER;
}

static bool has_flag(const junction_value *flags, const char *flag) {
    for (size_t i = 0; i < junction_count(flags); i++)
        if (json_equals(junction_at(flags, i), flag)) return true;
    return false;
}

/* A partial snapshot has no flags, so the state decides. */
static bool has_user(enum junction_state state) {
    return state == JUNCTION_STATE_ESTABLISHED || state == JUNCTION_STATE_TOKEN_EXPIRED;
}

junction_snapshot *snapshot_of(junction_value *value) {
    junction_snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (snapshot == NULL) return NULL;
    const junction_value *flags = junction_member(value, "flags"), *token = junction_member(value, "accessToken"),
                         *renewal = junction_member(value, "renewal"), *termination = junction_member(value, "termination"),
                         *storage = junction_member(value, "storage"), *authorization = junction_member(value, "authorization");
    const char *state = json_text(junction_member(value, "state"));
    *snapshot = (junction_snapshot){
        .revision = (uint64_t)junction_integer(junction_member(value, "revision"), 0),
        .changed_at = time_of(junction_member(value, "changedAt")),
        .state = state_of(state),
        .state_word = state,
        .signed_in = is_snapshot(value) ? has_flag(flags, "signedIn") : has_user(state_of(state)),
        .pending_reauthentication = has_flag(flags, "pendingReauthentication"),
        .provider = json_text(junction_member(value, "provider")),
        .scheme = json_text(junction_member(value, "scheme")),
        .user_id = json_text(junction_member(value, "userId")),
        .external_user_id = json_text(junction_member(value, "externalUserId")),
        .team_id = json_text(junction_member(value, "teamId")),
        .environment = json_text(junction_member(value, "environment")),
        .region = json_text(junction_member(value, "region")),
        .token_issued_at = time_of(junction_member(token, "issuedAt")),
        .token_expires_at = time_of(junction_member(token, "expiresAt")),
        .token_generation = (uint64_t)junction_integer(junction_member(token, "generation"), 0),
        .renewal_phase = json_text(junction_member(renewal, "phase")),
        .renewal_not_before = time_of(junction_member(renewal, "notBefore")),
        .renewal_last_error = json_text(junction_member(renewal, "lastError")),
        .renewal_needs_handler = junction_boolean(junction_member(renewal, "needsHandler"), false),
        .termination_code = json_text(junction_member(termination, "code")),
        .termination_message = json_text(junction_member(termination, "message")),
        .storage_status = json_text(junction_member(storage, "status")),
        .durable = junction_boolean(junction_member(storage, "durable"), false),
        .storage_reason = json_text(junction_member(storage, "reason")),
        .user_code = json_text(junction_member(authorization, "userCode")),
        .verification_uri = json_text(junction_member(authorization, "verificationUri")),
        .verification_uri_complete = json_text(junction_member(authorization, "verificationUriComplete")),
        .authorization_expires_at = time_of(junction_member(authorization, "expiresAt")),
        .json = value,
    };
    /* An older daemon does not send `readable`. Then only the status "ok" counts as readable. */
    bool is_in_order = snapshot->storage_status == NULL || strcmp(snapshot->storage_status, "ok") == 0;
    snapshot->storage_readable = junction_boolean(junction_member(storage, "readable"), is_in_order);
    int64_t failures = junction_integer(junction_member(renewal, "failures"), 0);
    snapshot->renewal_failures = failures < 0 ? 0 : failures > INT32_MAX ? INT32_MAX : (int)failures;
    return snapshot;
}

/* A value keeps the message that it was read from, and frees it. */
static void free_message(const junction_value *value) {
    junction_value_free((junction_value *)(uintptr_t)value);
}

void junction_snapshot_free(junction_snapshot *snapshot) {
    if (snapshot == NULL) return;
    free_message(snapshot->json);
    free(snapshot);
}
