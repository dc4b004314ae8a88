/* Tests the handle under load: many threads, signals, forks, and a daemon that closes connections. Also checks for leaks
 * of secrets and descriptors.
 *
 * The daemon is a thread of this program. It answers every request with the request's parameters as the user of the
 * snapshot. Some tests let it close each connection after a few answers. */
#define _GNU_SOURCE
#include "../src/json.h"
#include "../src/line.h"
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECRET "xK7-secret-marker-Q9"

/* -- The library wipes secrets before it frees memory ---------------------------------------------------------------- */

static bool is_watching_memory;
void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory) {
    if (memory != NULL && __atomic_load_n(&is_watching_memory, __ATOMIC_RELAXED))
        CHECK(memmem(memory, malloc_usable_size(memory), SECRET, strlen(SECRET)) == NULL);
    __real_free(memory);
}

/* -- The daemon ------------------------------------------------------------------------------------------------------ */

struct daemon {
    char path[100];
    int listener;
    int answers; /* closes the connection after so many answers; 0: never */
    const char *first; /* members of the first snapshot, which replace those with the same name */
    bool is_silent;
    bool asks;    /* asks questions: two renewals for a handler, a credential for an identification */
    int answered; /* answers to its questions */
    int unable;   /* those of them that bring no token */
    int refused;  /* error answers to its questions */
    int accepted;
    pthread_t thread;
};

/* The folder of the sockets. */
static const char *folder;

struct guest {
    struct daemon *daemon;
    int fd;
};

static void put(int fd, const char *text, size_t count) {
    while (count > 0) {
        ssize_t sent = send(fd, text, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return;
        text += sent;
        count -= (size_t)sent;
    }
}

#define RENEWAL(id)                                                                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":\"" id "\",\"method\":\"session.willRenewAccessToken\",\"params\":{\"renewalId\":\"" id              \
    "\",\"reason\":\"expired\",\"userId\":\"anna\",\"deadline\":\"2100-01-01T00:00:00Z\"}}\n"

#define TEN(text) text text text text text text text text text text
/* An id that does not fit into a line with the longest reply. */
#define LONG_ID TEN(TEN("r-2222222222222"))

/* Sends a question or counts an answer. Returns false for any other request. */
static bool ask(const struct guest *guest, const junction_value *message) {
    static const char registered[] = ",\"result\":{\"registered\":true}}\n" RENEWAL("r-1") RENEWAL(LONG_ID);
    static const char question[] = "{\"jsonrpc\":\"2.0\",\"id\":\"c-1\",\"method\":\"session.authenticate\",\"params\":"
                                   "{\"externalUserId\":\"anna\"}}\n";
    const junction_value *method = junction_member(message, "method");
    if (json_equals(method, "session.identify")) {
        put(guest->fd, question, sizeof question - 1);
    } else if (json_equals(method, "handler.register")) {
        struct bytes answer = {0};
        bytes_add_text(&answer, "{\"jsonrpc\":\"2.0\",\"id\":");
        json_write(&answer, junction_member(message, "id"));
        bytes_add_text(&answer, registered);
        put(guest->fd, (char *)answer.data, answer.count);
        bytes_wipe(&answer);
    } else if (method == NULL) {
        bool is_error = junction_member(message, "error") != NULL;
        if (json_equals(junction_member(junction_member(message, "result"), "action"), "unableToRetrieveAuthToken"))
            __atomic_add_fetch(&guest->daemon->unable, 1, __ATOMIC_RELEASE);
        __atomic_add_fetch(is_error ? &guest->daemon->refused : &guest->daemon->answered, 1, __ATOMIC_RELEASE);
    } else {
        return false;
    }
    return true;
}

/* The signals of a test must interrupt the callers, not the threads of the daemon. */
static void block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
}

