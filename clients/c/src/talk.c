#define _GNU_SOURCE
#include "talk.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Covers about one second, in which the daemon restarts. */
#define MOST_REPETITIONS 6
#define FIRST_DELAY 50
/* A restart takes a second or two, but the daemon may also be stopped for a week. */
#define LONGEST_DELAY 5000
/* The most bytes that wait for a daemon that does not read: a few of the longest requests. */
#define MOST_OUTGOING ((size_t)8 << 20)
/* How many questions may be open on one connection. */
#define MOST_QUESTIONS 64
/* The most reads in a row before a call checks its deadline again. */
#define MOST_PIECES 256

struct outgoing {
    struct outgoing *next;
    struct shared_line *line;
    struct call *call; /* the call that this line requests; NULL after the call has ended */
};

/* -- Time ------------------------------------------------------------------------------------------------------------ */

int64_t clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t deadline_after(int timeout) {
    return timeout < 0 ? NEVER : clock_now() + timeout;
}

int poll_timeout(int64_t deadline) {
    if (deadline == NEVER) return -1;
    int64_t left = deadline - clock_now();
    /* Rounded up: a wait of exactly the remaining milliseconds could end before the deadline. */
    return left <= 0 ? 0 : left >= 1000000 ? 1000000 : (int)left + 1;
}

/* Returns the delay before the next attempt: 0 at first, then doubled each time. A random part prevents that all apps of
 * a device reconnect at the same moment. */
static int64_t next_delay(int *tries) {
    int failures = (*tries)++;
    if (failures == 0) return 0;
    int64_t whole = failures > 16 ? LONGEST_DELAY : (int64_t)FIRST_DELAY << (failures - 1);
    if (whole > LONGEST_DELAY) whole = LONGEST_DELAY;
    unsigned char chance = 128;
    if (getrandom(&chance, 1, GRND_NONBLOCK) != 1) chance = 128;
    return whole / 2 + whole * chance / 510;
}

/* -- Lines ----------------------------------------------------------------------------------------------------------- */

static struct shared_line *line_new(void) {
    struct shared_line *line = calloc(1, sizeof *line);
    if (line != NULL) line->holders = 1;
    return line;
}

static void line_release(struct shared_line *line) {
    if (line == NULL || --line->holders > 0) return;
    bytes_wipe(&line->bytes);
    free(line);
}

static bool enqueue(struct talk *talk, struct shared_line *line, struct call *call) {
    struct outgoing *item = calloc(1, sizeof *item);
    if (item == NULL) return false;
    line->holders++;
    *item = (struct outgoing){.line = line, .call = call};
    struct outgoing **end = &talk->out;
    while (*end != NULL) end = &(*end)->next;
    *end = item;
    talk->out_waiting += line->bytes.count;
    return true;
}

static void dequeue(struct talk *talk) {
    struct outgoing *item = talk->out;
    talk->out = item->next;
    talk->out_sent = 0;
    talk->out_waiting -= item->line->bytes.count;
    line_release(item->line);
    free(item);
}

/* The error message of a call after its deadline. */
static const char late[] = "the daemon did not answer in time";

static void flush(struct talk *talk);
static void refuse_question(struct talk *talk, struct question *question, int code, const char *message);

/* -- Calls ----------------------------------------------------------------------------------------------------------- */

/* Whether a repeated call has the same effect as one call. */
static bool is_repeatable(const char *method) {
    static const char *const methods[] = {"session.status", "token.get",       "session.reconcile", "session.authorizationPage",
                                          "daemon.info",    "daemon.metrics",  "daemon.diagnose",   "rpc.discover",
                                          "access.whoami"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i], method) == 0) return true;
    return false;
}

static void write_request(struct bytes *line, int64_t id, const char *method, const struct bytes *params) {
    char number[24];
    size_t at = sizeof number;
    do number[--at] = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    bytes_add_text(line, "{\"jsonrpc\":\"2.0\",\"id\":");
    bytes_add(line, number + at, sizeof number - at);
    bytes_add_text(line, ",\"method\":");
    json_write_string(line, method, strlen(method));
    if (params != NULL && params->count > 0) {
        bytes_add_text(line, ",\"params\":");
        bytes_add(line, params->data, params->count);
    }
    bytes_add_text(line, "}\n");
}

