/* A conversation with the daemon: the connection, which is opened on demand and reopened after a loss, the calls that
 * wait for answers, and one duty that is taken up again on each new connection.
 *
 * Nothing here blocks, locks or calls back. The owner calls talk_step when the descriptor is ready or the time of
 * talk_due has come, and then reads the results. */
#ifndef JUNCTION_TALK_H
#define JUNCTION_TALK_H

#include "bytes.h"
#include "error.h"
#include "json.h"
#include "line.h"

#define NEVER INT64_MAX

/* Returns milliseconds of CLOCK_MONOTONIC. */
int64_t clock_now(void);
/* Returns the time `timeout` milliseconds from now; NEVER for a negative number. */
int64_t deadline_after(int timeout);
/* Returns the remaining time as a timeout for poll(2). */
int poll_timeout(int64_t deadline);

/* A line with a reference count. The last release wipes it. */
struct shared_line {
    int holders;
    struct bytes bytes;
};

enum stage {
    STAGE_WAITING, /* for a connection */
    STAGE_SENDING, /* not completely sent to the daemon */
    STAGE_SENT,
    STAGE_DONE
};

/* A request of the daemon that waits for its answer. It stays in the list of its conversation until it is answered, the
 * connection is lost or its call ends. Code that releases the lock keeps the key of a question, never a pointer to it. */
struct question {
    struct question *next;
    uint64_t key;             /* unique in the process */
    int64_t call;             /* the id of the call that it belongs to; 0 for a renewal */
    struct bytes id;          /* the daemon's id of the request, as JSON */
    bool is_shown;            /* the app has received it */
    junction_value *message;  /* NULL once talk_show_question has handed it over */
};

/* One call. Its owner frees it after it has ended. */
struct call {
    struct call *next;
    int64_t id;
    struct shared_line *line;
    enum stage stage;
    int64_t deadline;
    /* Repetition after a lost connection, only for a call that is safe to repeat. */
    bool is_repeatable;
    bool is_under_way;
    int repetitions_left;
    int tries;
    int64_t retry_at;
    /* session.identify: the user's id, and the key of the question that the blocked caller has to answer; 0 without one. */
    char *about;
    bool was_asked;
    uint64_t question;
    /* The result, or an error whose kind is not JUNCTION_OK. */
    junction_value *message;
    const junction_value *result;
    junction_error error;
    /* For calls with a callback. */
    bool is_async;
    uint64_t key;
    junction_answered *callback;
    void *context;
};

enum duty_stage { DUTY_NONE, DUTY_WAITING, DUTY_ASKED, DUTY_TAKEN, DUTY_FAILED };

struct duty {
    const char *method;
    enum duty_stage stage;
    int64_t id;
    int64_t retry_at;
    int tries;
    /* The time from which the current connection counts as stable, so that a reconnection may start at once. */
    int64_t steady_from;
    bool was_taken;
    junction_error error;
};

struct talk {
    const char *path;
    int fd;
    unsigned connection; /* changes with each connection */
    int64_t connect_at;  /* not before this time: the daemon's backlog was full */
    bool is_refused;     /* sending failed; the daemon may still have sent answers */
    bool was_forked;
    struct bytes in;
    size_t in_start;
    struct splitter splitter;
    struct outgoing *out;
    size_t out_sent;     /* of the first line */
    size_t out_waiting;  /* of all lines */
    struct call *calls;
    struct call *finished; /* ended calls whose callback is due */
    struct question *questions; /* not yet answered */
    bool takes_questions;  /* the app has a callback for the questions of its calls */
    bool has_changed;      /* a call has ended, or the daemon has asked a question */
    struct duty duty;
    junction_value *news;  /* the newest snapshot, a value inside its message */
    bool keeps_each;       /* receive nothing while `news` is set */
    /* Deliver only snapshots with a new state, across all connections. */
    bool only_states;
    char *told_state;      /* the state of the last delivered snapshot */
    /* The events that the event loop waits for. */
    unsigned armed_connection;
    short armed_events;
};

void talk_begin(struct talk *talk, const char *path);
void talk_end(struct talk *talk);

/* Creates a call of this method; NULL without memory. `params` is JSON. */
struct call *call_new(const char *method, const struct bytes *params, int64_t deadline);
void call_free(struct call *call);

/* Adds the call to the conversation. On JUNCTION_REQUEST_TOO_LARGE or JUNCTION_BUSY the call is not added. */
int talk_ask(struct talk *talk, struct call *call, junction_error *error);
/* Ends the call with this error and refuses an open question about it. */
void talk_give_up(struct talk *talk, struct call *call, enum junction_kind kind, const char *message);
/* Returns the first question that was not shown yet, or NULL. */
struct question *talk_new_question(const struct talk *talk);
/* Returns the open question with this key, or NULL. */
struct question *talk_find_question(const struct talk *talk, uint64_t key);
/* Marks the question as shown and hands over its message, which the caller frees. */
junction_value *talk_show_question(struct question *question);
/* Answers a question with `members` as JSON. NULL refuses a credential, and answers a renewal with "unable". JUNCTION_OK and
 * JUNCTION_CONNECTION_LOST end the question; after any other error it stays open. */
int talk_answer(struct talk *talk, struct question *question, const struct bytes *members, junction_error *error);

/* Takes up a duty, such as session.subscribe, and again after each lost connection. */
void talk_take_up(struct talk *talk, const char *method);

/* Hands the newest snapshot over, or returns NULL. */
junction_value *talk_take_news(struct talk *talk);

/* Does all work that is possible without waiting. */
void talk_step(struct talk *talk);
/* Returns the events to poll the descriptor for. */
short talk_events(const struct talk *talk);
/* Returns the time of the next step at the latest. */
int64_t talk_due(const struct talk *talk);

/* Prepares the conversation for the child of a fork: the connection and the calls belong to the parent. */
void talk_forked(struct talk *talk);

/* Whether the value has the members that every snapshot has. */
bool is_snapshot(const junction_value *value);

#endif
