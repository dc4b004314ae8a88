/* libjunction: the session of this device, from C.
 *
 * junctiond keeps one user signed in and gives access tokens to apps over a Unix socket. This library is a client of junctiond.
 * It stores nothing, needs only libc, and prints nothing.
 *
 *     junction *j = junction_open(NULL, NULL);
 *     junction_token *token;
 *     junction_error error;
 *     if (junction_access_token(j, 0, 5000, &token, &error) != JUNCTION_OK)
 *         fprintf(stderr, "%s (%s): %s\n", error.message, error.word, error.remedy);
 *
 * A function that blocks takes a timeout in milliseconds; -1 means no timeout. It returns JUNCTION_OK or the kind of the error,
 * and writes the details to `*error` unless `error` is NULL. The caller owns each returned object and passes it to the function
 * of its type that ends in _free, which wipes the memory. Each of these functions accepts NULL.
 *
 * Any number of threads may use one handle at the same time. A signal does not end a call, and no call raises SIGPIPE.
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

/* Returns the version of the linked library, such as "0.1.0". JUNCTION_VERSION is the version of this header. */
JUNCTION_API const char *junction_version(void);

/* -- Errors ---------------------------------------------------------------------------------------------------------- */

/* The kind of an error. The errors of the daemon have the same numbers as on the wire. */
enum junction_kind {
    JUNCTION_OK = 0,

    /* Errors of the library. */
    JUNCTION_DAEMON_UNREACHABLE = 1,  /* no process listens on the socket */
    JUNCTION_CONNECTION_LOST = 2,     /* the connection ended before the answer; ask for the state before you repeat the call */
    JUNCTION_LOCAL_FAILURE = 3,       /* this program has no memory or no descriptor left, or another system call failed */
    JUNCTION_INVALID_SOCKET_PATH = 4, /* the path is empty or too long for a Unix socket */
    JUNCTION_UNREADABLE_ANSWER = 5,   /* the library cannot read a message of the daemon */
    JUNCTION_REQUEST_TOO_LARGE = 6,   /* the request or reply is over 1 MiB; the library did not send it */
    JUNCTION_TIMED_OUT = 7,           /* the daemon still completes the request */
    JUNCTION_CANCELLED = 8,           /* by junction_cancel; the daemon still completes the request */
    JUNCTION_INVALID_ARGUMENT = 9,    /* an argument of this call is wrong; the library sent nothing */
    JUNCTION_OTHER = 10,              /* an error of a newer daemon: see `word` and `code` */

    /* Errors of the daemon. */
    JUNCTION_ALREADY_SIGNED_IN = 1001,        /* another user is signed in: `user_id` */
    JUNCTION_INVALID_CREDENTIAL = 1002,       /* malformed or rejected; nothing changed */
    JUNCTION_NOT_SIGNED_IN = 1003,            /* there is no session */
    JUNCTION_REAUTHENTICATION_REQUIRED = 1004,/* the daemon keeps the session, but needs a new credential */
    JUNCTION_SESSION_TERMINATED = 1005,       /* the user is deleted, disabled or banned: `termination_code` */
    JUNCTION_PROVIDER_UNAVAILABLE = 1006,     /* the provider gave no usable answer; the session is kept */
    JUNCTION_PERMISSION_DENIED = 1007,        /* the daemon denies the call (`capability`); with code 0, this user may not open the socket */
    JUNCTION_INCOMPATIBLE_CREDENTIAL = 1008,  /* migration from an API key with another user, environment or region */
    JUNCTION_STORAGE_UNAVAILABLE = 1009,      /* the daemon cannot read the sealed state; it erased nothing */
    JUNCTION_TOKEN_EXPIRED = 1010,            /* the token has expired, and no other token is available now */
    JUNCTION_BUSY = 1011,                     /* a limit is reached, or the token is valid for less time than requested */
    JUNCTION_UNSUPPORTED = 1012,              /* the provider or the scheme does not support this */
    JUNCTION_MISCONFIGURED = 1013,            /* the daemon rejects its configuration, or the configuration does not fit the provider */
    JUNCTION_PARSE_ERROR = -32700,
    JUNCTION_INVALID_REQUEST = -32600,
    JUNCTION_METHOD_NOT_FOUND = -32601,       /* the daemon is older than this library */
    JUNCTION_INVALID_PARAMS = -32602,         /* missing, unknown or out of range: see `maximum` */
    JUNCTION_INTERNAL_ERROR = -32603
};