struct call *call_new(const char *method, const struct bytes *params, int64_t deadline) {
    /* The id is part of the line, which may be sent on several connections. So it is unique in the process. */
    static int64_t last_id;
    struct call *call = calloc(1, sizeof *call);
    if (call == NULL) return NULL;
    call->line = line_new();
    call->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    call->deadline = deadline;
    call->repetitions_left = MOST_REPETITIONS;
    call->is_repeatable = is_repeatable(method);
    if (call->line != NULL) write_request(&call->line->bytes, call->id, method, params);
    if (call->line == NULL || call->line->bytes.failed || (params != NULL && params->failed)) {
        call_free(call);
        return NULL;
    }
    return call;
}

static void question_free(struct question *question) {
    junction_value_free(question->message);
    bytes_wipe(&question->id);
    free(question);
}

void call_free(struct call *call) {
    if (call == NULL) return;
    line_release(call->line);
    junction_value_free(call->message);
    free(call->about);
    free(call);
}

int talk_ask(struct talk *talk, struct call *call, junction_error *error) {
    size_t length = call->line->bytes.count - 1;
    if (length > LONGEST_LINE)
        return error_set(error, JUNCTION_REQUEST_TOO_LARGE, "the request is longer than %zu bytes, which is what the daemon accepts",
                         LONGEST_LINE);
    if (talk->out_waiting + length > MOST_OUTGOING)
        return error_set(error, JUNCTION_BUSY, "the daemon has not taken the requests before this one");
    struct call **end = &talk->calls;
    while (*end != NULL) end = &(*end)->next;
    *end = call;
    return JUNCTION_OK;
}

/* Removes the question from the list and frees it. */
static void close_question(struct talk *talk, struct question *question) {
    struct question **at = &talk->questions;
    while (*at != question) at = &(*at)->next;
    *at = question->next;
    question_free(question);
}

/* Returns the open question about this call, or NULL. */
static struct question *question_about(const struct talk *talk, const struct call *call) {
    struct question *question = talk->questions;
    while (question != NULL && question->call != call->id) question = question->next;
    return question;
}

/* Ends the call. A request that is partly sent is sent completely. */
static void finish(struct talk *talk, struct call *call) {
    struct question *question = question_about(talk, call);
    if (question != NULL) close_question(talk, question);
    for (struct call **at = &talk->calls; *at != NULL; at = &(*at)->next) {
        if (*at == call) {
            *at = call->next;
            break;
        }
    }
    for (struct outgoing *item = talk->out; item != NULL; item = item->next)
        if (item->call == call) item->call = NULL;
    call->stage = STAGE_DONE;
    call->next = NULL;
    talk->has_changed = true;
    if (!call->is_async) return;
    struct call **end = &talk->finished;
    while (*end != NULL) end = &(*end)->next;
    *end = call;
}

void talk_give_up(struct talk *talk, struct call *call, enum junction_kind kind, const char *message) {
    struct question *question = question_about(talk, call);
    if (question != NULL) {
        /* The caller receives an error, so a later credential of the app must not sign a user in. */
        refuse_question(talk, question, JUNCTION_INVALID_CREDENTIAL, "The app no longer waits for this sign-in");
        flush(talk);
    }
    error_set(&call->error, kind, "%s", message);
    finish(talk, call);
}

static void finish_with(struct talk *talk, struct call *call, const junction_error *error) {
    call->error = *error;
    finish(talk, call);
}

/* Schedules another attempt. Returns false if no repetition is left. */
static bool repeat(struct call *call) {
    if (call->repetitions_left == 0) return false;
    call->repetitions_left--;
    call->is_under_way = true;
    call->stage = STAGE_WAITING;
    call->retry_at = clock_now() + next_delay(&call->tries);
    return true;
}

/* -- The duty -------------------------------------------------------------------------------------------------------- */

void talk_take_up(struct talk *talk, const char *method) {
    talk->duty.method = method;
    talk->duty.stage = DUTY_WAITING;
    talk->duty.retry_at = 0;
}

