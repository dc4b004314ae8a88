#define _GNU_SOURCE
#include "handle.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* -- The descriptor -------------------------------------------------------------------------------------------------- */

int junction_fd(junction *j) {
    lock(j);
    struct loop *loop = &j->loop;
    if (loop->epoll < 0) {
        loop->epoll = epoll_create1(EPOLL_CLOEXEC);
        loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN};
        if (loop->epoll >= 0 && loop->timer >= 0 && epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->timer, &event) == 0) {
            loop->armed = NEVER;
            loop_arm(j);
        } else {
            if (loop->epoll >= 0) close(loop->epoll);
            if (loop->timer >= 0) close(loop->timer);
            loop->epoll = loop->timer = -1;
        }
    }
    int fd = loop->epoll;
    unlock(j);
    return fd;
}

short junction_events(junction *j) {
    (void)j;
    return POLLIN;
}

/* Registers the conversation's descriptor and its events with epoll. The kernel has already removed a closed descriptor. */
static void arm(struct loop *loop, struct talk *talk) {
    if (talk->fd < 0) {
        talk->armed_events = 0;
        return;
    }
    short events = talk_events(talk);
    bool is_new = talk->armed_events == 0 || talk->armed_connection != talk->connection;
    if (!is_new && talk->armed_events == events) return;
    struct epoll_event event = {.events = (events & POLLOUT) != 0 ? EPOLLIN | EPOLLOUT : EPOLLIN};
    if (epoll_ctl(loop->epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, talk->fd, &event) != 0 && errno == EEXIST)
        epoll_ctl(loop->epoll, EPOLL_CTL_MOD, talk->fd, &event);
    talk->armed_connection = talk->connection;
    talk->armed_events = events;
}

/* Whether a callback about this duty is due. */
static bool has_word(const struct junction_watch *watch) {
    return watch != NULL && (watch->talk.news != NULL || talk_new_question(&watch->talk) != NULL || watch->talk.duty.stage == DUTY_FAILED);
}

void loop_arm(junction *j) {
    struct loop *loop = &j->loop;
    int64_t due = talk_due(&j->calls);
    arm(loop, &j->calls);
    struct junction_watch *duties[] = {loop->watch, loop->handler};
    for (int i = 0; i < 2; i++) {
        if (duties[i] == NULL) continue;
        arm(loop, &duties[i]->talk);
        int64_t its = talk_due(&duties[i]->talk);
        if (its < due) due = its;
    }
    if (j->calls.finished != NULL || talk_new_question(&j->calls) != NULL || has_word(loop->watch) || has_word(loop->handler)) due = 0;
    if (due == loop->armed) return;
    struct itimerspec at = {0};
    if (due != NEVER) {
        at.it_value.tv_sec = due / 1000;
        at.it_value.tv_nsec = due % 1000 * 1000000;
        /* Zero would disarm the timer. */
        if (due <= 0) at.it_value = (struct timespec){.tv_nsec = 1};
    }
    timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &at, NULL);
    loop->armed = due;
}

/* -- End ------------------------------------------------------------------------------------------------------------- */

void loop_forked(struct loop *loop) {
    if (loop->epoll >= 0) close(loop->epoll);
    if (loop->timer >= 0) close(loop->timer);
    loop->epoll = loop->timer = -1;
    /* Calls and watches of the parent continue only in the parent. */
    if (loop->watch != NULL) loop->watch->talk.duty.stage = DUTY_NONE;
    if (loop->handler != NULL) loop->handler->talk.duty.stage = DUTY_NONE;
}

void loop_end(junction *j) {
    struct loop *loop = &j->loop;
    junction_watch_stop(j);
    junction_register_stop(j);
    if (loop->epoll >= 0) close(loop->epoll);
    if (loop->timer >= 0) close(loop->timer);
    loop->epoll = loop->timer = -1;
}

/* -- Start ----------------------------------------------------------------------------------------------------------- */