/* The details of an error. The caller owns the struct, and nothing in it has to be freed. Strings are never NULL; an
 * unknown string is empty. The library truncates a long message at a character boundary and leaves out an id that does
 * not fit. The struct never contains a secret. */
typedef struct junction_error {
    int kind;                 /* an enum junction_kind */
    int code;                 /* the number on the wire; 0 if the error does not come from the daemon */
    double retry_after;       /* seconds after which a retry may succeed; negative: unknown */
    double maximum;           /* JUNCTION_INVALID_PARAMS: the largest accepted number of seconds; negative: unknown */
    char word[64];            /* the kind as a word, such as "notSignedIn" */
    char message[1024];       /* what failed and for which object, for a person */
    char remedy[512];         /* what to do about it */
    char user_id[256];        /* JUNCTION_ALREADY_SIGNED_IN: the signed-in user */
    char capability[32];      /* JUNCTION_PERMISSION_DENIED: the missing capability */
    char termination_code[64];/* JUNCTION_SESSION_TERMINATED: the provider's code, */
    char termination_message[256]; /* the provider's message, */
    int64_t termination_at;   /* and the time in milliseconds since 1970 (UTC); 0: unknown */
    char reserved[248];
} junction_error;

/* -- The handle ------------------------------------------------------------------------------------------------------ */

typedef struct junction junction;

/* Creates a handle for the daemon at `socket`. With NULL, the socket is $JUNCTIOND_SOCKET, else that of the instance
 * $JUNCTIOND_INSTANCE, else that of the instance "junctiond". The function does not connect. Returns NULL on failure. */
JUNCTION_API junction *junction_open(const char *socket, junction_error *error);

/* Creates a handle for one of several installations on this machine. Its socket is $XDG_RUNTIME_DIR/junctiond/NAME.sock if
 * that exists, else /run/junctiond/NAME.sock. The name has 1 to 64 letters (a-z, A-Z), digits, '-', '_' and '.', and does not
 * begin with '.'; the error for any other name is JUNCTION_INVALID_SOCKET_PATH. NULL means "junctiond". */
JUNCTION_API junction *junction_open_instance(const char *instance, junction_error *error);

/* Closes the handle. No call may be in progress, no watch may be open, and a callback must not call this function. */
JUNCTION_API void junction_close(junction *j);

/* Makes every call and every wait in progress on this handle, in all threads, return JUNCTION_CANCELLED. */
JUNCTION_API void junction_cancel(junction *j);

/* -- JSON of the daemon ----------------------------------------------------------------------------------------------- */

/* A JSON value in a message of the daemon. The functions below accept NULL as a missing value. */
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
/* Returns the member of an object, or NULL if there is none. If a name occurs twice, the last member counts. */
JUNCTION_API const junction_value *junction_member(const junction_value *object, const char *name);
/* Returns the number of elements or members. */
JUNCTION_API size_t junction_count(const junction_value *container);
/* Returns the element, or the value of the member, at this index. */
JUNCTION_API const junction_value *junction_at(const junction_value *container, size_t index);
/* Returns the name of the member at this index. */
JUNCTION_API const char *junction_name_at(const junction_value *object, size_t index);
/* Returns the text of a string, or NULL for another type. The text lives as long as the value. It may contain zero bytes:
 * see `length`. */
