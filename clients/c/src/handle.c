#define _GNU_SOURCE
#include "handle.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

const char *junction_version(void) {
    return JUNCTION_VERSION;
}

/* -- Forks ----------------------------------------------------------------------------------------------------------- */

/* Every handle of the process. A child must neither use the connections of its parent nor keep them open. */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static junction *handles;

static void before_fork(void) {
    pthread_mutex_lock(&registry);
    for (junction *j = handles; j != NULL; j = j->next) lock(j);
}

static void after_fork(void) {
    for (junction *j = handles; j != NULL; j = j->next) unlock(j);
    pthread_mutex_unlock(&registry);
}

static bool new_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return false;
    bool is_new = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return is_new;
}

/* The child shares an eventfd with its parent, and a write here would wake the parent. So the child gets a new one. */
static void new_bell(int *bell) {
    if (*bell < 0) return;
    close(*bell);
    *bell = bell_new();
}

static void in_child(void) {
    for (junction *j = handles; j != NULL; j = j->next) {
        talk_forked(&j->calls);
        for (struct junction_watch *watch = j->watches; watch != NULL; watch = watch->next) {
            talk_forked(&watch->talk);
            new_bell(&watch->bell);
            watch->is_waited = false;
        }
        loop_forked(&j->loop);
        new_bell(&j->bell);
        j->is_received = false;
        /* No thread of this process waits on the condition. Its state may be inconsistent, so it is initialized again. */
        new_condition(&j->changed);
    }
    after_fork();
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void watch_forks(void) {
    pthread_atfork(before_fork, after_fork, in_child);
}

/* -- The handle ------------------------------------------------------------------------------------------------------ */

void lock(junction *j) {
    pthread_mutex_lock(&j->lock);
}

void unlock(junction *j) {
    pthread_mutex_unlock(&j->lock);
}

static const char *variable(const char *name) {
    const char *value = secure_getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

/* An allowed name is safe as a part of a path. */
static bool is_instance(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strspn(name, allowed);
    return length >= 1 && length <= 64 && name[length] == '\0' && name[0] != '.';
}

static char *socket_of(const char *instance) {
    const char *directory = variable("XDG_RUNTIME_DIR");
    char *path;
    if (directory != NULL) {
        if (asprintf(&path, "%s/junctiond/%s.sock", directory, instance) < 0) return NULL;
        if (access(path, F_OK) == 0) return path;
        free(path);
    }
    return asprintf(&path, "/run/junctiond/%s.sock", instance) < 0 ? NULL : path;
}

static junction *open_at(char *path, junction_error *error) {
    junction *j = calloc(1, sizeof *j);
    if (j != NULL) {
        j->path = path;
        j->bell = bell_new();
        j->loop.epoll = j->loop.timer = -1;
        if (j->path != NULL && j->bell >= 0 && pthread_mutex_init(&j->lock, NULL) == 0 && new_condition(&j->changed)) {
            talk_begin(&j->calls, j->path);
            pthread_once(&once, watch_forks);
            pthread_mutex_lock(&registry);
            j->next = handles;
            handles = j;
            pthread_mutex_unlock(&registry);
            error_set(error, JUNCTION_OK, "%s", "");
            return j;
        }
        if (j->bell >= 0) close(j->bell);
        free(j);
    }
    error_set(error, JUNCTION_LOCAL_FAILURE, "this program cannot have a handle: %s", strerror(errno));
    free(path);
    return NULL;
}

junction *junction_open_instance(const char *instance, junction_error *error) {
    if (instance == NULL) instance = "junctiond";
    if (is_instance(instance)) return open_at(socket_of(instance), error);
    error_set(error, JUNCTION_INVALID_SOCKET_PATH, "%s",
              "the name of an instance has 1 to 64 letters (a-z, A-Z), digits, '-', '_' and '.', and does not begin with '.'");
    return NULL;
}

junction *junction_open(const char *socket, junction_error *error) {
    if (socket == NULL) socket = variable("JUNCTIOND_SOCKET");
    if (socket == NULL) return junction_open_instance(variable("JUNCTIOND_INSTANCE"), error);
    return open_at(strdup(socket), error);
}

void junction_close(junction *j) {
    if (j == NULL) return;
    pthread_mutex_lock(&registry);
    for (junction **at = &handles; *at != NULL; at = &(*at)->next) {
        if (*at == j) {
            *at = j->next;
            break;
        }
    }
    pthread_mutex_unlock(&registry);
    loop_end(j);
    talk_end(&j->calls);
    close(j->bell);
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->lock);
    free(j->path);
    free(j);
}

void junction_cancel(junction *j) {
    lock(j);
    for (struct call *call = j->calls.calls, *next; call != NULL; call = next) {
        next = call->next;
        if (!call->is_async) talk_give_up(&j->calls, call, JUNCTION_CANCELLED, "nobody waits for the answer any more");
    }
    for (struct junction_watch *watch = j->watches; watch != NULL; watch = watch->next) {
        /* A call is in progress also between two waits, for example while its callback runs. */
        if (watch->owner != OWNER_CALL && !watch->is_waited) continue;
        watch->is_cancelled = true;
        bell_ring(watch->bell);
    }
    settle(j);
    bell_ring(j->bell);
    unlock(j);
}

/* -- Waiting --------------------------------------------------------------------------------------------------------- */

int bell_new(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void bell_ring(int bell) {
    uint64_t one = 1;
    /* EAGAIN is harmless: a full counter also wakes the reader. */
    while (write(bell, &one, sizeof one) < 0 && errno == EINTR) continue;
}

void bell_silence(int bell) {
    uint64_t count;
    while (read(bell, &count, sizeof count) < 0 && errno == EINTR) continue;
}

void wait_for(int fd, short events, int bell, int64_t deadline) {
    struct pollfd waited[2] = {{.fd = fd, .events = events}, {.fd = bell, .events = POLLIN}};
    /* After EINTR the caller checks its condition again. */
    if (poll(waited, 2, poll_timeout(deadline)) > 0 && waited[1].revents != 0) bell_silence(bell);
}

void settle(junction *j) {
    if (j->calls.has_changed) {
        j->calls.has_changed = false;
        pthread_cond_broadcast(&j->changed);
    }
    if (j->loop.epoll >= 0) loop_arm(j);
}

void push(junction *j, struct talk *talk) {
    if (talk == &j->calls && j->is_received) {
        /* Only one thread at a time sends and receives. Wake it, so that it sends the new lines. */
        bell_ring(j->bell);
    } else {
        talk_step(talk);
        settle(j);
    }
}

int ask_call(junction *j, struct call *call, junction_error *error) {
    int kind = talk_ask(&j->calls, call, error);
    if (kind == JUNCTION_OK) push(j, &j->calls);
    return kind;
}

void await_call(junction *j, struct call *call) {
    while (call->stage != STAGE_DONE && call->question == 0) {
        if (j->is_received) {
            pthread_cond_wait(&j->changed, &j->lock);
            continue;
        }
        j->is_received = true;
        int fd = j->calls.fd;
        short events = talk_events(&j->calls);
        int64_t due = talk_due(&j->calls);
        unlock(j);
        wait_for(fd, events, j->bell, due);
        lock(j);
        j->is_received = false;
        talk_step(&j->calls);
        settle(j);
    }
    /* Another waiting thread has to receive now. */
    if (!j->is_received) pthread_cond_broadcast(&j->changed);
}
