#define _GNU_SOURCE

#include "inner.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int address_of(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) return ENAMETOOLONG;
    strcpy(address->sun_path, path);
    return 0;
}

int instruments_connect(const char *path) {
    struct sockaddr_un address;
    int failed = address_of(path, &address);
    if (failed) return -failed;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        failed = errno;
        close(descriptor);
        return -failed;
    }
    return descriptor;
}

int instruments_await_listener(const char *path, uint32_t milliseconds, int64_t *at) {
    int64_t end = instruments_now() + milliseconds * 1000000ll;
    while (instruments_now() < end) {
        int descriptor = instruments_connect(path);
        if (descriptor >= 0) {
            *at = instruments_now();
            close(descriptor);
            return 0;
        }
        if (descriptor != -ENOENT && descriptor != -ECONNREFUSED) return -descriptor;
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return ETIMEDOUT;
}

int instruments_notify_socket(const char *path) {
    struct sockaddr_un address;
    int failed = address_of(path, &address);
    if (failed) return -failed;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    unlink(path);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        failed = errno;
        close(descriptor);
        return -failed;
    }
    return descriptor;
}

static int await(int descriptor, int64_t end) {
    int64_t left = (end - instruments_now()) / 1000000;
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    int ready = poll(&wanted, 1, left > 0 ? (int)left : 0);
    return ready > 0 ? 0 : ready == 0 ? ETIMEDOUT : errno;
}

int instruments_await_ready(int notify_socket, uint32_t milliseconds, int64_t *at) {
    int64_t end = instruments_now() + milliseconds * 1000000ll;
    char message[4096];
    for (;;) {
        int failed = await(notify_socket, end);
        if (failed) return failed;
        *at = instruments_now();
        ssize_t count = recv(notify_socket, message, sizeof message, 0);
        if (count < 0) return errno;
        if (memmem(message, count, "READY=1", 7)) return 0;
    }
}

int instruments_await_output(int pipe, uint32_t milliseconds, int64_t *at) {
    char byte;
    int failed = await(pipe, instruments_now() + milliseconds * 1000000ll);
    if (failed) return failed;
    *at = instruments_now();
    ssize_t count = read(pipe, &byte, 1);
    return count < 0 ? errno : count == 0 ? ENODATA : 0;
}
