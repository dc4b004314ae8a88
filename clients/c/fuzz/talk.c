/* Fuzzes a conversation with arbitrary bytes from the daemon over a socket pair: it must not crash, and every call must
 * end. */
#define _GNU_SOURCE
#include "../src/handle.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static struct call *ask(struct talk *talk, const char *method, const char *about) {
    struct call *call = call_new(method, NULL, NEVER);
    /* A fixed id, so that an input can answer the call. */
    call->id = about == NULL ? 1 : 2;
    call->about = about == NULL ? NULL : strdup(about);
    call->repetitions_left = 0;
    if (talk_ask(talk, call, NULL) != JUNCTION_OK) abort();
    return call;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count) {
    if (count < 1 || count > 60000) return 0;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) abort();
    struct talk talk;
    talk_begin(&talk, "/nonexistent/fuzz.sock");
    talk.fd = ends[0];
    talk.connection = 1;
    if (data[0] & 1) talk_take_up(&talk, data[0] & 2 ? "handler.register" : "session.subscribe");
    talk.keeps_each = (data[0] & 4) != 0;
    talk.only_states = (data[0] & 8) != 0;
    struct call *plain = ask(&talk, "session.renew", NULL), *identify = ask(&talk, "session.identify", "anna");
    talk_step(&talk);
    if (talk.duty.stage == DUTY_ASKED) talk.duty.id = 3;
    data++;
    count--;
    if (count > 0 && send(ends[1], data, count, 0) != (ssize_t)count) abort();
    for (int i = 0; i < 4; i++) {
        talk_step(&talk);
        struct question *question;
        while ((question = talk_new_question(&talk)) != NULL) {
            junction_value_free(talk_show_question(question));
            talk_answer(&talk, question, NULL, NULL);
        }
        junction_value *news = talk_take_news(&talk);
        if (news != NULL) {
            junction_snapshot *snapshot = snapshot_of(news);
            if (snapshot == NULL) abort();
            junction_snapshot_free(snapshot);
        }
    }
    shutdown(ends[1], SHUT_WR);
    for (int i = 0; i < 4; i++) {
        talk_step(&talk);
        junction_value_free(talk.news);
        talk.news = NULL;
    }
    /* The stream has ended, so every call must have ended. */
    if (plain->stage != STAGE_DONE || identify->stage != STAGE_DONE) abort();
    call_free(plain);
    call_free(identify);
    talk_end(&talk);
    close(ends[1]);
    return 0;
}