static void *serve(void *context) {
    block_signals();
    struct guest guest = *(struct guest *)context;
    free(context);
    FILE *in = fdopen(guest.fd, "r");
    char *line = NULL;
    size_t capacity = 0;
    for (int answered = 0; guest.daemon->answers == 0 || answered < guest.daemon->answers; answered++) {
        ssize_t count = getline(&line, &capacity, in);
        if (count <= 0) break;
        if (__atomic_load_n(&guest.daemon->is_silent, __ATOMIC_RELAXED)) continue;
        const char *fault;
        junction_value *request = json_read((unsigned char *)line, (size_t)count - 1, &fault);
        if (guest.daemon->asks && ask(&guest, request)) {
            junction_value_free(request);
            continue;
        }
        struct bytes answer = {0};
        bytes_add_text(&answer, "{\"jsonrpc\":\"2.0\",\"id\":");
        json_write(&answer, junction_member(request, "id"));
        if (json_equals(junction_member(request, "method"), "token.get")) {
            bytes_add_text(&answer, ",\"result\":{\"accessToken\":\"" SECRET "\",\"tokenType\":\"Bearer\",\"userId\":\"anna\",\"expiresAt\":"
                                    "\"2100-01-01T00:00:00Z\"}}\n");
        } else {
            bytes_add_text(&answer, ",\"result\":{\"revision\":1,\"changedAt\":\"2026-11-22T10:00:00Z\",\"state\":\"established\",\"provider\":"
                                    "\"junction\",\"flags\":[\"signedIn\"],\"userId\":");
            const junction_value *user = junction_member(junction_member(request, "params"), "userId");
            json_write(&answer, user);
            const char *first = __atomic_exchange_n(&guest.daemon->first, NULL, __ATOMIC_ACQ_REL);
            if (first != NULL) bytes_add_text(&answer, first);
            bytes_add_text(&answer, "}}\n");
        }
        put(guest.fd, (char *)answer.data, answer.count);
        bytes_wipe(&answer);
        junction_value_free(request);
    }
    if (line != NULL) explicit_bzero(line, capacity);
    free(line);
    fclose(in);
    return NULL;
}

static void *serve_all(void *context) {
    block_signals();
    struct daemon *daemon = context;
    for (;;) {
        int fd = accept4(daemon->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) return NULL;
        __atomic_add_fetch(&daemon->accepted, 1, __ATOMIC_RELAXED);
        struct guest *guest = malloc(sizeof *guest);
        *guest = (struct guest){daemon, fd};
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, serve, guest) == 0);
        pthread_detach(thread);
    }
}

/* Each daemon has its own struct, because the threads of its last connections may outlive it. */
static struct daemon *begin(int answers) {
    static struct daemon daemons[32];
    static size_t count;
    CHECK(count < sizeof daemons / sizeof daemons[0]);
    struct daemon *daemon = &daemons[count++];
    daemon->answers = answers;
    snprintf(daemon->path, sizeof daemon->path, "%s/t.sock", folder);
    unlink(daemon->path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, daemon->path);
    daemon->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(daemon->listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(daemon->listener, 128) == 0);
    CHECK(pthread_create(&daemon->thread, NULL, serve_all, daemon) == 0);
    return daemon;
}

static void end(struct daemon *daemon) {
    shutdown(daemon->listener, SHUT_RDWR);
    pthread_join(daemon->thread, NULL);
    close(daemon->listener);
}

/* -- Callers --------------------------------------------------------------------------------------------------------- */

struct caller {
    pthread_t thread;
    junction *handle;
    int number, calls;
    int lost;
};

static void *call_often(void *context) {
    struct caller *caller = context;
    for (int i = 0; i < caller->calls; i++) {
        char params[64], user[32];
        snprintf(user, sizeof user, "u%d-%d", caller->number, i);
        snprintf(params, sizeof params, "{\"userId\":\"%s\"}", user);
        junction_value *value;
        junction_error error;
        int kind = junction_call(caller->handle, "session.reconcile", params, 60000, &value, &error);
        if (kind == JUNCTION_CONNECTION_LOST) {
            caller->lost++;
            continue;
        }
        if (kind != JUNCTION_OK) fprintf(stderr, "%s (%s)\n", error.message, error.word);
        CHECK(kind == JUNCTION_OK);
        CHECK(json_equals(junction_member(value, "userId"), user));
        junction_value_free(value);
        junction_token *token;
        if (i % 8 == 0 && junction_access_token(caller->handle, 0, 60000, &token, &error) == JUNCTION_OK) {
            CHECK(strcmp(token->access_token, SECRET) == 0);
            junction_token_free(token);
        }
    }
    return NULL;
}

#define CALLERS 8

static void call_from_many(junction *handle, int calls, int *lost) {
    struct caller callers[CALLERS];
    *lost = 0;
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.handle = handle, .number = i, .calls = calls};
        CHECK(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        *lost += callers[i].lost;
    }
}