/* Schedules the duty again, unless a new connection would not fix the error. */
static void duty_failed(struct talk *talk, const junction_error *error) {
    struct duty *duty = &talk->duty;
    if (duty->stage == DUTY_NONE || duty->stage == DUTY_FAILED) return;
    int64_t now = clock_now();
    if (now >= duty->steady_from) duty->tries = 0;
    duty->steady_from = NEVER;
    /* A lack of resources is permanent before the first success, and temporary after it. */
    if (!(error->kind == JUNCTION_LOCAL_FAILURE ? duty->was_taken : error_is_passing(error))) {
        duty->stage = DUTY_FAILED;
        duty->error = *error;
        talk->has_changed = true;
        return;
    }
    int64_t delay = next_delay(&duty->tries);
    double wanted = error->retry_after * 1000;
    if (wanted > (double)delay) delay = wanted > 86400000 ? 86400000 : (int64_t)wanted;
    duty->stage = DUTY_WAITING;
    duty->retry_at = now + delay;
}

/* -- The connection -------------------------------------------------------------------------------------------------- */

void talk_begin(struct talk *talk, const char *path) {
    *talk = (struct talk){.path = path, .fd = -1, .splitter = {.limit = LONGEST_ANSWER}, .duty = {.steady_from = NEVER}};
}

/* Closes the connection and drops its lines and questions. Does not end any call. */
static void hang_up(struct talk *talk) {
    int fd = talk->fd;
    talk->fd = -1;
    if (fd >= 0) close(fd);
    talk->connection++;
    talk->is_refused = false;
    talk->splitter.searched = 0;
    talk->in_start = 0;
    bytes_wipe(&talk->in);
    while (talk->out != NULL) dequeue(talk);
    while (talk->questions != NULL) {
        struct question *question = talk->questions;
        talk->questions = question->next;
        question_free(question);
    }
}

static void forget_told(struct talk *talk) {
    free(talk->told_state);
    talk->told_state = NULL;
}

void talk_end(struct talk *talk) {
    hang_up(talk);
    junction_value_free(talk->news);
    talk->news = NULL;
    forget_told(talk);
    for (struct call **list = &talk->calls;; list = &talk->finished) {
        while (*list != NULL) {
            struct call *call = *list;
            *list = call->next;
            if (call->is_async) call_free(call);
        }
        if (list == &talk->finished) break;
    }
}

/* Handles the end of the connection. The daemon ignores a request that it received only partly, so such a request is
 * repeated. */
static void lost(struct talk *talk) {
    junction_error error, not_taken;
    error_set(&error, JUNCTION_CONNECTION_LOST, "the daemon closed the connection before it answered");
    error_set(&not_taken, JUNCTION_CONNECTION_LOST, "the daemon closed the connection before it took the request");
    hang_up(talk);
    for (struct call *call = talk->calls, *next; call != NULL; call = next) {
        next = call->next;
        if (call->stage == STAGE_WAITING) continue;
        bool was_taken = call->stage == STAGE_SENT;
        if ((was_taken && !call->is_repeatable) || !repeat(call)) finish_with(talk, call, was_taken ? &error : &not_taken);
    }
    if (talk->duty.stage == DUTY_ASKED || talk->duty.stage == DUTY_TAKEN) duty_failed(talk, &error);
}

/* Ends all calls on the connection with this error, because the connection is unusable. */
static void broken(struct talk *talk, const junction_error *error) {
    junction_error copy = *error;
    hang_up(talk);
    for (struct call *call = talk->calls, *next; call != NULL; call = next) {
        next = call->next;
        if (call->stage != STAGE_WAITING) finish_with(talk, call, &copy);
    }
    if (talk->duty.stage == DUTY_ASKED || talk->duty.stage == DUTY_TAKEN) duty_failed(talk, &copy);
}

static void unreadable(struct talk *talk, const char *why) {
    junction_error error;
    error_set(&error, JUNCTION_UNREADABLE_ANSWER, "the daemon's answer cannot be read: %s", why);
    broken(talk, &error);
}

