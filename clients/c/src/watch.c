#define _GNU_SOURCE
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct junction_watch *watch_new(junction *j, const char *duty, enum watch_owner owner, junction_error *error) {
    struct junction_watch *watch = calloc(1, sizeof *watch);
    bool blocks = owner != OWNER_LOOP;
    int bell = blocks && watch != NULL ? bell_new() : -1;
    if (watch == NULL || (blocks && bell < 0)) {
        error_set(error, JUNCTION_LOCAL_FAILURE, "this program cannot have a watch: %s", strerror(errno));
        free(watch);
        return NULL;
    }
    watch->handle = j;
    watch->owner = owner;
    watch->bell = bell;
    talk_begin(&watch->talk, j->path);
    talk_take_up(&watch->talk, duty);
    lock(j);
    watch->next = j->watches;
    j->watches = watch;
    unlock(j);
    error_set(error, JUNCTION_OK, "%s", "");
    return watch;
}

void watch_end(struct junction_watch *watch) {
    junction *j = watch->handle;
    lock(j);
    for (struct junction_watch **at = &j->watches; *at != NULL; at = &(*at)->next) {
        if (*at == watch) {
            *at = watch->next;
            break;
        }
    }
    /* Under the lock, so that a fork does not copy a descriptor that is in no list any more. */
    talk_end(&watch->talk);
    unlock(j);
    if (watch->bell >= 0) close(watch->bell);
    free(watch);
}

/* Steps until there is a snapshot or a question. Expects the lock held, and returns with the lock held. */
static int await_duty(struct junction_watch *watch, int64_t deadline, junction_error *error) {
    junction *j = watch->handle;
    struct talk *talk = &watch->talk;
    int kind = JUNCTION_OK;
    /* The cause of the failure may have been fixed meanwhile, so each call tries again. */
    if (talk->duty.stage == DUTY_FAILED) talk_take_up(talk, talk->duty.method);
    watch->is_waited = true;
    for (;;) {
        talk_step(talk);
        if (talk->news == NULL && talk->questions == NULL && talk->duty.stage == DUTY_FAILED) {
            if (error != NULL) *error = talk->duty.error;
            kind = talk->duty.error.kind;
            break;
        }
        if (watch->is_cancelled) {
            kind = error_set(error, JUNCTION_CANCELLED, "nobody waits any more");
            break;
        }
        if (talk->news != NULL || talk_new_question(talk) != NULL) break;
        if (clock_now() >= deadline) {
            kind = error_set(error, JUNCTION_TIMED_OUT, "nothing has changed in time");
            break;
        }
        int fd = talk->fd;
        short events = talk_events(talk);
        int64_t due = talk_due(talk);
        unlock(j);
        wait_for(fd, events, watch->bell, due < deadline ? due : deadline);
        lock(j);
    }
    watch->is_waited = false;
    if (watch->is_cancelled) bell_silence(watch->bell);
    watch->is_cancelled = false;
    return kind;
}

junction_watch *junction_watch_open(junction *j, int flags, junction_error *error) {
    struct junction_watch *watch = watch_new(j, "session.subscribe", OWNER_APP, error);
    if (watch == NULL) return NULL;
    watch->talk.keeps_each = (flags & JUNCTION_EVERY) != 0;
    watch->talk.only_states = (flags & JUNCTION_STATES) != 0;
    return watch;
}

void junction_watch_close(junction_watch *watch) {
    if (watch != NULL) watch_end(watch);
}

static int next_snapshot(junction_watch *watch, int64_t deadline, junction_snapshot **snapshot, junction_error *error) {
    lock(watch->handle);
    int kind = await_duty(watch, deadline, error);
    junction_value *news = kind == JUNCTION_OK ? talk_take_news(&watch->talk) : NULL;
    unlock(watch->handle);
    if (kind != JUNCTION_OK) return kind;
    *snapshot = snapshot_of(news);
    if (*snapshot != NULL) return JUNCTION_OK;
    junction_value_free(news);
    return error_set(error, JUNCTION_LOCAL_FAILURE, "there is no memory for the snapshot");
}

int junction_watch_next(junction_watch *watch, int timeout, junction_snapshot **snapshot, junction_error *error) {
    *snapshot = NULL;
    return next_snapshot(watch, deadline_after(timeout), snapshot, error);
}

/* -- Waiting for a state --------------------------------------------------------------------------------------------- */