static void threads_share_one_connection(void) {
    struct daemon *daemon = begin(0);
    junction *handle = junction_open(daemon->path, NULL);
    int lost;
    call_from_many(handle, 200, &lost);
    CHECK(lost == 0 && __atomic_load_n(&daemon->accepted, __ATOMIC_RELAXED) == 1);
    junction_close(handle);
    end(daemon);
}

static void give_secret(void *context, const junction_value *result, const junction_error *error) {
    CHECK(result != NULL && error == NULL);
    *(bool *)context = true;
}

static void freed_memory_holds_no_secret(void) {
    struct daemon *daemon = begin(0);
    junction *handle = junction_open(daemon->path, NULL);
    CHECK(junction_sign_in(handle, JUNCTION_SIGN_IN_TOKEN(SECRET), -1, NULL, NULL) == JUNCTION_OK);
    junction_token *token;
    CHECK(junction_access_token(handle, 0, -1, &token, NULL) == JUNCTION_OK && strcmp(token->access_token, SECRET) == 0);
    junction_token_free(token);
    junction_value *value;
    CHECK(junction_call(handle, "session.signIn", "{\"scheme\": \"linkCode\", \"code\": \"" SECRET "\"}", -1, &value, NULL) == JUNCTION_OK);
    junction_value_free(value);
    char *text;
    CHECK(junction_call(handle, "token.get", NULL, -1, &value, NULL) == JUNCTION_OK && (text = junction_json(value)) != NULL);
    junction_string_free(text);
    junction_value_free(value);
    bool is_answered = false;
    CHECK(junction_fd(handle) >= 0 && junction_start(handle, "token.get", NULL, -1, give_secret, &is_answered, NULL, NULL) == JUNCTION_OK);
    while (!is_answered) {
        struct pollfd waited = {.fd = junction_fd(handle), .events = junction_events(handle)};
        CHECK(poll(&waited, 1, 60000) == 1);
        junction_step(handle);
    }
    /* This caller times out before the answer. */
    __atomic_store_n(&daemon->is_silent, true, __ATOMIC_RELAXED);
    CHECK(junction_sign_in(handle, JUNCTION_SIGN_IN_TOKEN(SECRET), 20, NULL, NULL) == JUNCTION_TIMED_OUT);
    junction_close(handle);
    end(daemon);
}

static void calls_survive_repeated_disconnects(void) {
    struct daemon *daemon = begin(50);
    junction *handle = junction_open(daemon->path, NULL);
    int lost;
    call_from_many(handle, 40, &lost);
    CHECK(__atomic_load_n(&daemon->accepted, __ATOMIC_RELAXED) > 1);
    junction_close(handle);
    end(daemon);
}

static void ignore(int signal) {
    (void)signal;
}

static void a_signal_ends_no_call(void) {
    struct daemon *daemon = begin(0);
    /* Without SA_RESTART each signal interrupts a system call. */
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 500}, {0, 500}}, never = {0};
    setitimer(ITIMER_REAL, &often, NULL);
    junction *handle = junction_open(daemon->path, NULL);
    int lost;
    call_from_many(handle, 100, &lost);
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(lost == 0 && __atomic_load_n(&daemon->accepted, __ATOMIC_RELAXED) == 1);
    junction_close(handle);
    end(daemon);
}

static void *wait_for_ever(void *context) {
    junction_error error;
    CHECK(junction_status(context, -1, NULL, &error) == JUNCTION_CANCELLED && error.kind == JUNCTION_CANCELLED);
    return NULL;
}

static void *watch_for_ever(void *context) {
    junction_watch *watch = junction_watch_open(context, 0, NULL);
    junction_snapshot *snapshot;
    CHECK(junction_watch_next(watch, -1, &snapshot, NULL) == JUNCTION_CANCELLED && snapshot == NULL);
    junction_watch_close(watch);
    return NULL;
}

static int descriptors(bool must_close_on_exec) {
    /* Descriptors that this program inherited do not count. */
    static bool is_known, is_inherited[1024];
    int count = 0;
    DIR *list = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        int fd = atoi(entry->d_name);
        if (*entry->d_name == '.' || fd == dirfd(list) || fd >= 1024) continue;
        count++;
        if (!is_known) is_inherited[fd] = true;
        if (is_inherited[fd]) continue;
        if (must_close_on_exec) CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    }
    closedir(list);
    is_known = true;
    return count;
}

