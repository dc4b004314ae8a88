// The baseline: a server of newline-delimited JSON-RPC that only does the kernel's work. It validates nothing and answers
// every request with the same prepared text. Use it only for measurements.
//
//   bare-server SOCKET          serves
//   bare-server --ask SOCKET    sends one request and prints the answer: the baseline of a client

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// A typical answer of `session.status`: about 330 bytes with the envelope.
static const char result[] =
    "\"result\":{\"revision\":17,\"changedAt\":\"2026-01-01T00:00:00Z\",\"state\":\"established\","
    "\"flags\":[\"configured\",\"signedIn\",\"useSignInToken\"],\"provider\":\"junction\","
    "\"userId\":\"c36d4df5-e373-425d-aae7-8b091b003ddd\",\"accessToken\":{\"expiresAt\":\"2026-01-01T01:00:00Z\","
    "\"generation\":3},\"renewal\":{\"phase\":\"scheduled\"}}}\n";
static const char change[] =
    "{\"jsonrpc\":\"2.0\",\"method\":\"session.changed\",\"params\":{\"snapshot\":{\"revision\":18,"
    "\"changedAt\":\"2026-01-01T00:00:01Z\",\"state\":\"notLoggedIn\",\"flags\":[\"configured\"]}}}\n";

struct connection {
    int socket;
    bool watches;
    struct connection *next_watcher;
    struct connection **watched_by;
    // An incomplete line.
    char *rest;
    size_t rest_size;
};

static struct connection *watchers;
static char input[1 << 17];
static char output[1 << 20];

static struct sockaddr_un address_of(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) errno = ENAMETOOLONG, perror(path), exit(64);
    strcpy(address.sun_path, path);
    return address;
}

static void say_ready(void) {
    const char *path = getenv("NOTIFY_SOCKET");
    if (!path) return;
    struct sockaddr_un address = address_of(path);
    int notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sendto(notify, "READY=1", 7, 0, (struct sockaddr *)&address, sizeof address);
    close(notify);
}

static void forget(struct connection *connection) {
    if (connection->watches) {
        *connection->watched_by = connection->next_watcher;
        if (connection->next_watcher) connection->next_watcher->watched_by = connection->watched_by;
    }
    close(connection->socket);
    free(connection->rest);
    free(connection);
}

static void watch(struct connection *connection) {
    if (connection->watches) return;
    connection->watches = true;
    connection->next_watcher = watchers;
    connection->watched_by = &watchers;
    if (watchers) watchers->watched_by = &connection->next_watcher;
    watchers = connection;
}

static void announce(void) {
    for (struct connection *watcher = watchers; watcher; watcher = watcher->next_watcher) {
        send(watcher->socket, change, sizeof change - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

/// Writes the answer to one line and returns its end.
static char *answer(struct connection *connection, const char *line, size_t size, char *out) {
    const char *id = memmem(line, size, "\"id\":", 5);
    if (memmem(line, size, "subscribe", 9)) watch(connection);
    if (memmem(line, size, "signOut", 7)) announce();
    if (!id) return out;
    id += 5;
    size_t id_size = 0;
    while (id + id_size < line + size && id[id_size] != ',' && id[id_size] != '}') id_size++;
    out = mempcpy(out, "{\"jsonrpc\":\"2.0\",\"id\":", 22);
    out = mempcpy(out, id, id_size);
    *out++ = ',';
    return mempcpy(out, result, sizeof result - 1);
}

/// Reads the available bytes and answers each line. Returns false at the end of the connection.
static bool serve(struct connection *connection) {
    memcpy(input, connection->rest, connection->rest_size);
    ssize_t count = recv(connection->socket, input + connection->rest_size, sizeof input - connection->rest_size, 0);
    if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
    const char *at = input;
    const char *end = input + connection->rest_size + count;
    char *out = output;
    for (const char *stop; (stop = memchr(at, '\n', end - at)); at = stop + 1) {
        if (out - output > (ptrdiff_t)(sizeof output - sizeof result - 256) || stop - at > 128) return false;
        out = answer(connection, at, stop - at, out);
    }
    size_t rest = end - at;
    if (rest > 0 && !(connection->rest = realloc(connection->rest, rest))) return false;
    if (rest > 0) memcpy(connection->rest, at, rest);
    connection->rest_size = rest;
    return out == output || send(connection->socket, output, out - output, MSG_NOSIGNAL) == out - output;
}

static int run(const char *path) {
    struct sockaddr_un address = address_of(path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int ready = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0
        || epoll_ctl(ready, EPOLL_CTL_ADD, listener, &event) != 0) {
        perror(path);
        return 73;
    }
    say_ready();

    struct epoll_event events[256];
    for (;;) {
        int happened = epoll_wait(ready, events, 256, -1);
        for (int i = 0; i < happened; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection) {
                if (!serve(connection)) forget(connection);
                continue;
            }
            int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (accepted < 0) continue;
            connection = calloc(1, sizeof *connection);
            connection->socket = accepted;
            event.data.ptr = connection;
            epoll_ctl(ready, EPOLL_CTL_ADD, accepted, &event);
        }
    }
}

static int ask(const char *path) {
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.status\"}\n";
    struct sockaddr_un address = address_of(path);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(server, (struct sockaddr *)&address, sizeof address) != 0) return perror(path), 69;
    if (write(server, request, sizeof request - 1) < 0) return perror(path), 69;
    ssize_t count = read(server, input, sizeof input);
    return count > 0 && write(STDOUT_FILENO, input, count) == count ? 0 : 69;
}

int main(int count, char **arguments) {
    if (count == 2) return run(arguments[1]);
    if (count == 3 && strcmp(arguments[1], "--ask") == 0) return ask(arguments[2]);
    fputs("usage: bare-server SOCKET | bare-server --ask SOCKET\n", stderr);
    return 64;
}