int junction_start(junction *j, const char *method, const char *params, int timeout, junction_answered *callback, void *context,
                   uint64_t *number, junction_error *error) {
    struct call *call = NULL;
    int kind = call_of(method, params, timeout, &call, error);
    if (kind != JUNCTION_OK) return kind;
    call->is_async = true;
    call->callback = callback;
    call->context = context;
    if (strcmp(method, "session.identify") == 0 && call->is_repeatable) {
        const char *fault;
        junction_value *value = json_read((const unsigned char *)params, strlen(params), &fault);
        const char *user = json_text(junction_member(value, "externalUserId"));
        call->about = user == NULL ? NULL : strdup(user);
        junction_value_free(value);
    }
    lock(j);
    uint64_t key = call->key = ++j->loop.last_key;
    kind = ask_call(j, call, error);
    unlock(j);
    if (kind != JUNCTION_OK) {
        call_free(call);
        return kind;
    }
    if (number != NULL) *number = key;
    return JUNCTION_OK;
}

bool junction_stop(junction *j, uint64_t number) {
    lock(j);
    struct talk *talk = &j->calls;
    for (struct call *call = talk->calls; call != NULL; call = call->next) {
        if (!call->is_async || call->key != number) continue;
        talk_give_up(talk, call, JUNCTION_CANCELLED, "nobody waits for the answer any more");
        break;
    }
    struct call *found = NULL;
    for (struct call **at = &talk->finished; *at != NULL; at = &(*at)->next) {
        if ((*at)->key != number) continue;
        found = *at;
        *at = found->next;
        break;
    }
    settle(j);
    unlock(j);
    call_free(found);
    return found != NULL;
}

static int watch_start(junction *j, bool only_states, junction_changed *callback, void *context, junction_error *error) {
    junction_watch_stop(j);
    struct junction_watch *watch = watch_new(j, "session.subscribe", OWNER_LOOP, error);
    if (watch == NULL) return JUNCTION_LOCAL_FAILURE;
    watch->talk.only_states = only_states;
    lock(j);
    j->loop.watch = watch;
    j->loop.changed = callback;
    j->loop.changed_context = context;
    settle(j);
    unlock(j);
    return JUNCTION_OK;
}

int junction_watch_start(junction *j, junction_changed *callback, void *context, junction_error *error) {
    return watch_start(j, false, callback, context, error);
}

int junction_states_start(junction *j, junction_changed *callback, void *context, junction_error *error) {
    return watch_start(j, true, callback, context, error);
}

static void stop_duty(junction *j, struct junction_watch **which) {
    lock(j);
    struct junction_watch *watch = *which;
    *which = NULL;
    unlock(j);
    if (watch != NULL) watch_end(watch);
}

void junction_watch_stop(junction *j) {
    stop_duty(j, &j->loop.watch);
}

int junction_register_start(junction *j, junction_answered *failed, void *context, junction_error *error) {
    junction_register_stop(j);
    struct junction_watch *handler = watch_new(j, "handler.register", OWNER_LOOP, error);
    if (handler == NULL) return JUNCTION_LOCAL_FAILURE;
    lock(j);
    j->loop.handler = handler;
    j->loop.failed = failed;
    j->loop.failed_context = context;
    settle(j);
    unlock(j);
    return JUNCTION_OK;
}

void junction_register_stop(junction *j) {
    stop_duty(j, &j->loop.handler);
}

void junction_on_question(junction *j, junction_asked *callback, void *context) {
    lock(j);
    j->loop.asked = callback;
    j->loop.asked_context = context;
    j->calls.takes_questions = callback != NULL;
    unlock(j);
}

/* -- Answers --------------------------------------------------------------------------------------------------------- */

/* Sends the app's answer, or NULL. */
static int answer(struct talk *talk, struct question *question, const junction_pair *members, junction_error *error) {
    if (members == NULL) return talk_answer(talk, question, NULL, error);
    struct bytes text = {0};
    if (!json_write_pairs(&text, members)) {
        bytes_wipe(&text);
        return error_set(error, JUNCTION_INVALID_ARGUMENT, "the answer is not UTF-8");
    }
    int kind = talk_answer(talk, question, &text, error);
    bytes_wipe(&text);
    return kind;
}