JUNCTION_API const char *junction_string(const junction_value *value, size_t *length);
JUNCTION_API double junction_number(const junction_value *value, double otherwise);
JUNCTION_API int64_t junction_integer(const junction_value *value, int64_t otherwise);
JUNCTION_API bool junction_boolean(const junction_value *value, bool otherwise);
/* Returns the value as JSON, or NULL without memory. The caller frees it with junction_string_free. */
JUNCTION_API char *junction_json(const junction_value *value);
JUNCTION_API void junction_string_free(char *text);
/* Frees the result of junction_call. */
JUNCTION_API void junction_value_free(junction_value *value);

/* -- The state ------------------------------------------------------------------------------------------------------- */

enum junction_state {
    JUNCTION_STATE_OTHER = 0, /* a state of a newer daemon: see `state_word` */
    JUNCTION_STATE_NOT_LOGGED_IN,
    JUNCTION_STATE_ESTABLISHING,
    JUNCTION_STATE_ESTABLISHED,
    JUNCTION_STATE_TOKEN_EXPIRED,
    JUNCTION_STATE_TERMINATED
};

/* The public state of the session. Unknown strings are NULL. Times are milliseconds since 1970 (UTC), or 0 if there is
 * none. Only the library allocates this struct, so a later version may add members at the end. */
typedef struct junction_snapshot {
    uint64_t revision;             /* increases with each change; comparable only within one connection */
    int64_t changed_at;
    enum junction_state state;
    const char *state_word;
    bool signed_in;                /* a user is signed in, with a valid or an expired token */
    bool pending_reauthentication; /* the provider requires a new credential; the daemon still serves a valid token */
    const char *provider;
    const char *scheme;
    const char *user_id;           /* the provider's id; in JUNCTION_STATE_TERMINATED the user of the ended session */
    const char *external_user_id;  /* the app's id */
    const char *team_id;
    const char *environment;
    const char *region;
    int64_t token_issued_at;
    int64_t token_expires_at;
    uint64_t token_generation;     /* increases with each new token; 0: no token */
    const char *renewal_phase;
    int64_t renewal_not_before;
    int renewal_failures;          /* consecutive failures */
    const char *renewal_last_error;
    const char *termination_code;
    const char *termination_message;
    const char *storage_status;    /* "ok", "locked", "damaged", "unavailable" */
    bool durable;                  /* the state in memory is also on disk */
    const char *user_code;         /* a device sign-in that waits for approval on another screen */
    const char *verification_uri;
    const char *verification_uri_complete;
    int64_t authorization_expires_at;
    const junction_value *json;    /* the whole snapshot */
    bool storage_readable;         /* the daemon has opened the stored session, or there is none; if false, no token is available */
    const char *storage_reason;    /* the problem with the storage and its remedy, if the status is not "ok" */
    bool renewal_needs_handler;    /* the next renewal needs a session handler, and none is registered */
} junction_snapshot;

JUNCTION_API int junction_status(junction *j, int timeout, junction_snapshot **snapshot, junction_error *error);
JUNCTION_API void junction_snapshot_free(junction_snapshot *snapshot);

enum junction_goal {
    JUNCTION_SIGNED_IN,
    JUNCTION_SIGNED_OUT, /* and no sign-in is in progress */
    JUNCTION_FRESH       /* signed in with a valid token; the wait fails if the session is terminated or unreadable, or if
                          * the token has expired and the provider requires a new credential */
};

/* Waits until the session reaches the goal. The wait continues while the daemon is absent or restarts. */
JUNCTION_API int junction_wait(junction *j, enum junction_goal goal, int timeout, junction_snapshot **snapshot, junction_error *error);

/* A subscription to the session state, which continues across restarts of the daemon. Only one thread at a time may wait
 * on a watch. */
typedef struct junction_watch junction_watch;

#define JUNCTION_EVERY 1  /* deliver every snapshot that the daemon sends; without it only the newest one received */
#define JUNCTION_STATES 2 /* deliver only changes of `state_word`, so no renewals; the other members have their values at that change */

JUNCTION_API junction_watch *junction_watch_open(junction *j, int flags, junction_error *error);
/* Returns the current snapshot first, and then each snapshot that differs. Waits while the daemon is absent. After
 * JUNCTION_TIMED_OUT and JUNCTION_CANCELLED no snapshot is lost. Any other error is one that a new connection would not
 * fix; the next call tries again. */
