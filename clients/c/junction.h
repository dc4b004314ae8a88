/* libjunction: the session of this device, from C.
 *
 * junctiond keeps one user signed in and hands out access tokens over a Unix socket; this library asks it. It keeps nothing
 * itself, needs nothing but libc, and prints nothing.
 *
 *     junction *j = junction_open(NULL, NULL);
 *     junction_token *token;
 *     junction_error error;
 *     if (junction_access_token(j, 0, 5000, &token, &error) != JUNCTION_OK)
 *         fprintf(stderr, "%s (%s): %s\n", error.message, error.word, error.remedy);
 *
 * What blocks takes a time-out in milliseconds, of which -1 is none, and returns JUNCTION_OK or the kind of the error; the
 * rest about the error is written to where `error` points, unless that is NULL. What is handed out belongs to the caller, who
 * gives it back to its function ending in _free, which wipes it. NULL can always be given back.
 *
 * A handle may be used by any number of threads at once. No call ends by a signal, and none raises SIGPIPE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef JUNCTION_H
#define JUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define JUNCTION_API __attribute__((visibility("default")))
#else
#define JUNCTION_API
#endif

#define JUNCTION_VERSION "0.1.0"

/* Which library this is, as opposed to which header: such as "0.1.0". */
JUNCTION_API const char *junction_version(void);

/* -- Errors ---------------------------------------------------------------------------------------------------------- */

/* What an error is. The daemon's own have the numbers that they have on the wire. */
enum junction_kind {
    JUNCTION_OK = 0,

    /* What happens on this side of the socket. */
    JUNCTION_DAEMON_UNREACHABLE = 1,  /* nobody listens */
    JUNCTION_CONNECTION_LOST = 2,     /* it ended before the answer came; ask for the state before repeating what was done */
    JUNCTION_LOCAL_FAILURE = 3,       /* this program cannot have what it needs, such as memory or a descriptor */
    JUNCTION_INVALID_SOCKET_PATH = 4, /* the path cannot be that of a socket */
    JUNCTION_UNREADABLE_ANSWER = 5,   /* the daemon said something that this library cannot read */
    JUNCTION_REQUEST_TOO_LARGE = 6,   /* over 1 MiB; it was not sent */
    JUNCTION_TIMED_OUT = 7,           /* the daemon finishes what it was asked */
    JUNCTION_CANCELLED = 8,           /* by junction_cancel; the daemon finishes what it was asked */
    JUNCTION_INVALID_ARGUMENT = 9,    /* the caller of this library is mistaken; nothing was sent */
    JUNCTION_OTHER = 10,              /* the daemon is newer: see `word` and `code` */

    /* What the daemon answers. */
    JUNCTION_ALREADY_SIGNED_IN = 1001,        /* as somebody else: `user_id` */
    JUNCTION_INVALID_CREDENTIAL = 1002,       /* malformed or refused; nothing changed */
    JUNCTION_NOT_SIGNED_IN = 1003,            /* there is no session */
    JUNCTION_REAUTHENTICATION_REQUIRED = 1004,/* the session is kept, but needs a new credential */
    JUNCTION_SESSION_TERMINATED = 1005,       /* deleted, disabled or banned: `termination_code` */
    JUNCTION_PROVIDER_UNAVAILABLE = 1006,     /* no usable answer from the provider; nothing is lost */
    JUNCTION_PERMISSION_DENIED = 1007,        /* by the daemon (`capability`), or, with code 0, to open the socket */
    JUNCTION_INCOMPATIBLE_CREDENTIAL = 1008,  /* migration from an API key with another user, environment or region */
    JUNCTION_STORAGE_UNAVAILABLE = 1009,      /* the sealed state cannot be read; nothing was erased */
    JUNCTION_TOKEN_EXPIRED = 1010,            /* the token is dead, and no other can be had now */
    JUNCTION_BUSY = 1011,                     /* a limit is reached, or the token lives, but not as long as wanted */
    JUNCTION_UNSUPPORTED = 1012,              /* the provider or the scheme does not have this */
    JUNCTION_MISCONFIGURED = 1013,            /* the configuration is wrong: the daemon refuses it, or it does not fit the provider */
    JUNCTION_PARSE_ERROR = -32700,
    JUNCTION_INVALID_REQUEST = -32600,
    JUNCTION_METHOD_NOT_FOUND = -32601,       /* the daemon is older than this library */
    JUNCTION_INVALID_PARAMS = -32602,         /* missing, unknown or out of range: perhaps `maximum` */
    JUNCTION_INTERNAL_ERROR = -32603
};

