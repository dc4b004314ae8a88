#ifndef INNER_H
#define INNER_H

#include "instruments.h"

// What the files of this target share.

/// No peer may keep us waiting for longer.
#define PATIENCE_SECONDS 15

/// Sends everything, or says why not.
int send_all(int socket, const void *bytes, size_t size);

/// One answer, as far as it has come.
struct answer {
    size_t size;
    uint32_t lines;
    uint8_t bytes[1 << 16];
};

/// Reads the greeting that this protocol begins with, if it has one.
int read_greeting(int socket, const struct exchange *exchange, struct answer *answer);

/// Sends the request and reads the whole answer.
int one_round_trip(int socket, const struct exchange *exchange, struct answer *answer);

/// EPROTO unless the answer is a success; EACCES if it is that the caller may not.
int check_answer(const struct exchange *exchange, const struct answer *answer);

/// Sorts the nanoseconds and sums them up.
void sum_up(uint32_t *nanoseconds, uint32_t count, struct timings *timings);

#endif
