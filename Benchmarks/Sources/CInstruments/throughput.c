#define _GNU_SOURCE

#include "inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct client {
    int socket;
    // The bytes since the last complete answer: lines, or bytes for a protocol without lines.
    size_t rest;
};

struct load {
    const struct exchange *exchange;
    // The size of one answer in lines, or in bytes for a protocol without lines.
    size_t answer_units;
    uint8_t *batch;
    uint32_t depth;
    uint64_t answers;
};

static size_t units_in(const struct load *load, const uint8_t *bytes, size_t size) {
    if (load->exchange->wire == wire_ssh) return size;
    size_t lines = 0;
    for (const uint8_t *at = bytes; (at = memchr(at, '\n', bytes + size - at)); at++) lines++;
    return lines;
}

/// Connects and makes one exchange, which measures the size of an answer.
static int open_client(struct client *client, struct load *load, struct answer *answer) {
    client->socket = instruments_connect(load->exchange->path);
    if (client->socket < 0) return -client->socket;
    int failed = read_greeting(client->socket, load->exchange, answer);
    if (!failed) failed = one_round_trip(client->socket, load->exchange, answer);
    if (!failed) failed = check_answer(load->exchange, answer);
    load->answer_units = units_in(load, answer->bytes, answer->size);
    return failed;
}

/// Reads the available bytes, and sends one request for each answer.
static int go_on(struct client *client, struct load *load, uint8_t *buffer, size_t room) {
    ssize_t count = recv(client->socket, buffer, room, MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : errno;
    if (count == 0) return ECONNRESET;
    client->rest += units_in(load, buffer, count);
    size_t answers = client->rest / load->answer_units;
    client->rest %= load->answer_units;
    load->answers += answers;
    if (answers > load->depth) return EPROTO;
    return answers ? send_all(client->socket, load->batch, answers * load->exchange->size) : 0;
}

static int run(struct client *clients, uint32_t count, struct load *load, uint32_t milliseconds, double *per_second) {
    struct epoll_event events[256];
    static uint8_t buffer[1 << 18];
    int ready = epoll_create1(EPOLL_CLOEXEC);
    int failed = ready < 0 ? errno : 0;
    for (uint32_t i = 0; !failed && i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[i]};
        if (epoll_ctl(ready, EPOLL_CTL_ADD, clients[i].socket, &event) != 0) failed = errno;
        if (!failed) failed = send_all(clients[i].socket, load->batch, load->depth * load->exchange->size);
    }

    // A fifth of the time is for warming up.
    int64_t start = instruments_now() + milliseconds * 200000ll;
    int64_t end = start + milliseconds * 1000000ll;
    int64_t now = 0;
    uint64_t before = 0;
    while (!failed && (now = instruments_now()) < end) {
        if (now < start) before = load->answers;
        // Busy polling: waking this thread on another processor would be the largest part of the server's work.
        int happened = epoll_wait(ready, events, 256, 0);
        if (happened < 0 && errno != EINTR) failed = errno;
        for (int i = 0; !failed && i < happened; i++) failed = go_on(events[i].data.ptr, load, buffer, sizeof buffer);
    }
    if (!failed && load->answers == before) failed = ETIMEDOUT;
    if (!failed) *per_second = (double)(load->answers - before) / ((double)(now - start) / 1e9);
    if (ready >= 0) close(ready);
    return failed;
}

int instruments_throughput(
    const struct exchange *exchange, uint32_t clients, uint32_t depth, uint32_t milliseconds, double *per_second) {
    struct client *all = calloc(clients, sizeof *all);
    struct answer *answer = malloc(sizeof *answer);
    struct load load = {.exchange = exchange, .depth = depth, .batch = malloc(depth * exchange->size)};
    int failed = all && answer && load.batch ? 0 : ENOMEM;
    for (uint32_t i = 0; !failed && i < depth; i++) {
        memcpy(load.batch + i * exchange->size, exchange->request, exchange->size);
    }

    uint32_t opened = 0;
    while (!failed && opened < clients) failed = open_client(&all[opened++], &load, answer);
    if (!failed) failed = run(all, clients, &load, milliseconds, per_second);

    for (uint32_t i = 0; i < opened; i++) {
        if (all[i].socket >= 0) close(all[i].socket);
    }
    free(load.batch);
    free(answer);
    free(all);
    return failed;
}

int instruments_burst(const struct exchange *exchange, uint32_t connections) {
    int *sockets = malloc(connections * sizeof *sockets);
    struct answer *answer = malloc(sizeof *answer);
    int failed = sockets && answer ? 0 : ENOMEM;
    uint32_t opened = 0;
    while (!failed && opened < connections) {
        int socket = instruments_connect(exchange->path);
        if (socket < 0) {
            failed = -socket;
            break;
        }
        sockets[opened++] = socket;
        failed = read_greeting(socket, exchange, answer);
        if (!failed) failed = one_round_trip(socket, exchange, answer);
        if (!failed) failed = check_answer(exchange, answer);
    }
    for (uint32_t i = 0; i < opened; i++) close(sockets[i]);
    free(answer);
    free(sockets);
    return failed;
}