/* Handles a failed connection attempt. */
static void not_connected(struct talk *talk, const junction_error *error) {
    int64_t now = clock_now();
    for (struct call *call = talk->calls, *next; call != NULL; call = next) {
        next = call->next;
        if (call->stage != STAGE_WAITING || call->retry_at > now) continue;
        bool is_restarting = call->is_under_way && error->kind == JUNCTION_DAEMON_UNREACHABLE;
        if (!is_restarting || !repeat(call)) finish_with(talk, call, error);
    }
    if (talk->duty.stage == DUTY_WAITING && talk->duty.retry_at <= now) duty_failed(talk, error);
}

static void connect_to_daemon(struct talk *talk) {
    junction_error error;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(talk->path);
    if (length == 0 || length >= sizeof address.sun_path) {
        error_set(&error, JUNCTION_INVALID_SOCKET_PATH, "'%s' cannot be a socket: its path has to have 1 to %zu bytes", talk->path,
                  sizeof address.sun_path - 1);
        not_connected(talk, &error);
        return;
    }
    memcpy(address.sun_path, talk->path, length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        error_set(&error, JUNCTION_LOCAL_FAILURE, "this program cannot have a socket: %s", strerror(errno));
        not_connected(talk, &error);
        return;
    }
    int number;
    do number = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    while (number == EINTR);
    if (number == 0) {
        talk->fd = fd;
        talk->connection++;
        return;
    }
    close(fd);
    switch (number) {
    case EAGAIN:
        /* The daemon's backlog is full. The kernel does not report when it has space again, so the attempt is repeated
         * after 20 ms. */
        talk->connect_at = clock_now() + 20;
        return;
    case EACCES:
    case EPERM:
        error_set(&error, JUNCTION_PERMISSION_DENIED, "this user may not open the socket %s", talk->path);
        break;
    case ENOENT:
        error_set(&error, JUNCTION_DAEMON_UNREACHABLE, "there is no socket %s", talk->path);
        break;
    case ECONNREFUSED:
        error_set(&error, JUNCTION_DAEMON_UNREACHABLE, "nobody listens on the socket %s", talk->path);
        break;
    default:
        error_set(&error, JUNCTION_DAEMON_UNREACHABLE, "cannot connect to %s: %s", talk->path, strerror(number));
    }
    not_connected(talk, &error);
}

/* -- Sending --------------------------------------------------------------------------------------------------------- */

static void enqueue_due(struct talk *talk) {
    int64_t now = clock_now();
    for (struct call *call = talk->calls; call != NULL; call = call->next)
        if (call->stage == STAGE_WAITING && call->retry_at <= now && enqueue(talk, call->line, call)) call->stage = STAGE_SENDING;
    struct duty *duty = &talk->duty;
    if (duty->stage != DUTY_WAITING || duty->retry_at > now) return;
    struct bytes params = {0};
    if (talk->only_states) json_write_pairs(&params, (const junction_pair[]){{"changes", "state"}, {NULL, NULL}});
    struct call *request = call_new(duty->method, talk->only_states ? &params : NULL, NEVER);
    bytes_wipe(&params);
    if (request != NULL && enqueue(talk, request->line, NULL)) {
        duty->stage = DUTY_ASKED;
        duty->id = request->id;
    } else {
        duty->retry_at = now + LONGEST_DELAY;
    }
    call_free(request);
}

static void flush(struct talk *talk) {
    while (talk->out != NULL && !talk->is_refused) {
        struct bytes *line = &talk->out->line->bytes;
        ssize_t sent = send(talk->fd, line->data + talk->out_sent, line->count - talk->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) return;
            /* The daemon may have sent answers before it closed the connection. Reading continues until the end of the
             * stream. */
            talk->is_refused = true;
            return;
        }
        talk->out_sent += (size_t)sent;
        if (talk->out_sent < line->count) continue;
        if (talk->out->call != NULL) talk->out->call->stage = STAGE_SENT;
        dequeue(talk);
    }
}

/* -- Questions ------------------------------------------------------------------------------------------------------- */

struct question *talk_new_question(const struct talk *talk) {
    struct question *question = talk->questions;
    while (question != NULL && question->is_shown) question = question->next;
    return question;
}