int junction_respond(junction *j, uint64_t number, const junction_pair *members, junction_error *error) {
    lock(j);
    struct talk *talk = &j->calls;
    struct question *question = talk_find_question(talk, number);
    if (question == NULL && j->loop.handler != NULL) {
        talk = &j->loop.handler->talk;
        question = talk_find_question(talk, number);
    }
    int kind = question == NULL ? error_set(error, JUNCTION_CONNECTION_LOST,
                                            "the question is over: it was answered, its call has ended or the connection was lost")
                                : answer(talk, question, members, error);
    if (question != NULL) push(j, talk);
    unlock(j);
    return kind;
}

/* -- Step ------------------------------------------------------------------------------------------------------------ */

static bool show_question(junction *j) {
    struct loop *loop = &j->loop;
    lock(j);
    struct talk *talk = &j->calls;
    struct question *question = talk_new_question(talk);
    if (question == NULL && loop->handler != NULL) {
        talk = &loop->handler->talk;
        question = talk_new_question(talk);
    }
    if (question == NULL) {
        unlock(j);
        return false;
    }
    junction_asked *callback = loop->asked;
    void *context = loop->asked_context;
    junction_value *message = talk_show_question(question);
    uint64_t key = question->key;
    if (callback == NULL) {
        talk_answer(talk, question, NULL, NULL);
        push(j, talk);
    }
    unlock(j);
    if (callback != NULL)
        callback(context, json_text(junction_member(message, "method")), junction_member(message, "params"), key);
    junction_value_free(message);
    return true;
}

static bool show_answer(junction *j) {
    lock(j);
    struct call *call = j->calls.finished;
    if (call != NULL) j->calls.finished = call->next;
    unlock(j);
    if (call == NULL) return false;
    if (call->callback != NULL) {
        bool is_error = call->error.kind != JUNCTION_OK;
        call->callback(call->context, is_error ? NULL : call->result, is_error ? &call->error : NULL);
    }
    call_free(call);
    return true;
}

static bool show_change(junction *j) {
    struct loop *loop = &j->loop;
    lock(j);
    struct junction_watch *watch = loop->watch;
    junction_value *news = watch == NULL ? NULL : talk_take_news(&watch->talk);
    bool has_failed = news == NULL && watch != NULL && watch->talk.duty.stage == DUTY_FAILED;
    junction_error error;
    if (has_failed) {
        error = watch->talk.duty.error;
        watch->talk.duty.stage = DUTY_NONE;
    }
    junction_changed *callback = loop->changed;
    void *context = loop->changed_context;
    unlock(j);
    if (has_failed) callback(context, NULL, &error);
    if (news == NULL) return has_failed;
    junction_snapshot *snapshot = snapshot_of(news);
    if (snapshot == NULL) {
        junction_value_free(news);
        return false;
    }
    callback(context, snapshot, NULL);
    junction_snapshot_free(snapshot);
    return true;
}

static bool show_failure(junction *j) {
    struct loop *loop = &j->loop;
    lock(j);
    bool has_failed = loop->handler != NULL && loop->handler->talk.duty.stage == DUTY_FAILED;
    junction_error error;
    if (has_failed) {
        error = loop->handler->talk.duty.error;
        loop->handler->talk.duty.stage = DUTY_NONE;
    }
    junction_answered *callback = loop->failed;
    void *context = loop->failed_context;
    unlock(j);
    if (has_failed && callback != NULL) callback(context, NULL, &error);
    return has_failed;
}

int junction_step(junction *j) {
    struct loop *loop = &j->loop;
    lock(j);
    if (loop->epoll >= 0) {
        uint64_t count;
        /* loop_arm sets the timer again below. */
        if (read(loop->timer, &count, sizeof count) > 0) loop->armed = NEVER;
    }
    /* A thread that blocks in a call also receives for the event loop. */
    if (!j->is_received) talk_step(&j->calls);
    if (loop->watch != NULL) talk_step(&loop->watch->talk);
    if (loop->handler != NULL) talk_step(&loop->handler->talk);
    unlock(j);

    int shown = 0;
    while (show_answer(j)) shown++;
    while (show_question(j)) shown++;
    if (show_change(j)) shown++;
    if (show_failure(j)) shown++;

    lock(j);
    settle(j);
    unlock(j);
    return shown;
}
