/* A conversation with the daemon: a connection that is made when it is needed and made again when it was lost, the calls that
 * wait for their answers on it, and a duty that has to be taken up on each new one.
 *
 * Nothing here blocks, locks or calls back. Whoever owns it calls talk_step whenever its descriptor is ready or its time has
 * come, and looks at what became of it. */
#ifndef JUNCTION_TALK_H
#define JUNCTION_TALK_H

#include "bytes.h"
#include "error.h"
#include "json.h"
#include "line.h"

#define NEVER INT64_MAX

/* Milliseconds of a clock that nobody sets. */
int64_t clock_now(void);
/* The end of so many milliseconds from now; NEVER for a negative number. */
int64_t deadline_after(int timeout);
/* The time that is left, as poll wants it. */
int poll_timeout(int64_t deadline);

/* A line that more than one holds: it is wiped with the last of them. */
struct shared_line {
    int holders;
    struct bytes bytes;
};

enum stage {
    STAGE_WAITING, /* for a connection */
    STAGE_SENDING, /* not taken whole by the daemon */
    STAGE_SENT,
    STAGE_DONE
};

/* A request of the daemon that waits for its answer. It lives in the list of its conversation until it is answered, the connection
 * is lost or its call ends. Code that lets go of the lock keeps its key, never a pointer to it. */
struct question {
    struct question *next;
    uint64_t key;             /* unique in the process */
    int64_t call;             /* the id of the call that it belongs to; 0 for a renewal */
    struct bytes id;          /* the daemon's id of the request, as JSON */
    bool is_shown;            /* the app has received it */
    junction_value *message;  /* NULL once talk_show_question has handed it over */
};

/* One call. Its owner frees it, once it is done. */
struct call {
    struct call *next;
    int64_t id;
    struct shared_line *line;
    enum stage stage;
    int64_t deadline;
    /* Repetition: only where that cannot do a thing twice, nor after something else that was done meanwhile. */
    bool is_repeatable;
    bool is_under_way;
    int repetitions_left;
    int tries;
    int64_t retry_at;
    /* session.identify: whom it is about, and the key of the question that the blocked caller has to answer; 0 without one. */
    char *about;
    bool was_asked;
    uint64_t question;
    /* What became of it: a result, or an error whose kind is not JUNCTION_OK. */
    junction_value *message;
    const junction_value *result;
    junction_error error;
    /* For whoever is called back. */
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
    /* From when on the present connection counts as one that lasted, so that the next one may come at once. */
    int64_t steady_from;
    bool was_taken;
    junction_error error;
};

struct talk {
    const char *path;
    int fd;
    unsigned connection; /* the number of it: each new one is another */
    int64_t connect_at;  /* the daemon had no space for one more */
    bool is_refused;     /* it listens no longer, though it may still have something to say */
    bool was_forked;
    struct bytes in;
    size_t in_start;
    struct splitter splitter;
    struct outgoing *out;
    size_t out_sent;     /* of the first */
    size_t out_waiting;  /* of all */
    struct call *calls;
    struct call *finished; /* those that are called back */
    struct question *questions; /* not answered yet */
    bool takes_questions;  /* of calls that are called back */
    bool has_changed;      /* something is done, or was asked */
    struct duty duty;
    junction_value *news;  /* the newest snapshot, within its message */
    bool keeps_each;       /* nothing is received while there are news */
    /* Only snapshots of another state are passed on, over all connections. */
    bool only_states;
    char *told_state;      /* of the snapshot that was taken last */
    /* What an event loop waits for. */
    unsigned armed_connection;
    short armed_events;
};

void talk_begin(struct talk *talk, const char *path);
void talk_end(struct talk *talk);

/* A call of this method; NULL without memory. `params` is JSON. */
struct call *call_new(const char *method, const struct bytes *params, int64_t deadline);
void call_free(struct call *call);

/* Asks it. JUNCTION_REQUEST_TOO_LARGE, JUNCTION_BUSY or JUNCTION_LOCAL_FAILURE, and then it is not asked. */
int talk_ask(struct talk *talk, struct call *call, junction_error *error);
/* Ends the call with this error, and refuses at once what the daemon has asked about it. */
void talk_give_up(struct talk *talk, struct call *call, enum junction_kind kind, const char *message);
/* Returns the first question that was not shown yet, or NULL. */
struct question *talk_new_question(const struct talk *talk);
/* Returns the open question with this key, or NULL. */
struct question *talk_find_question(const struct talk *talk, uint64_t key);
/* Marks the question as shown and hands over its message, which the caller frees. */
junction_value *talk_show_question(struct question *question);
/* Answers a question, with `members` as JSON, or with an error when they are NULL. JUNCTION_OK and JUNCTION_CONNECTION_LOST end the
 * question; after any other error it stays open. */
int talk_answer(struct talk *talk, struct question *question, const struct bytes *members, int code, const char *message,
                junction_error *error);

/* Takes up a duty, such as session.subscribe, and does so again whenever the connection was lost. */
void talk_take_up(struct talk *talk, const char *method);

/* Hands the news over, if there are any. */
junction_value *talk_take_news(struct talk *talk);

/* Does whatever can be done without waiting. */
void talk_step(struct talk *talk);
/* What to poll its descriptor for, if it has one. */
short talk_events(const struct talk *talk);
/* When to step at the latest. */
int64_t talk_due(const struct talk *talk);

/* In the child of a fork: the connection is the parent's, and so are the calls. */
void talk_forked(struct talk *talk);

/* Reads the snapshot of a watch's news, of which it must have what every snapshot has. */
bool is_snapshot(const junction_value *value);

#endif