struct question *talk_find_question(const struct talk *talk, uint64_t key) {
    struct question *question = talk->questions;
    while (question != NULL && question->key != key) question = question->next;
    return question;
}

junction_value *talk_show_question(struct question *question) {
    junction_value *message = question->message;
    question->is_shown = true;
    question->message = NULL;
    return message;
}

/* Queues the answer to the request with this id. */
static int enqueue_reply(struct talk *talk, const struct bytes *id, const struct bytes *members, int code, const char *message,
                         junction_error *error) {
    struct shared_line *line = line_new();
    if (line != NULL) {
        struct bytes *text = &line->bytes;
        bytes_add_text(text, "{\"jsonrpc\":\"2.0\",\"id\":");
        bytes_add(text, id->data, id->count);
        if (members != NULL) {
            bytes_add_text(text, ",\"result\":");
            bytes_add(text, members->data, members->count);
        } else {
            bytes_add_text(text, ",\"error\":{\"code\":");
            bytes_add_text(text, code == JUNCTION_METHOD_NOT_FOUND ? "-32601" : code == JUNCTION_INVALID_PARAMS ? "-32602" : "1002");
            bytes_add_text(text, ",\"message\":");
            json_write_string(text, message, strlen(message));
            bytes_add_text(text, code == JUNCTION_INVALID_CREDENTIAL ? ",\"data\":{\"kind\":\"invalidCredential\"}}" : "}");
        }
        bytes_add_text(text, "}\n");
    }
    int kind = JUNCTION_OK;
    if (line == NULL || line->bytes.failed || id->failed || (members != NULL && members->failed))
        kind = error_set(error, JUNCTION_LOCAL_FAILURE, "there is no memory for the answer");
    else if (line->bytes.count > LONGEST_LINE)
        kind = error_set(error, JUNCTION_REQUEST_TOO_LARGE, "the answer is longer than the daemon accepts");
    else if (talk->out_waiting + line->bytes.count > MOST_OUTGOING)
        kind = error_set(error, JUNCTION_BUSY, "the daemon has not taken the answers before this one");
    else if (!enqueue(talk, line, NULL))
        kind = error_set(error, JUNCTION_LOCAL_FAILURE, "there is no memory for the answer");
    line_release(line);
    return kind;
}

static void refuse_question(struct talk *talk, struct question *question, int code, const char *message) {
    enqueue_reply(talk, &question->id, NULL, code, message, NULL);
    close_question(talk, question);
}

static struct call *call_of_question(const struct talk *talk, const struct question *question) {
    struct call *call = talk->calls;
    while (call != NULL && call->id != question->call) call = call->next;
    return call;
}

int talk_answer(struct talk *talk, struct question *question, const struct bytes *members, junction_error *error) {
    /* The child of a fork has closed the parent's connection. */
    if (talk->fd < 0) {
        close_question(talk, question);
        return error_set(error, JUNCTION_CONNECTION_LOST, "the connection on which the daemon asked is lost");
    }
    struct call *call = call_of_question(talk, question);
    if (call != NULL && call->deadline <= clock_now()) {
        talk_give_up(talk, call, JUNCTION_TIMED_OUT, late);
        return error_set(error, JUNCTION_CONNECTION_LOST, "the call that needed this answer has timed out");
    }
    struct bytes unable = {0};
    if (members == NULL && question->call == 0) {
        bytes_add_text(&unable, "{\"action\":\"unableToRetrieveAuthToken\"}");
        members = &unable;
    }
    int kind = enqueue_reply(talk, &question->id, members, JUNCTION_INVALID_CREDENTIAL, "The app has no credential", error);
    bytes_wipe(&unable);
    if (kind == JUNCTION_OK) close_question(talk, question);
    return kind;
}

/* -- Receiving ------------------------------------------------------------------------------------------------------- */

bool is_snapshot(const junction_value *value) {
    int64_t at;
    return json_has_number(junction_member(value, "revision")) && junction_integer(junction_member(value, "revision"), -1) >= 0 &&
           json_text(junction_member(value, "state")) != NULL && json_text(junction_member(value, "provider")) != NULL &&
           json_read_time(junction_member(value, "changedAt"), &at);
}

