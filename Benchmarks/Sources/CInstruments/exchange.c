#define _GNU_SOURCE

#include "inner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int64_t instruments_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int send_all(int socket, const void *bytes, size_t size) {
    for (size_t sent = 0; sent < size;) {
        ssize_t count = send(socket, (const uint8_t *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN ? ETIMEDOUT : errno;
        sent += count;
    }
    return 0;
}

static bool last_line_is_ok(const struct answer *answer) {
    if (answer->size == 0 || answer->bytes[answer->size - 1] != '\n') return false;
    const uint8_t *before = memrchr(answer->bytes, '\n', answer->size - 1);
    const uint8_t *line = before ? before + 1 : answer->bytes;
    return memcmp(line, "OK", 2) == 0 || memcmp(line, "ERR", 3) == 0;
}

static bool is_complete(const struct exchange *exchange, const struct answer *answer) {
    switch (exchange->wire) {
    case wire_line:
        return answer->size > 0 && answer->bytes[answer->size - 1] == '\n';
    case wire_assuan:
        return last_line_is_ok(answer);
    default:
        if (answer->size < 4) return false;
        uint32_t length;
        memcpy(&length, answer->bytes, sizeof length);
        return answer->size >= 4 + (size_t)ntohl(length);
    }
}

static int read_answer(int socket, const struct exchange *exchange, struct answer *answer) {
    answer->size = 0;
    do {
        if (answer->size == sizeof answer->bytes) return EMSGSIZE;
        ssize_t count = recv(socket, answer->bytes + answer->size, sizeof answer->bytes - answer->size, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN ? ETIMEDOUT : errno;
        if (count == 0) return ECONNRESET;
        answer->size += count;
    } while (!is_complete(exchange, answer));
    return 0;
}

int read_greeting(int socket, const struct exchange *exchange, struct answer *answer) {
    return exchange->wire == wire_assuan ? read_answer(socket, exchange, answer) : 0;
}

int one_round_trip(int socket, const struct exchange *exchange, struct answer *answer) {
    int failed = send_all(socket, exchange->request, exchange->size);
    return failed ? failed : read_answer(socket, exchange, answer);
}

int check_answer(const struct exchange *exchange, const struct answer *answer) {
    switch (exchange->wire) {
    case wire_line:
        if (memmem(answer->bytes, answer->size, "\"result\"", 8)) return 0;
        return memmem(answer->bytes, answer->size, "\"permissionDenied\"", 18) ? EACCES : EPROTO;
    case wire_assuan:
        return memmem(answer->bytes, answer->size, "ERR ", 4) ? EPROTO : 0;
    default:
        // 5 is SSH_AGENT_FAILURE.
        return answer->size > 4 && answer->bytes[4] != 5 ? 0 : EPROTO;
    }
}

static int ascending(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

void sum_up(uint32_t *nanoseconds, uint32_t count, struct timings *timings) {
    qsort(nanoseconds, count, sizeof *nanoseconds, ascending);
    timings->p50 = nanoseconds[count / 2] / 1e3;
    timings->p99 = nanoseconds[(size_t)count * 99 / 100] / 1e3;
}