/* Why something was not done. It is the caller's own, and nothing in it has to be freed. Texts are never NULL; those that
 * are not known are empty. A longer message is cut at a character; an id that does not fit is left out. Never a secret. */
typedef struct junction_error {
    int kind;                 /* an enum junction_kind */
    int code;                 /* the number on the wire; 0 when the daemon was not heard */
    double retry_after;       /* seconds after which it may work; negative when that is not known */
    double maximum;           /* JUNCTION_INVALID_PARAMS: how many seconds could have been asked for; negative: not known */
    char word[64];            /* the kind as a word, such as "notSignedIn" */
    char message[1024];       /* what happened, to what, for a person */
    char remedy[512];         /* what to do about it */
    char user_id[256];        /* JUNCTION_ALREADY_SIGNED_IN: who is */
    char capability[32];      /* JUNCTION_PERMISSION_DENIED: what the caller lacks */
    char termination_code[64];/* JUNCTION_SESSION_TERMINATED: the provider's word for why, */
    char termination_message[256]; /* its sentence, */
    int64_t termination_at;   /* and when, in milliseconds since 1970 (UTC); 0: not known */
    char reserved[248];
} junction_error;

/* -- The handle ------------------------------------------------------------------------------------------------------ */

typedef struct junction junction;

/* Gets ready to ask the daemon at `socket`; with NULL at $JUNCTIOND_SOCKET, else at $XDG_RUNTIME_DIR/junctiond/junctiond.sock if
 * there is one, else at /run/junctiond/junctiond.sock. It does not connect yet. NULL when that fails. */
JUNCTION_API junction *junction_open(const char *socket, junction_error *error);

/* Ends it. No call may be under way, no watch may be open, and it is not called from a callback. */
JUNCTION_API void junction_close(junction *j);

/* Makes every call and every wait that is under way on this handle, in any thread, return JUNCTION_CANCELLED. */
JUNCTION_API void junction_cancel(junction *j);

/* -- What the daemon says, as JSON ----------------------------------------------------------------------------------- */

/* A value inside of what the daemon said. The functions below take NULL for a value that is not there. */
typedef struct junction_value junction_value;

enum junction_type {
    JUNCTION_NOTHING = 0,
    JUNCTION_NULL,
    JUNCTION_BOOLEAN,
    JUNCTION_NUMBER,
    JUNCTION_STRING,
    JUNCTION_ARRAY,
    JUNCTION_OBJECT
};

JUNCTION_API enum junction_type junction_type_of(const junction_value *value);
/* The member of an object; NULL when it has none. Of two with the same name it is the last. */
JUNCTION_API const junction_value *junction_member(const junction_value *object, const char *name);
/* How many elements or members it has. */
JUNCTION_API size_t junction_count(const junction_value *container);
/* An element, or the value of a member, by its number. */
JUNCTION_API const junction_value *junction_at(const junction_value *container, size_t index);
/* The name of a member, by its number. */
JUNCTION_API const char *junction_name_at(const junction_value *object, size_t index);
/* The text of a string, which lives as long as the value; NULL when it is none. It may have zeros inside: see `length`. */
JUNCTION_API const char *junction_string(const junction_value *value, size_t *length);
JUNCTION_API double junction_number(const junction_value *value, double otherwise);
JUNCTION_API int64_t junction_integer(const junction_value *value, int64_t otherwise);
JUNCTION_API bool junction_boolean(const junction_value *value, bool otherwise);
/* The value as JSON, for junction_string_free; NULL without memory. */
JUNCTION_API char *junction_json(const junction_value *value);
JUNCTION_API void junction_string_free(char *text);
/* Gives back what junction_call returned. */
JUNCTION_API void junction_value_free(junction_value *value);

