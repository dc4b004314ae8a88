#define _GNU_SOURCE

#include "inner.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct watcher {
    int socket;
    bool knows;
};

struct watchers {
    uint32_t count;
    int ready;
    uint32_t *nanoseconds;
    struct watcher all[];
};

static int open_watcher(
    struct watchers *watchers, struct watcher *watcher, const struct exchange *subscription, struct answer *answer) {
    watcher->socket = instruments_connect(subscription->path);
    if (watcher->socket < 0) return -watcher->socket;
    watchers->count++;
    int failed = one_round_trip(watcher->socket, subscription, answer);
    if (!failed) failed = check_answer(subscription, answer);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = watcher};
    if (!failed && epoll_ctl(watchers->ready, EPOLL_CTL_ADD, watcher->socket, &event) != 0) failed = errno;
    return failed;
}

int watchers_open(const struct exchange *subscription, uint32_t count, struct watchers **opened) {
    struct watchers *watchers = calloc(1, sizeof *watchers + count * sizeof watchers->all[0]);
    struct answer *answer = malloc(sizeof *answer);
    int failed = watchers && answer ? 0 : ENOMEM;
    if (!failed && !(watchers->nanoseconds = malloc(count * sizeof *watchers->nanoseconds))) failed = ENOMEM;
    if (!failed && (watchers->ready = epoll_create1(EPOLL_CLOEXEC)) < 0) failed = errno;
    for (uint32_t i = 0; !failed && i < count; i++) {
        failed = open_watcher(watchers, &watchers->all[i], subscription, answer);
    }
    free(answer);
    if (failed && watchers) watchers_close(watchers);
    if (!failed) *opened = watchers;
    return failed;
}

/// Reads from all ready watchers and notes the arrival of the sign. Returns the number of watchers that received it, or
/// -errno.
static int listen_once(struct watchers *watchers, int timeout, const char *sign, int64_t since, uint32_t known) {
    static uint8_t buffer[1 << 16];
    struct epoll_event events[1024];
    int happened = epoll_wait(watchers->ready, events, 1024, timeout);
    if (happened < 0) return errno == EINTR ? 0 : -errno;
    if (happened == 0) return -ETIMEDOUT;
    int learned = 0;
    for (int i = 0; i < happened; i++) {
        struct watcher *watcher = events[i].data.ptr;
        ssize_t count = recv(watcher->socket, buffer, sizeof buffer, MSG_DONTWAIT);
        if (count == 0) return -ECONNRESET;
        if (count < 0 && errno != EAGAIN && errno != EINTR) return -errno;
        if (!sign || count <= 0 || watcher->knows || !memmem(buffer, count, sign, strlen(sign))) continue;
        watcher->knows = true;
        watchers->nanoseconds[known + learned++] = (uint32_t)(instruments_now() - since);
    }
    return learned;
}

int watchers_time_change(
    struct watchers *watchers, int control, const uint8_t *request, size_t size, const char *sign,
    struct deliveries *deliveries) {
    // Drops notifications of earlier changes.
    int result;
    do result = listen_once(watchers, 300, NULL, 0, 0);
    while (result >= 0);
    if (result != -ETIMEDOUT) return -result;

    for (uint32_t i = 0; i < watchers->count; i++) watchers->all[i].knows = false;
    int64_t start = instruments_now();
    int failed = send_all(control, request, size);
    if (failed) return failed;
    uint32_t known = 0;
    while (known < watchers->count) {
        result = listen_once(watchers, PATIENCE_SECONDS * 1000, sign, start, known);
        if (result < 0) return -result;
        if (instruments_now() - start > 4000000000ll) return ETIMEDOUT;
        known += result;
    }
    deliveries->first = watchers->nanoseconds[0] / 1e3;
    deliveries->median = watchers->nanoseconds[known / 2] / 1e3;
    deliveries->last = watchers->nanoseconds[known - 1] / 1e3;
    return 0;
}

void watchers_close(struct watchers *watchers) {
    for (uint32_t i = 0; i < watchers->count; i++) close(watchers->all[i].socket);
    if (watchers->ready > 0) close(watchers->ready);
    free(watchers->nanoseconds);
    free(watchers);
}
