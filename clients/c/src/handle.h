/* The handle: one conversation for all calls, whoever makes them, and what threads and loops need around it. */
#ifndef JUNCTION_HANDLE_H
#define JUNCTION_HANDLE_H

#include "talk.h"

#include <pthread.h>

/* A duty with a conversation of its own: to be told of changes, or to be asked for tokens. */
struct junction_watch {
    struct junction_watch *next;
    junction *handle;
    struct talk talk;
    int bell;       /* wakes the thread that waits; -1 when an event loop does */
    bool is_waited;
    bool is_cancelled;
};

/* What junction_fd stands for. */
struct loop {
    int epoll;
    int timer;
    int64_t armed; /* when the timer goes off */
    struct junction_watch *watch;
    struct junction_watch *handler;
    junction_changed *changed;
    void *changed_context;
    junction_answered *failed;
    void *failed_context;
    junction_asked *asked;
    void *asked_context;
    uint64_t last_key;
};

struct junction {
    junction *next;
    pthread_mutex_t lock;
    /* Told when a call is done or was asked something, and when nobody receives any more. */
    pthread_cond_t changed;
    char *path;
    struct talk calls;
    int bell;       /* wakes the one thread that receives for all */
    bool is_received;
    struct junction_watch *watches;
    struct loop loop;
};

void lock(junction *j);
void unlock(junction *j);
/* After each step: tells whoever waits for what it brought. */
void settle(junction *j);
void loop_arm(junction *j);
void loop_forked(struct loop *loop);
void loop_end(junction *j);

int bell_new(void);
void bell_ring(int bell);
void bell_silence(int bell);
/* Sleeps until the conversation has something to do, the bell rings or the time has come. */
void wait_for(int fd, short events, int bell, int64_t deadline);

/* Hands a call over to the daemon, and waits until it is done or the daemon has asked something about it. */
void await_call(junction *j, struct call *call);
int ask_call(junction *j, struct call *call, junction_error *error);

/* What junction_call and junction_start are given, as a call. */
int call_of(const char *method, const char *params, int timeout, struct call **call, junction_error *error);
/* Sends what was just put into a conversation, or has it sent by whoever receives there. */
void push(junction *j, struct talk *talk);

struct junction_watch *watch_new(junction *j, const char *duty, bool blocks, junction_error *error);
void watch_end(struct junction_watch *watch);

struct junction_reply {
    struct bytes members;
    bool is_answered;
};

/* Values that are made of answers; they take the message over when they return something. NULL if memory runs out:
 * is_snapshot tells whether the value is a snapshot. */
junction_snapshot *snapshot_of(junction_value *value);

#endif
