/* The handle: one conversation that all calls share, and the state that threads and event loops need for it. */
#ifndef JUNCTION_HANDLE_H
#define JUNCTION_HANDLE_H

#include "talk.h"

#include <pthread.h>

/* Who waits on a watch: the event loop, a thread of the app from time to time, or one call from its start to its end. */
enum watch_owner { OWNER_LOOP, OWNER_APP, OWNER_CALL };

/* A duty with its own conversation: a subscription to changes, or a session handler. */
struct junction_watch {
    struct junction_watch *next;
    junction *handle;
    struct talk talk;
    enum watch_owner owner;
    int bell;       /* wakes the waiting thread; -1 in an event loop */
    bool is_waited;
    bool is_cancelled;
};

/* The state behind junction_fd. */
struct loop {
    int epoll;
    int timer;
    int64_t armed; /* the time at which the timer fires */
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
    /* Signalled when a call has ended or the daemon has asked a question, and when no thread receives any more. */
    pthread_cond_t changed;
    char *path;
    struct talk calls;
    int bell;       /* wakes the thread that receives for all */
    bool is_received;
    struct junction_watch *watches;
    struct loop loop;
};

void lock(junction *j);
void unlock(junction *j);
/* Publishes the results of a step: wakes the threads that wait and arms the event loop. */
void settle(junction *j);
void loop_arm(junction *j);
void loop_forked(struct loop *loop);
void loop_end(junction *j);

int bell_new(void);
void bell_ring(int bell);
void bell_silence(int bell);
/* Sleeps until the descriptor is ready, the bell rings or the deadline has passed. */
void wait_for(int fd, short events, int bell, int64_t deadline);

/* Waits until the call has ended or the daemon has asked a question about it. Expects the call in the conversation and
 * the lock held. */
void await_call(junction *j, struct call *call);
int ask_call(junction *j, struct call *call, junction_error *error);

/* Creates the call for junction_call and junction_start. */
int call_of(const char *method, const char *params, int timeout, struct call **call, junction_error *error);
/* Sends the queued lines, or wakes the thread that receives for this conversation so that it sends them. */
void push(junction *j, struct talk *talk);

struct junction_watch *watch_new(junction *j, const char *duty, enum watch_owner owner, junction_error *error);
void watch_end(struct junction_watch *watch);

struct junction_reply {
    struct bytes members;
    bool is_answered;
};

/* Sends the reply of a callback. If there is none, or it cannot be sent, answers for an app without a credential or token,
 * because the daemon would wait for an answer until its timeout. */
void reply_send(const struct junction_reply *reply, struct talk *talk, struct question *question);

/* Makes a snapshot from a value and takes the message over, unless it returns NULL because memory is exhausted. The
 * caller checks with is_snapshot before. */
junction_snapshot *snapshot_of(junction_value *value);

#endif