static void cancelling_ends_every_wait(void) {
    struct daemon *daemon = begin(0);
    __atomic_store_n(&daemon->is_silent, true, __ATOMIC_RELAXED);
    int before = descriptors(false);
    junction *handle = junction_open(daemon->path, NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, i < 2 ? wait_for_ever : watch_for_ever, handle) == 0);
    /* Joins one thread after the other. Cancelling is repeated, because it has no effect on a wait that has not begun. */
    for (int i = 0; i < 4; i++)
        while (pthread_tryjoin_np(threads[i], NULL) != 0) {
            junction_cancel(handle);
            sched_yield();
        }
    CHECK(junction_status(handle, 0, NULL, NULL) == JUNCTION_TIMED_OUT);
    descriptors(true);
    junction_close(handle);
    /* The daemon closes its ends only when it notices. */
    for (int tries = 0; descriptors(false) > before; tries++) CHECK(tries < 10000 && poll(NULL, 0, 1) == 0);
    end(daemon);
}

/* A handle on which junction_wait waits. It is cancelled when the wait has rejected its first snapshot. */
static junction *cancelled;
static int rejected;
void __real_junction_snapshot_free(junction_snapshot *snapshot);
void __wrap_junction_snapshot_free(junction_snapshot *snapshot);
void __wrap_junction_snapshot_free(junction_snapshot *snapshot) {
    __real_junction_snapshot_free(snapshot);
    if (cancelled == NULL || snapshot == NULL) return;
    CHECK(++rejected == 1);
    junction_cancel(cancelled);
}

static void cancelling_ends_a_wait_between_two_snapshots(void) {
    /* The daemon closes each connection after the first snapshot, so a wait that continues receives a second one. */
    struct daemon *daemon = begin(1);
    junction *handle = cancelled = junction_open(daemon->path, NULL);
    CHECK(junction_wait(handle, JUNCTION_SIGNED_OUT, -1, NULL, NULL) == JUNCTION_CANCELLED);
    CHECK(rejected == 1);
    cancelled = NULL;
    junction_close(handle);
    end(daemon);
}

static void a_wait_for_a_fresh_session_fails_if_waiting_cannot_help(void) {
    static const struct {
        const char *members;
        int kind;
    } obstacles[] = {
        {",\"state\":\"terminated\",\"flags\":[]", JUNCTION_SESSION_TERMINATED},
        {",\"storage\":{\"status\":\"locked\",\"readable\":false}", JUNCTION_STORAGE_UNAVAILABLE},
        {",\"state\":\"tokenExpired\",\"flags\":[\"signedIn\",\"pendingReauthentication\"]", JUNCTION_REAUTHENTICATION_REQUIRED},
    };
    for (size_t i = 0; i < sizeof obstacles / sizeof obstacles[0]; i++) {
        /* A wait that continues after the obstacle connects again and finds a fresh session. */
        struct daemon *daemon = begin(1);
        __atomic_store_n(&daemon->first, obstacles[i].members, __ATOMIC_RELEASE);
        junction *handle = junction_open(daemon->path, NULL);
        junction_snapshot *snapshot;
        CHECK(junction_wait(handle, JUNCTION_FRESH, -1, &snapshot, NULL) == obstacles[i].kind && snapshot == NULL);
        CHECK(junction_wait(handle, JUNCTION_FRESH, -1, &snapshot, NULL) == JUNCTION_OK);
        junction_snapshot_free(snapshot);
        junction_close(handle);
        end(daemon);
    }
}

