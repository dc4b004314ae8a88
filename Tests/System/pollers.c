/* Clients that never retry a request, in contrast to junctionctl.
 *
 *   pollers SOCKET COUNT
 *
 * Each of COUNT clients sends a request, waits for its answer, and sends the next one, until standard input ends. Half of the
 * clients keep their connection, the others open a new one each time. If a connection ends between two requests, or before a
 * request could be written, the client opens another one, and no request is lost. A written request must be answered, also
 * during a restart of the daemon.
 *
 * At the end it prints `A answered, E ended, L lost`. E is the number of connections that the daemon closed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST = 256, CAPACITY = 65536 };

static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.status\"}\n";

struct client {
    int socket;
    int waits; /* a request was written, and its answer is not complete */
    int stays;
    size_t length;
    char answer[CAPACITY];
};

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct client clients[MOST];
static unsigned long answered, ended, lost;

static void give_up(const char *what) {
    fprintf(stderr, "pollers: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void open_connection(struct client *client) {
    client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->socket < 0) give_up("socket");
    /* The socket unit always listens, so a refused connection is a lost request. */
    if (connect(client->socket, (struct sockaddr *)&address, sizeof address) != 0) give_up("connect");
}

static void ask(struct client *client) {
    for (;;) {
        ssize_t count = send(client->socket, request, sizeof request - 1, MSG_NOSIGNAL);
        if (count == (ssize_t)sizeof request - 1) break;
        if (count >= 0 || errno != EPIPE) give_up("send");
        /* The daemon does not read any more: nothing was written. */
        close(client->socket);
        ended++;
        open_connection(client);
    }
    client->waits = 1;
    client->length = 0;
}

static void receive(struct client *client) {
    ssize_t count = recv(client->socket, client->answer + client->length, CAPACITY - client->length, 0);
    if (count <= 0) {
        if (client->waits) lost++;
        client->waits = 0;
        close(client->socket);
        ended++;
        open_connection(client);
        ask(client);
        return;
    }
    client->length += (size_t)count;
    if (memchr(client->answer + client->length - count, '\n', (size_t)count) == NULL) {
        if (client->length == CAPACITY) give_up("an answer without an end");
        return;
    }
    if (memmem(client->answer, client->length, "\"result\"", 8) == NULL) {
        fprintf(stderr, "pollers: %.*s", (int)client->length, client->answer);
        lost++;
    }
    answered++;
    if (!client->stays) {
        close(client->socket);
        open_connection(client);
    }
    ask(client);
}

int main(int argc, char **argv) {
    if (argc != 3) return 64;
    int count = atoi(argv[2]);
    if (count < 1 || count > MOST || strlen(argv[1]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, argv[1]);

    struct pollfd fds[MOST + 1] = {{.fd = STDIN_FILENO, .events = POLLIN}};
    for (int i = 0; i < count; i++) {
        clients[i].stays = i % 2;
        open_connection(&clients[i]);
        ask(&clients[i]);
    }
    for (;;) {
        for (int i = 0; i < count; i++) fds[i + 1] = (struct pollfd){.fd = clients[i].socket, .events = POLLIN};
        if (poll(fds, (nfds_t)count + 1, -1) < 0) give_up("poll");
        if (fds[0].revents) break;
        for (int i = 0; i < count; i++)
            if (fds[i + 1].revents) receive(&clients[i]);
    }
    printf("%lu answered, %lu ended, %lu lost\n", answered, ended, lost);
    return lost > 0;
}