JUNCTION_API int junction_watch_next(junction_watch *watch, int timeout, junction_snapshot **snapshot, junction_error *error);
JUNCTION_API void junction_watch_close(junction_watch *watch);

/* -- Tokens ---------------------------------------------------------------------------------------------------------- */

typedef struct junction_token {
    const char *access_token; /* junction_token_free wipes it; the caller wipes its own copies */
    const char *token_type;   /* "Bearer" */
    const char *user_id;
    int64_t expires_at;       /* milliseconds since 1970 */
} junction_token;

/* Returns an access token that is valid for at least `minimum_validity` seconds. With 0 the daemon decides; it renews a
 * token before it expires. */
JUNCTION_API int junction_access_token(junction *j, double minimum_validity, int timeout, junction_token **token, junction_error *error);
JUNCTION_API void junction_token_free(junction_token *token);
/* Renews the token now. A caller without the capability "status" receives only `state`, `state_word`, `signed_in`, and
 * the times and the generation of the token. */
JUNCTION_API int junction_renew(junction *j, int timeout, junction_snapshot **snapshot, junction_error *error);

/* -- Signing in and out ---------------------------------------------------------------------------------------------- */

/* A name and a value. A list ends with a pair whose name is NULL; a pair whose value is NULL is skipped. */
typedef struct junction_pair {
    const char *name;
    const char *value;
} junction_pair;

/* Credentials of session.signIn: "scheme" decides which other members there are. Any list of pairs is possible. */
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

/* `snapshot` may be NULL in all these functions. */
JUNCTION_API int junction_sign_in(junction *j, const junction_pair *credential, int timeout, junction_snapshot **snapshot, junction_error *error);
/* Signs the user out, from any state and without the network. If `durable` is false in the snapshot, a restart of the
 * daemon would restore the session. */
JUNCTION_API int junction_sign_out(junction *j, int timeout, junction_snapshot **snapshot, junction_error *error);

/* Collects the answer of a callback. */
typedef struct junction_reply junction_reply;
/* Sets the answer. The library copies the members and wipes its copy. Only the first answer counts; after an error there
 * is none yet. The error is JUNCTION_REQUEST_TOO_LARGE for an answer that does not fit in 1 MiB, and
 * JUNCTION_INVALID_ARGUMENT for text that is not UTF-8 or a second answer. */
JUNCTION_API int junction_reply_with(junction_reply *reply, const junction_pair *members);

/* Asks the app for a credential. If the callback does not answer, the app has no credential and nothing changes. */
typedef void junction_credential_callback(void *context, const char *external_user_id, junction_reply *reply);

/* Signs this user in; NULL signs out. The library calls `callback` in the calling thread, only if a credential is needed,
 * and at most once. The library refuses an answer that comes after `timeout` or junction_cancel: it signs no user in.
 * `outcome` becomes "unchanged", "signedIn", "switched" or "signedOut". */
JUNCTION_API int junction_identify(junction *j, const char *external_user_id, junction_credential_callback *callback, void *context,
                                   int timeout, const char **outcome, junction_snapshot **snapshot, junction_error *error);

/* A renewal for which the daemon asks the session handler. */
typedef struct junction_renewal {
    const char *renewal_id;
    const char *reason;  /* "missing", "expiring", "expired", "rejected", "requested" */
    const char *user_id;
    int64_t expires_at;  /* expiry of the current token; 0 if there is none */
    int64_t deadline;    /* the daemon waits until this time */
    const junction_value *json;
} junction_renewal;

/* Answers {"action", "renew"}, or {"action", "renewWithAuthToken"} with {"authToken", …}. Without an answer the handler
 * was unable, and the daemon asks no handler for ten minutes. */
typedef void junction_renewal_callback(void *context, const junction_renewal *renewal, junction_reply *reply);

/* Serves as a session handler until the timeout or junction_cancel, across restarts of the daemon. */
JUNCTION_API int junction_handle_renewals(junction *j, junction_renewal_callback *callback, void *context, int timeout, junction_error *error);