static void a_forked_child_opens_its_own_connections(void) {
    struct daemon *daemon = begin(0);
    junction *handle = junction_open(daemon->path, NULL);
    junction_snapshot *snapshot;
    CHECK(junction_status(handle, -1, &snapshot, NULL) == JUNCTION_OK);
    junction_snapshot_free(snapshot);
    CHECK(junction_fd(handle) >= 0);
    junction_watch *watch = junction_watch_open(handle, 0, NULL);
    CHECK(junction_watch_next(watch, -1, &snapshot, NULL) == JUNCTION_OK);
    junction_snapshot_free(snapshot);
    struct caller callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.handle = handle, .number = i, .calls = 200};
        CHECK(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]) == 0);
    }
    /* Forks while the other threads call. */
    for (int i = 0; i < 10; i++) {
        int accepted = __atomic_load_n(&daemon->accepted, __ATOMIC_RELAXED);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            struct caller caller = {.handle = handle, .number = 100 + i, .calls = 3};
            call_often(&caller);
            bool is_well = caller.lost == 0 && junction_watch_next(watch, -1, &snapshot, NULL) == JUNCTION_OK && junction_fd(handle) >= 0;
            junction_snapshot_free(snapshot);
            _exit(is_well ? 0 : 1);
        }
        int status;
        while (waitpid(child, &status, 0) < 0) continue;
        CHECK(status == 0);
        CHECK(__atomic_load_n(&daemon->accepted, __ATOMIC_RELAXED) == accepted + 2);
    }
    int lost = 0;
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        lost += callers[i].lost;
    }
    CHECK(lost == 0);
    junction_watch_close(watch);
    junction_close(handle);
    end(daemon);
}

/* -- Event loop and threads ------------------------------------------------------------------------------------------ */

struct seen {
    int answers, errors, changes;
};

static void count_answer(void *context, const junction_value *result, const junction_error *error) {
    struct seen *seen = context;
    if (error != NULL) CHECK(error->kind == JUNCTION_TIMED_OUT || error->kind == JUNCTION_CONNECTION_LOST);
    seen->answers += result != NULL;
    seen->errors += error != NULL;
}

static void count_change(void *context, const junction_snapshot *snapshot, const junction_error *error) {
    struct seen *seen = context;
    CHECK(snapshot != NULL && error == NULL);
    seen->changes++;
}

static void an_event_loop_and_threads_share_a_handle(void) {
    struct daemon *daemon = begin(0);
    junction *handle = junction_open(daemon->path, NULL);
    struct seen seen = {0};
    struct pollfd waited = {.fd = junction_fd(handle), .events = junction_events(handle)};
    CHECK(junction_watch_start(handle, count_change, &seen, NULL) == JUNCTION_OK);
    struct caller callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.handle = handle, .number = i, .calls = 100};
        CHECK(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]) == 0);
    }
    for (int i = 0; i < 100; i++) {
        uint64_t number;
        CHECK(junction_start(handle, "session.status", NULL, -1, count_answer, &seen, &number, NULL) == JUNCTION_OK);
        if (i % 10 == 9) CHECK(junction_stop(handle, number) && !junction_stop(handle, number));
    }
    while (seen.answers < 90 || seen.changes < 1) {
        CHECK(poll(&waited, 1, 60000) == 1);
        junction_step(handle);
    }
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i].thread, NULL);
    CHECK(seen.answers == 90 && seen.errors == 0 && seen.changes == 1);
    CHECK(poll(&waited, 1, 0) == 0 || (junction_step(handle) == 0 && poll(&waited, 1, 0) == 0));
    /* The descriptor also signals a deadline. */
    __atomic_store_n(&daemon->is_silent, true, __ATOMIC_RELAXED);
    CHECK(junction_start(handle, "session.signOut", "{ }", 30, count_answer, &seen, NULL, NULL) == JUNCTION_OK);
    while (seen.errors == 0) {
        CHECK(poll(&waited, 1, 60000) == 1);
        junction_step(handle);
    }
    CHECK(junction_start(handle, "x", "[1,", 30, count_answer, &seen, NULL, NULL) == JUNCTION_INVALID_ARGUMENT);
    CHECK(junction_start(handle, "x", "7", 30, count_answer, &seen, NULL, NULL) == JUNCTION_INVALID_ARGUMENT);
    junction_close(handle);
    end(daemon);
}