/* -- The state ------------------------------------------------------------------------------------------------------- */

enum junction_state {
    JUNCTION_STATE_OTHER = 0, /* the daemon is newer: see `state_word` */
    JUNCTION_STATE_NOT_LOGGED_IN,
    JUNCTION_STATE_ESTABLISHING,
    JUNCTION_STATE_ESTABLISHED,
    JUNCTION_STATE_TOKEN_EXPIRED,
    JUNCTION_STATE_TERMINATED
};

/* Everything about the session that may be shown. Texts that are not known are NULL. Times are milliseconds since 1970
 * (UTC), 0 when there is none. The library makes it, so that it may grow at its end. */
typedef struct junction_snapshot {
    uint64_t revision;             /* rises with each change; has a meaning within one connection only */
    int64_t changed_at;
    enum junction_state state;
    const char *state_word;
    bool signed_in;                /* whether a user is, be their token alive or not */
    bool pending_reauthentication; /* the provider wants a new credential; a living token is still served */
    const char *provider;
    const char *scheme;
    const char *user_id;           /* as the provider spells it; in JUNCTION_STATE_TERMINATED of whom the session was */
    const char *external_user_id;  /* as the app names them */
    const char *team_id;
    const char *environment;
    const char *region;
    int64_t token_issued_at;
    int64_t token_expires_at;
    uint64_t token_generation;     /* each new token has a higher one; 0 when there is none */
    const char *renewal_phase;
    int64_t renewal_not_before;
    int renewal_failures;          /* in a row */
    const char *renewal_last_error;
    const char *termination_code;
    const char *termination_message;
    const char *storage_status;    /* "ok", "locked", "damaged", "unavailable" */
    bool durable;                  /* whether what is in memory is also on disk */
    const char *user_code;         /* a sign-in that a person has yet to approve on another screen */
    const char *verification_uri;
    const char *verification_uri_complete;
    int64_t authorization_expires_at;
    const junction_value *json;    /* all of it */
    bool storage_readable;         /* whether the daemon has opened the stored session, or there is none; without it no token can be had */
    const char *storage_reason;    /* what is wrong with the storage and what to do, if the status is not "ok" */
    bool renewal_needs_handler;    /* the next renewal needs a session handler, and none is registered */
} junction_snapshot;

JUNCTION_API int junction_status(junction *j, int timeout, junction_snapshot **snapshot, junction_error *error);
JUNCTION_API void junction_snapshot_free(junction_snapshot *snapshot);

enum junction_goal {
    JUNCTION_SIGNED_IN,
    JUNCTION_SIGNED_OUT, /* and nobody is signing in */
    JUNCTION_FRESH       /* signed in with a living token; a session that is dead or cannot be read ends the wait */
};

/* Waits until the session is so; for a daemon that is not there, too, and over its restarts. */
JUNCTION_API int junction_wait(junction *j, enum junction_goal goal, int timeout, junction_snapshot **snapshot, junction_error *error);

/* The states of the session from now on, over any restart of the daemon. One thread at a time may wait at a watch. */
typedef struct junction_watch junction_watch;

#define JUNCTION_EVERY 1  /* every snapshot that the daemon sends; otherwise the newest of those that have come */
#define JUNCTION_STATES 2 /* only changes of `state_word`, which a renewal is not; the rest is as it was at that change */

JUNCTION_API junction_watch *junction_watch_open(junction *j, int flags, junction_error *error);
/* Waits for the present snapshot at first, and then for each that differs. It waits for a daemon that is not there. After
 * JUNCTION_TIMED_OUT and JUNCTION_CANCELLED nothing is missed; after any other error, which a new connection would not have
 * changed, the next call tries again. */
JUNCTION_API int junction_watch_next(junction_watch *watch, int timeout, junction_snapshot **snapshot, junction_error *error);
JUNCTION_API void junction_watch_close(junction_watch *watch);