static bool is_same(const char *one, const char *other) {
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

/* Whether the last delivered snapshot had the same state. */
static bool is_told(const struct talk *talk, const junction_value *snapshot) {
    return talk->told_state != NULL && is_same(talk->told_state, json_text(junction_member(snapshot, "state")));
}

static char *copy(const char *text) {
    return text == NULL ? NULL : strdup(text);
}

junction_value *talk_take_news(struct talk *talk) {
    junction_value *news = talk->news;
    talk->news = NULL;
    if (news == NULL || !talk->only_states) return news;
    forget_told(talk);
    talk->told_state = copy(json_text(junction_member(news, "state")));
    return news;
}

/* Stores the snapshot, a value inside `message`, as the newest one. Takes the message over. */
static void receive_news(struct talk *talk, junction_value *message, const junction_value *snapshot) {
    if (!is_snapshot(snapshot)) {
        junction_value_free(message);
        unreadable(talk, "it is no snapshot");
        return;
    }
    junction_value_free(talk->news);
    talk->news = NULL;
    /* After a restart the daemon sends its current state, which may be the same as before. */
    if (talk->only_states && is_told(talk, snapshot)) {
        junction_value_free(message);
        return;
    }
    /* junction_value_free accepts any value of a message and frees the whole message. */
    talk->news = (junction_value *)(uintptr_t)snapshot;
    talk->has_changed = true;
}

static void receive_answer(struct talk *talk, junction_value *message) {
    const junction_value *id = junction_member(message, "id"), *result = junction_member(message, "result"),
                         *wire = junction_member(message, "error");
    bool is_error = junction_type_of(wire) > JUNCTION_NULL || result == NULL;
    int64_t number = json_has_number(id) ? junction_integer(id, -1) : -1;
    if (junction_type_of(id) <= JUNCTION_NULL) {
        /* An error without an id is about the connection: too many connections, or a line that is too long. */
        if (is_error) {
            junction_error error;
            error_read(&error, wire);
            broken(talk, &error);
        }
        junction_value_free(message);
        return;
    }
    struct duty *duty = &talk->duty;
    if (duty->stage == DUTY_ASKED && number == duty->id) {
        if (is_error) {
            junction_error error;
            error_read(&error, wire);
            hang_up(talk);
            duty_failed(talk, &error);
            junction_value_free(message);
            return;
        }
        duty->stage = DUTY_TAKEN;
        duty->was_taken = true;
        duty->steady_from = clock_now() + LONGEST_DELAY;
        if (strcmp(duty->method, "session.subscribe") == 0)
            receive_news(talk, message, result);
        else
            junction_value_free(message);
        return;
    }
    for (struct call *call = talk->calls; call != NULL; call = call->next) {
        if (call->id != number || call->stage == STAGE_WAITING) continue;
        if (is_error) {
            error_read(&call->error, wire);
            junction_value_free(message);
        } else {
            call->message = message;
            call->result = result;
        }
        finish(talk, call);
        return;
    }
    /* The call has already ended. */
    junction_value_free(message);
}

static bool is_renewal(const junction_value *params) {
    int64_t at;
    const junction_value *expiry = junction_member(params, "expiresAt");
    return json_text(junction_member(params, "renewalId")) != NULL && json_text(junction_member(params, "reason")) != NULL &&
           json_text(junction_member(params, "userId")) != NULL && json_read_time(junction_member(params, "deadline"), &at) &&
           (junction_type_of(expiry) <= JUNCTION_NULL || json_read_time(expiry, &at));
}

/* Returns the call for which the daemon wants a credential. */
static struct call *identification(struct talk *talk, const junction_value *params) {
    const char *user = json_text(junction_member(params, "externalUserId"));
    for (struct call *call = talk->calls; call != NULL && user != NULL; call = call->next)
        if (call->about != NULL && strcmp(call->about, user) == 0 && call->stage == STAGE_SENT && !call->was_asked) return call;
    return NULL;
}

/* Refuses a request that belongs to no call and no handler. */
static void receive_unwanted(struct talk *talk, struct question *question, int code, const char *message) {
    enqueue_reply(talk, &question->id, NULL, code, message, NULL);
    question_free(question);
}

static void receive_question(struct talk *talk, junction_value *message) {
    static uint64_t last_key;
    struct question *question = calloc(1, sizeof *question);
    if (question == NULL) {
        junction_value_free(message);
        return;
    }
    *question = (struct question){.key = __atomic_add_fetch(&last_key, 1, __ATOMIC_RELAXED), .message = message};
    json_write(&question->id, junction_member(message, "id"));
    const junction_value *params = junction_member(message, "params");
    const char *method = json_text(junction_member(message, "method"));
    if (method == NULL) method = "";
    struct question **end = &talk->questions;
    size_t open = 0;
    for (; *end != NULL; end = &(*end)->next) open++;
    bool is_handler = talk->duty.method != NULL && strcmp(talk->duty.method, "handler.register") == 0;
    if (is_handler && strcmp(method, "session.willRenewAccessToken") == 0) {
        if (!is_renewal(params) || open >= MOST_QUESTIONS) {
            receive_unwanted(talk, question, JUNCTION_INVALID_PARAMS, "Invalid params: this is no renewal");
            return;
        }
        *end = question;
        talk->has_changed = true;
        return;
    }
    struct call *call = strcmp(method, "session.authenticate") == 0 ? identification(talk, params) : NULL;
    if (call == NULL || (call->is_async && !talk->takes_questions)) {
        receive_unwanted(talk, question, JUNCTION_METHOD_NOT_FOUND, "Method not found");
        return;
    }
    /* The daemon may act on the answer. After a lost connection the outcome is unknown, so the call is not repeated any
     * more. */
    call->was_asked = true;
    call->is_repeatable = false;
    call->repetitions_left = 0;
    question->call = call->id;
    if (!call->is_async) {
        call->question = question->key;
        question->is_shown = true;
    }
    *end = question;
    talk->has_changed = true;
}

/* Handles one message and takes it over. */
static void receive_message(struct talk *talk, junction_value *message) {
    if (junction_type_of(message) != JUNCTION_OBJECT) {
        junction_value_free(message);
        unreadable(talk, "a message is an object");
        return;
    }
    const junction_value *method = junction_member(message, "method"), *id = junction_member(message, "id");
    if (method == NULL && (junction_member(message, "result") != NULL || junction_member(message, "error") != NULL)) {
        receive_answer(talk, message);
        return;
    }
    if (junction_type_of(method) != JUNCTION_STRING || !json_equals(junction_member(message, "jsonrpc"), "2.0")) {
        junction_value_free(message);
        unreadable(talk, "it is no message of JSON-RPC 2.0");
        return;
    }
    if (junction_type_of(id) > JUNCTION_NULL) {
        receive_question(talk, message);
        return;
    }
    const junction_value *snapshot = junction_member(junction_member(message, "params"), "snapshot");
    if (json_equals(method, "session.changed") && talk->duty.stage == DUTY_TAKEN &&
        strcmp(talk->duty.method, "session.subscribe") == 0) {
        receive_news(talk, message, snapshot);
        return;
    }
    junction_value_free(message);
}

static void receive_line(struct talk *talk, const unsigned char *line, size_t length) {
    const char *fault;
    junction_value *message = json_read(line, length, &fault);
    if (message == NULL) {
        unreadable(talk, fault == NULL ? "there is no memory for it" : fault);
        return;
    }
    if (junction_type_of(message) != JUNCTION_ARRAY || junction_count(message) == 0) {
        receive_message(talk, message);
        return;
    }
    /* A batch: each message is copied, because each has its own lifetime. */
    unsigned connection = talk->connection;
    for (size_t i = 0; i < junction_count(message) && talk->connection == connection; i++) {
        struct bytes text = {0};
        json_write(&text, junction_at(message, i));
        junction_value *one = text.failed ? NULL : json_read(text.data, text.count, &fault);
        bytes_wipe(&text);
        if (one == NULL)
            unreadable(talk, "there is no memory for it");
        else
            receive_message(talk, one);
    }
    junction_value_free(message);
}

/* Handles the received lines. Returns false if the connection has ended meanwhile. */
static bool read_lines(struct talk *talk) {
    unsigned connection = talk->connection;
    while (!(talk->keeps_each && talk->news != NULL)) {
        const unsigned char *line;
        size_t length;
        switch (next_line(&talk->splitter, talk->in.data, talk->in.count, &talk->in_start, &line, &length)) {
        case LINE_COMPLETE:
            receive_line(talk, line, length);
            if (talk->connection != connection) return false;
            continue;
        case LINE_TOO_LONG:
            unreadable(talk, "it is longer than any answer");
            return false;
        case LINE_NONE:
            break;
        }
        bytes_drop(&talk->in, talk->in_start);
        talk->in_start = 0;
        /* Frees the memory of a long answer, instead of keeping it for the rest of the connection. */
        if (talk->in.count == 0 && talk->in.capacity > 65536) bytes_wipe(&talk->in);
        return true;
    }
    return true;
}

static void receive(struct talk *talk) {
    for (int pieces = 0; pieces < MOST_PIECES; pieces++) {
        if (!read_lines(talk)) return;
        if (talk->keeps_each && talk->news != NULL) return;
        if (!bytes_reserve(&talk->in, 16384)) {
            unreadable(talk, "there is no memory for it");
            return;
        }
        ssize_t received = recv(talk->fd, talk->in.data + talk->in.count, talk->in.capacity - talk->in.count, MSG_DONTWAIT);
        if (received > 0) {
            talk->in.count += (size_t)received;
            continue;
        }
        if (received < 0 && errno == EINTR) continue;
        if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        lost(talk);
        return;
    }
}

/* -- Step ------------------------------------------------------------------------------------------------------------ */

static int64_t waiting_until(const struct talk *talk) {
    int64_t due = NEVER;
    for (const struct call *call = talk->calls; call != NULL; call = call->next)
        if (call->stage == STAGE_WAITING && call->retry_at < due) due = call->retry_at;
    if (talk->duty.stage == DUTY_WAITING && talk->duty.retry_at < due) due = talk->duty.retry_at;
    return due != NEVER && due < talk->connect_at ? talk->connect_at : due;
}

static void expire(struct talk *talk) {
    int64_t now = clock_now();
    for (struct call *call = talk->calls, *next; call != NULL; call = next) {
        next = call->next;
        if (call->deadline <= now) talk_give_up(talk, call, JUNCTION_TIMED_OUT, late);
    }
}

void talk_step(struct talk *talk) {
    if (talk->was_forked) {
        talk->was_forked = false;
        lost(talk);
    }
    /* Detects a connection that ended meanwhile before anything is sent on it. */
    if (talk->fd >= 0) receive(talk);
    if (talk->fd < 0 && waiting_until(talk) <= clock_now()) connect_to_daemon(talk);
    if (talk->fd >= 0 && !talk->is_refused) {
        enqueue_due(talk);
        flush(talk);
    }
    /* Last, so that an answer that has arrived counts even if the deadline has passed. */
    expire(talk);
}

short talk_events(const struct talk *talk) {
    return talk->out != NULL && !talk->is_refused ? POLLIN | POLLOUT : POLLIN;
}

int64_t talk_due(const struct talk *talk) {
    int64_t due = talk->fd < 0 || !talk->is_refused ? waiting_until(talk) : NEVER;
    for (const struct call *call = talk->calls; call != NULL; call = call->next)
        if (call->deadline < due) due = call->deadline;
    return due;
}

void talk_forked(struct talk *talk) {
    int fd = talk->fd;
    talk->fd = -1;
    if (fd >= 0) close(fd);
    talk->was_forked = true;
    /* The calls belong to threads of the parent, which does not exist here. They are not freed, because their owners are
     * unknown. */
    for (struct call *call = talk->calls; call != NULL; call = call->next) {
        error_set(&call->error, JUNCTION_CONNECTION_LOST, "the connection is that of the parent process");
        call->stage = STAGE_DONE;
    }
    for (struct outgoing *item = talk->out; item != NULL; item = item->next) item->call = NULL;
    talk->calls = NULL;
    talk->finished = NULL;
}