/* The queue of a daemon that does not read has a limit. */
static void the_send_queue_is_bounded(void) {
    struct daemon *daemon = begin(0);
    shutdown(daemon->listener, SHUT_RDWR);
    pthread_join(daemon->thread, NULL);
    close(daemon->listener);
    unlink(daemon->path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, daemon->path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    junction *handle = junction_open(daemon->path, NULL);
    size_t length = 1000000;
    char *body = malloc(length);
    memset(body, 'a', length);
    int kind = JUNCTION_TIMED_OUT, tries = 0;
    junction_answer *answer;
    while (kind == JUNCTION_TIMED_OUT && tries++ < 100)
        kind = junction_request(handle, "POST", "/x", NULL, NULL, body, length, 0, &answer, NULL);
    CHECK(kind == JUNCTION_BUSY && tries < 20);
    /* A full backlog delays a call at most until its deadline. */
    junction *others[4];
    for (int i = 0; i < 4; i++) {
        others[i] = junction_open(daemon->path, NULL);
        CHECK(junction_status(others[i], 50, NULL, NULL) == JUNCTION_TIMED_OUT);
    }
    for (int i = 0; i < 4; i++) junction_close(others[i]);
    free(body);
    junction_close(handle);
    close(listener);
}

/* The question of a callback, and the action of the test. */
struct asked {
    junction *handle;
    void (*act)(struct asked *asked, const junction_value *params, uint64_t question);
    int times;
    uint64_t question, call;
};

static const junction_pair renews[] = {{"action", "renew"}, {NULL, NULL}};

static void on_question(void *context, const char *method, const junction_value *params, uint64_t question) {
    struct asked *asked = context;
    CHECK(method != NULL);
    asked->times++;
    asked->question = question;
    asked->act(asked, params, question);
}

static void turn_once(junction *handle) {
    struct pollfd waited = {.fd = junction_fd(handle), .events = junction_events(handle)};
    CHECK(poll(&waited, 1, 60000) == 1);
    junction_step(handle);
}

static void stop_and_respond(struct asked *asked, const junction_value *params, uint64_t question) {
    junction_register_stop(asked->handle);
    /* The arguments of a callback are valid until it returns. */
    CHECK(junction_string(junction_member(params, "renewalId"), NULL) != NULL);
    CHECK(junction_respond(asked->handle, question, renews, NULL) == JUNCTION_CONNECTION_LOST);
}

static void restart_and_respond(struct asked *asked, const junction_value *params, uint64_t question) {
    /* The first registration ends with both its questions. The test answers those of the second. */
    if (asked->times == 1) CHECK(junction_register_start(asked->handle, NULL, NULL, NULL) == JUNCTION_OK);
    CHECK(junction_string(junction_member(params, "renewalId"), NULL) != NULL);
    int kind = junction_respond(asked->handle, question, renews, NULL);
    CHECK(kind == (asked->times == 1 ? JUNCTION_CONNECTION_LOST : JUNCTION_OK));
    CHECK(junction_respond(asked->handle, question, renews, NULL) == JUNCTION_CONNECTION_LOST);
}

static void keep(struct asked *asked, const junction_value *params, uint64_t question) {
    (void)asked;
    (void)params;
    (void)question;
}

static void callbacks_may_stop_and_restart_a_handler(void) {
    struct daemon *daemon = begin(0);
    daemon->asks = true;
    struct asked asked = {.handle = junction_open(daemon->path, NULL), .act = stop_and_respond};
    junction_on_question(asked.handle, on_question, &asked);
    CHECK(junction_register_start(asked.handle, NULL, NULL, NULL) == JUNCTION_OK);
    while (asked.times < 1) turn_once(asked.handle);
    junction_step(asked.handle);
    CHECK(asked.times == 1);

    asked.times = 0;
    asked.act = restart_and_respond;
    CHECK(junction_register_start(asked.handle, NULL, NULL, NULL) == JUNCTION_OK);
    while (asked.times < 3) turn_once(asked.handle);
    while (__atomic_load_n(&daemon->answered, __ATOMIC_ACQUIRE) < 2) sched_yield();

    /* A question ends also when its handler is replaced. */
    asked.times = 0;
    asked.act = keep;
    CHECK(junction_register_start(asked.handle, NULL, NULL, NULL) == JUNCTION_OK);
    while (asked.times < 2) turn_once(asked.handle);
    CHECK(junction_register_start(asked.handle, NULL, NULL, NULL) == JUNCTION_OK);
    CHECK(junction_respond(asked.handle, asked.question, renews, NULL) == JUNCTION_CONNECTION_LOST);
    junction_close(asked.handle);
    end(daemon);
}

static int too_long_replies;
static void reply_too_long(void *context, const junction_renewal *renewal, junction_reply *reply) {
    (void)context;
    (void)renewal;
    /* The first reply is too long for any line, and the second one only for a line with this id. */
    bool is_first = ++too_long_replies == 1;
    size_t length = is_first ? LONGEST_LINE : LONGEST_LINE - 1200;
    char *token = malloc(length + 1);
    memset(token, 'x', length);
    token[length] = '\0';
    int kind = junction_reply_with(reply, (junction_pair[]){{"action", "renewWithAuthToken"}, {"authToken", token}, {NULL, NULL}});
    free(token);
    CHECK(kind == (is_first ? JUNCTION_REQUEST_TOO_LARGE : JUNCTION_OK));
}

static void *handle_renewals(void *context) {
    CHECK(junction_handle_renewals(context, reply_too_long, NULL, -1, NULL) == JUNCTION_CANCELLED);
    return NULL;
}

static void a_reply_that_cannot_be_sent_counts_as_unable(void) {
    struct daemon *daemon = begin(0);
    daemon->asks = true;
    junction *handle = junction_open(daemon->path, NULL);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, handle_renewals, handle) == 0);
    while (__atomic_load_n(&daemon->unable, __ATOMIC_ACQUIRE) < 2) sched_yield();
    junction_cancel(handle);
    pthread_join(thread, NULL);
    CHECK(too_long_replies == 2);
    junction_close(handle);
    end(daemon);
}