/* -- Tokens ---------------------------------------------------------------------------------------------------------- */

typedef struct junction_token {
    const char *access_token; /* wiped by junction_token_free; a copy is the caller's to wipe */
    const char *token_type;   /* "Bearer" */
    const char *user_id;
    int64_t expires_at;       /* milliseconds since 1970 */
} junction_token;

/* An access token that is valid for so many seconds; 0 leaves that to the daemon, who renews before a token dies. */
JUNCTION_API int junction_access_token(junction *j, double minimum_validity, int timeout, junction_token **token, junction_error *error);
JUNCTION_API void junction_token_free(junction_token *token);
/* Renews now. For a caller without the capability "status" only `state`, `state_word`, `signed_in` and the times and generation of
 * the token are known. */
JUNCTION_API int junction_renew(junction *j, int timeout, junction_snapshot **snapshot, junction_error *error);

/* -- Signing in and out ---------------------------------------------------------------------------------------------- */

/* A name with its text. A list of them ends with a pair without a name; a pair without a value is left out. */
typedef struct junction_pair {
    const char *name;
    const char *value;
} junction_pair;

/* Credentials, as the interface has them: "scheme" decides which other members there are. Any list of pairs will do. */
#ifndef __cplusplus
#define JUNCTION_SIGN_IN_TOKEN(text) \
    ((const junction_pair[]){{"scheme", "signInToken"}, {"token", (text)}, {NULL, NULL}})
#define JUNCTION_LINK_CODE(text) ((const junction_pair[]){{"scheme", "linkCode"}, {"code", (text)}, {NULL, NULL}})
#define JUNCTION_USER_LOGIN(id, name, auth_token) \
    ((const junction_pair[]){{"scheme", "userLogin"}, {"userId", (id)}, {"displayName", (name)}, {"authToken", (auth_token)}, {NULL, NULL}})
#define JUNCTION_REGISTRATION(id, text) \
    ((const junction_pair[]){{"scheme", "registration"}, {"userId", (id)}, {"token", (text)}, {NULL, NULL}})
#define JUNCTION_DEVICE ((const junction_pair[]){{"scheme", "device"}, {NULL, NULL}})
#endif

/* `snapshot` may be NULL in all of these. */
JUNCTION_API int junction_sign_in(junction *j, const junction_pair *credential, int timeout, junction_snapshot **snapshot, junction_error *error);
/* From any state, and without the network. With `durable` false the user would be back after a restart. */
JUNCTION_API int junction_sign_out(junction *j, int timeout, junction_snapshot **snapshot, junction_error *error);

/* Where a callback puts its answer. */
typedef struct junction_reply junction_reply;
/* Answers, with members that are copied to where they will be wiped. Only the first answer counts. */
JUNCTION_API int junction_reply_with(junction_reply *reply, const junction_pair *members);

/* Asked for a credential; one that does not answer has none, and nothing changes. */
typedef void junction_credential_callback(void *context, const char *external_user_id, junction_reply *reply);

/* Makes this user the signed-in one; NULL signs out. The callback, which runs in the calling thread, is called only if a
 * credential is needed, and at most once. An answer that comes after `timeout` or junction_cancel is refused: it signs no user in. `outcome` becomes "unchanged", "signedIn", "switched" or "signedOut". */
JUNCTION_API int junction_identify(junction *j, const char *external_user_id, junction_credential_callback *callback, void *context,
                                   int timeout, const char **outcome, junction_snapshot **snapshot, junction_error *error);

/* A renewal that the daemon asks about. */
typedef struct junction_renewal {
    const char *renewal_id;
    const char *reason;  /* "missing", "expiring", "expired", "rejected", "requested" */
    const char *user_id;
    int64_t expires_at;  /* of the present token; 0 when there is none */
    int64_t deadline;    /* until when the daemon waits */
    const junction_value *json;
} junction_renewal;

/* Answers {"action", "renew"}, or {"action", "renewWithAuthToken"} with {"authToken", …}; without an answer it was unable, and
 * nobody is asked for ten minutes. */
