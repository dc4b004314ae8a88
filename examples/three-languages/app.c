/* An app that shares the session: waits for a session, prints `token …`, and prints `signed out` after the sign-out. */

#include <junction.h>
#include <stdio.h>
#include <stdlib.h>

enum { FOR_EVER = -1 };

static void check(int kind, const junction_error *error) {
    if (kind == JUNCTION_OK) return;
    fprintf(stderr, "app.c: %s (%s): %s\n", error->message, error->word, error->remedy);
    exit(1);
}

int main(void) {
    junction_error error;
    junction *session = junction_open(NULL, &error);
    if (session == NULL) check(error.kind, &error);

    junction_snapshot *state;
    check(junction_wait(session, JUNCTION_SIGNED_IN, FOR_EVER, &state, &error), &error);
    junction_snapshot_free(state);

    junction_token *token;
    check(junction_access_token(session, 0, FOR_EVER, &token, &error), &error);
    printf("token %s\n", token->access_token);
    fflush(stdout);
    junction_token_free(token); /* Wipes it. */

    check(junction_wait(session, JUNCTION_SIGNED_OUT, FOR_EVER, &state, &error), &error);
    junction_snapshot_free(state);
    printf("signed out\n");
    junction_close(session);
    return 0;
}