/* -- The provider's API, and everything else ------------------------------------------------------------------------- */

typedef struct junction_answer {
    int status;                    /* the HTTP status; 400 and above is also an answer, not an error */
    const junction_pair *headers;  /* names are in lower case */
    const unsigned char *body;     /* followed by a zero byte */
    size_t length;
} junction_answer;

/* Calls the provider's API as the signed-in user. The daemon adds the credential. `query` and `headers` may be NULL. */
JUNCTION_API int junction_request(junction *j, const char *method, const char *path, const junction_pair *query, const junction_pair *headers,
                                  const void *body, size_t length, int timeout, junction_answer **answer, junction_error *error);
JUNCTION_API void junction_answer_free(junction_answer *answer);

/* Calls any method of the daemon. `params` is JSON or NULL; `result` may be NULL. */
JUNCTION_API int junction_call(junction *j, const char *method, const char *params, int timeout, junction_value **result, junction_error *error);

/* -- In an event loop ------------------------------------------------------------------------------------------------ */

/* Returns the descriptor for an event loop. When it is ready for junction_events, the app calls junction_step, which
 * never blocks and calls the callbacks. The descriptor stays the same while the handle is open, across reconnections and
 * timeouts. The app must not read from it. Callbacks run in the thread that calls junction_step, without a lock held, and
 * may use the handle. The arguments of a callback are valid only until it returns. Returns -1 on failure. */
JUNCTION_API int junction_fd(junction *j);
JUNCTION_API short junction_events(junction *j); /* for poll(2) */
JUNCTION_API int junction_step(junction *j);     /* returns the number of callbacks that it called */

/* Receives the answer: exactly one of `result` and `error` is not NULL. */
typedef void junction_answered(void *context, const junction_value *result, const junction_error *error);
/* Starts the call that junction_call makes. `*call`, unless `call` is NULL, becomes a number for junction_stop. */
JUNCTION_API int junction_start(junction *j, const char *method, const char *params, int timeout, junction_answered *callback, void *context,
                                uint64_t *call, junction_error *error);
/* Stops waiting: the library does not call the callback any more. Returns false if it has called it already, or another
 * thread is about to. */
JUNCTION_API bool junction_stop(junction *j, uint64_t call);

/* Receives a change: exactly one of `snapshot` and `error` is not NULL. After an error the watch has ended. */
typedef void junction_changed(void *context, const junction_snapshot *snapshot, const junction_error *error);
JUNCTION_API int junction_watch_start(junction *j, junction_changed *callback, void *context, junction_error *error);
/* The same with JUNCTION_STATES. A handle has one watch in its event loop: each of these functions ends the previous
 * watch. */
JUNCTION_API int junction_states_start(junction *j, junction_changed *callback, void *context, junction_error *error);
JUNCTION_API void junction_watch_stop(junction *j);

/* Receives a request of the daemon: "session.authenticate" during session.identify, or "session.willRenewAccessToken".
 * The app answers it with junction_respond, in this callback or later. If the call of session.identify ends first, by its
 * timeout or by junction_stop, the library refuses the request at once: a later answer signs no user in. */
typedef void junction_asked(void *context, const char *method, const junction_value *params, uint64_t question);
JUNCTION_API void junction_on_question(junction *j, junction_asked *callback, void *context);
/* Answers a question. Without members the app has no credential or token. JUNCTION_CONNECTION_LOST means that the
 * question is over: it was answered, its call has ended or the connection was lost. After any other error the question
 * stays open. */
JUNCTION_API int junction_respond(junction *j, uint64_t question, const junction_pair *members, junction_error *error);
/* Registers a session handler, across restarts of the daemon. On an error the registration ends, and the callback
 * receives the error. */
JUNCTION_API int junction_register_start(junction *j, junction_answered *failed, void *context, junction_error *error);
JUNCTION_API void junction_register_stop(junction *j);

#ifdef __cplusplus
}
#endif

#endif