typedef void junction_renewal_callback(void *context, const junction_renewal *renewal, junction_reply *reply);

/* Is asked for new tokens until the time is over or junction_cancel is called, over restarts of the daemon. */
JUNCTION_API int junction_handle_renewals(junction *j, junction_renewal_callback *callback, void *context, int timeout, junction_error *error);

/* -- The provider's API, and everything else ------------------------------------------------------------------------- */

typedef struct junction_answer {
    int status;                    /* of HTTP; 400 and more is an answer, too, not an error */
    const junction_pair *headers;  /* with names in lower case */
    const unsigned char *body;     /* with a zero behind it */
    size_t length;
} junction_answer;

/* Calls the provider's API as the signed-in user; the daemon adds the credential. `query` and `headers` may be NULL. */
JUNCTION_API int junction_request(junction *j, const char *method, const char *path, const junction_pair *query, const junction_pair *headers,
                                  const void *body, size_t length, int timeout, junction_answer **answer, junction_error *error);
JUNCTION_API void junction_answer_free(junction_answer *answer);

/* Any method of the interface. `params` is JSON, or NULL; `result` may be NULL. */
JUNCTION_API int junction_call(junction *j, const char *method, const char *params, int timeout, junction_value **result, junction_error *error);

/* -- In an event loop ------------------------------------------------------------------------------------------------ */

/* Instead of blocking: whenever junction_fd is ready for junction_events, call junction_step, which never blocks, and calls
 * back. The descriptor stays the same as long as the handle is open, over reconnections and time-outs; it is not to be read.
 * Callbacks run in the thread that steps, without a lock held, and may use the handle; what they are given is theirs only
 * until they return. -1 when it cannot be had. */
JUNCTION_API int junction_fd(junction *j);
JUNCTION_API short junction_events(junction *j); /* for poll(2) */
JUNCTION_API int junction_step(junction *j);     /* how many callbacks it called */

/* Exactly one of `result` and `error` is there. */
typedef void junction_answered(void *context, const junction_value *result, const junction_error *error);
/* Begins what junction_call does; `call`, unless it is NULL, becomes a number for junction_stop. */
JUNCTION_API int junction_start(junction *j, const char *method, const char *params, int timeout, junction_answered *callback, void *context,
                                uint64_t *call, junction_error *error);
/* Waits no longer: from now on the callback is not called. False when it has been, or is about to be by another thread. */
JUNCTION_API bool junction_stop(junction *j, uint64_t call);

/* Exactly one of `snapshot` and `error` is there; after an error the watch has ended. */
typedef void junction_changed(void *context, const junction_snapshot *snapshot, const junction_error *error);
JUNCTION_API int junction_watch_start(junction *j, junction_changed *callback, void *context, junction_error *error);
/* The same with JUNCTION_STATES. A handle has one watch in its event loop: each of these functions ends the one before. */
JUNCTION_API int junction_states_start(junction *j, junction_changed *callback, void *context, junction_error *error);
JUNCTION_API void junction_watch_stop(junction *j);

/* Something that the daemon asks: "session.authenticate" within session.identify, or "session.willRenewAccessToken". The app
 * answers it by junction_respond, in this callback or later. When the call of session.identify ends before that, by its timeout or by
 * junction_stop, the library refuses the question at once: a later answer signs no user in. */
typedef void junction_asked(void *context, const char *method, const junction_value *params, uint64_t question);
JUNCTION_API void junction_on_question(junction *j, junction_asked *callback, void *context);
/* Answers a question; without members the app has no credential or token. JUNCTION_CONNECTION_LOST when the question is over: it was
 * answered, its call has ended or the connection was lost. After any other error it stays open. */
JUNCTION_API int junction_respond(junction *j, uint64_t question, const junction_pair *members, junction_error *error);
/* Is a session handler from now on, over restarts of the daemon; an error, after which it is none, goes to the callback. */
JUNCTION_API int junction_register_start(junction *j, junction_answered *failed, void *context, junction_error *error);
JUNCTION_API void junction_register_stop(junction *j);

#ifdef __cplusplus
}
#endif

#endif
