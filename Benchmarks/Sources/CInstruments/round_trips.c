#define _GNU_SOURCE

#include "inner.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int time_round_trips(int socket, const struct exchange *exchange, uint32_t count, uint32_t *nanoseconds) {
    struct answer answer;
    int failed = read_greeting(socket, exchange, &answer);
    uint32_t warm_up = count / 10 + 1;
    for (uint32_t i = 0; !failed && i < warm_up + count; i++) {
        int64_t before = instruments_now();
        failed = one_round_trip(socket, exchange, &answer);
        int64_t took = instruments_now() - before;
        if (!failed) failed = check_answer(exchange, &answer);
        if (i >= warm_up) nanoseconds[i - warm_up] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
    }
    return failed;
}

int instruments_round_trips(const struct exchange *exchange, uint32_t count, struct timings *timings) {
    uint32_t *nanoseconds = calloc(count, sizeof *nanoseconds);
    if (!nanoseconds) return ENOMEM;
    int socket = instruments_connect(exchange->path);
    int failed = socket < 0 ? -socket : time_round_trips(socket, exchange, count, nanoseconds);
    if (!failed) sum_up(nanoseconds, count, timings);
    if (socket >= 0) close(socket);
    free(nanoseconds);
    return failed;
}

typedef char *(*get_access_token)(
    const char *account, time_t valid_for, const char *scope, const char *application, const char *audience);

int instruments_oidc_calls(const char *account, uint32_t count, struct timings *timings) {
    // Loaded at run time, so that the build does not need the library.
    void *library = dlopen("liboidc-agent.so.4", RTLD_NOW);
    get_access_token call = library ? (get_access_token)dlsym(library, "getAccessToken3") : NULL;
    if (!call) return ENOSYS;
    uint32_t *nanoseconds = calloc(count, sizeof *nanoseconds);
    if (!nanoseconds) return ENOMEM;

    uint32_t warm_up = count / 10 + 1;
    int failed = 0;
    for (uint32_t i = 0; !failed && i < warm_up + count; i++) {
        int64_t before = instruments_now();
        // The token cannot be freed: the library does not export its allocator.
        char *token = call(account, 0, NULL, "bench", NULL);
        int64_t took = instruments_now() - before;
        if (!token) failed = EPROTO;
        if (i >= warm_up) nanoseconds[i - warm_up] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
    }
    if (!failed) sum_up(nanoseconds, count, timings);
    free(nanoseconds);
    return failed;
}