static void expect_timeout(void *context, const junction_value *result, const junction_error *error) {
    (void)result;
    CHECK(error != NULL && error->kind == JUNCTION_TIMED_OUT);
    *(bool *)context = true;
}

static void a_question_ends_with_its_call(void) {
    static const junction_pair credential[] = {{"scheme", "signInToken"}, {"token", "t"}, {NULL, NULL}};
    static const char anna[] = "{\"externalUserId\":\"anna\"}";
    struct daemon *daemon = begin(0);
    daemon->asks = true;
    struct asked asked = {.handle = junction_open(daemon->path, NULL), .act = keep};
    junction_on_question(asked.handle, on_question, &asked);
    CHECK(junction_start(asked.handle, "session.identify", anna, -1, NULL, NULL, &asked.call, NULL) == JUNCTION_OK);
    while (asked.times < 1) turn_once(asked.handle);
    CHECK(junction_stop(asked.handle, asked.call));
    while (__atomic_load_n(&daemon->refused, __ATOMIC_ACQUIRE) < 1) sched_yield();
    CHECK(junction_respond(asked.handle, asked.question, credential, NULL) == JUNCTION_CONNECTION_LOST);

    bool is_over = false;
    CHECK(junction_start(asked.handle, "session.identify", anna, 50, expect_timeout, &is_over, NULL, NULL) == JUNCTION_OK);
    while (!is_over) turn_once(asked.handle);
    if (asked.times == 2) CHECK(junction_respond(asked.handle, asked.question, credential, NULL) == JUNCTION_CONNECTION_LOST);
    /* The question may arrive after the end of the call. The library refuses it, too. */
    while (__atomic_load_n(&daemon->refused, __ATOMIC_ACQUIRE) < 2) {
        junction_step(asked.handle);
        sched_yield();
    }
    CHECK(__atomic_load_n(&daemon->answered, __ATOMIC_ACQUIRE) == 0);
    junction_close(asked.handle);
    end(daemon);
}

int main(int count, char **arguments) {
    if (count < 2) return 64;
    folder = arguments[1];
    is_watching_memory = true;
    descriptors(false);
    RUN(threads_share_one_connection);
    RUN(freed_memory_holds_no_secret);
    RUN(calls_survive_repeated_disconnects);
    RUN(a_signal_ends_no_call);
    RUN(cancelling_ends_every_wait);
    RUN(cancelling_ends_a_wait_between_two_snapshots);
    RUN(a_wait_for_a_fresh_session_fails_if_waiting_cannot_help);
    RUN(an_event_loop_and_threads_share_a_handle);
    RUN(the_send_queue_is_bounded);
    RUN(callbacks_may_stop_and_restart_a_handler);
    RUN(a_reply_that_cannot_be_sent_counts_as_unable);
    RUN(a_question_ends_with_its_call);
    /* ThreadSanitizer does not support a fork with several threads. */
    if (count < 3) RUN(a_forked_child_opens_its_own_connections);
    return 0;
}