static int64_t wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_reached(enum junction_goal goal, const junction_snapshot *snapshot) {
    switch (goal) {
    case JUNCTION_SIGNED_IN: return snapshot->signed_in;
    case JUNCTION_SIGNED_OUT: return !snapshot->signed_in && snapshot->state != JUNCTION_STATE_ESTABLISHING;
    case JUNCTION_FRESH:
        /* An API key session has no token that expires. */
        return snapshot->state == JUNCTION_STATE_ESTABLISHED && snapshot->storage_readable &&
               (snapshot->token_expires_at == 0 || snapshot->token_expires_at > wall_clock());
    }
    return false;
}

/* Returns an error for a state that does not end without an action of the user or the administrator. */
static int verdict(enum junction_goal goal, const junction_snapshot *snapshot, junction_error *error) {
    if (goal != JUNCTION_FRESH) return JUNCTION_OK;
    if (!snapshot->storage_readable)
        return error_set(error, JUNCTION_STORAGE_UNAVAILABLE, "the stored session cannot be used: it is %s", snapshot->storage_status);
    if (snapshot->state == JUNCTION_STATE_TERMINATED)
        return error_set(error, JUNCTION_SESSION_TERMINATED, "the provider has ended the session: %s",
                         snapshot->termination_message == NULL ? "it does not say why" : snapshot->termination_message);
    /* The goal is not reached, so the token has expired. */
    if (snapshot->signed_in && snapshot->pending_reauthentication && snapshot->state != JUNCTION_STATE_ESTABLISHING)
        return error_set(error, JUNCTION_REAUTHENTICATION_REQUIRED, "the provider requires a new credential of the signed-in user");
    return JUNCTION_OK;
}

int junction_wait(junction *j, enum junction_goal goal, int timeout, junction_snapshot **snapshot, junction_error *error) {
    if (snapshot != NULL) *snapshot = NULL;
    int64_t deadline = deadline_after(timeout);
    junction_watch *watch = watch_new(j, "session.subscribe", OWNER_CALL, error);
    if (watch == NULL) return JUNCTION_LOCAL_FAILURE;
    junction_snapshot *present = NULL;
    int kind;
    while ((kind = next_snapshot(watch, deadline, &present, error)) == JUNCTION_OK && !is_reached(goal, present)) {
        kind = verdict(goal, present, error);
        junction_snapshot_free(present);
        present = NULL;
        if (kind != JUNCTION_OK) break;
    }
    junction_watch_close(watch);
    if (kind == JUNCTION_TIMED_OUT) error_set(error, kind, "the session did not become what was waited for in time");
    if (kind == JUNCTION_OK && snapshot != NULL)
        *snapshot = present;
    else
        junction_snapshot_free(present);
    return kind;
}

/* -- Renewals -------------------------------------------------------------------------------------------------------- */

int junction_handle_renewals(junction *j, junction_renewal_callback *callback, void *context, int timeout, junction_error *error) {
    int64_t deadline = deadline_after(timeout);
    struct junction_watch *watch = watch_new(j, "handler.register", OWNER_CALL, error);
    if (watch == NULL) return JUNCTION_LOCAL_FAILURE;
    int kind;
    lock(j);
    while ((kind = await_duty(watch, deadline, error)) == JUNCTION_OK) {
        struct question *question = talk_new_question(&watch->talk);
        uint64_t key = question->key;
        junction_value *message = talk_show_question(question);
        unlock(j);
        const junction_value *params = junction_member(message, "params");
        junction_renewal renewal = {.renewal_id = json_text(junction_member(params, "renewalId")),
                                    .reason = json_text(junction_member(params, "reason")),
                                    .user_id = json_text(junction_member(params, "userId")),
                                    .json = params};
        /* receive_question has validated both times. */
        if (!json_read_time(junction_member(params, "expiresAt"), &renewal.expires_at)) renewal.expires_at = 0;
        if (!json_read_time(junction_member(params, "deadline"), &renewal.deadline)) renewal.deadline = 0;
        struct junction_reply reply = {0};
        callback(context, &renewal, &reply);
        junction_value_free(message);
        lock(j);
        question = talk_find_question(&watch->talk, key);
        if (question != NULL) reply_send(&reply, &watch->talk, question);
        talk_step(&watch->talk);
        bytes_wipe(&reply.members);
    }
    unlock(j);
    watch_end(watch);
    return kind;
}
