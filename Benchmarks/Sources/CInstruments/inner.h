#ifndef INNER_H
#define INNER_H

#include "instruments.h"

// Declarations that the files of this target share.

/// The longest wait for a peer.
#define PATIENCE_SECONDS 15

/// Sends all bytes, or returns an errno.
int send_all(int socket, const void *bytes, size_t size);

/// One answer, or the part of it that has arrived.
struct answer {
    size_t size;
    uint32_t lines;
    uint8_t bytes[1 << 16];
};

/// Reads the greeting of the protocol, if it has one.
int read_greeting(int socket, const struct exchange *exchange, struct answer *answer);

/// Sends the request and reads the whole answer.
int one_round_trip(int socket, const struct exchange *exchange, struct answer *answer);

/// Returns EPROTO unless the answer is a success, and EACCES if the server denied the request.
int check_answer(const struct exchange *exchange, const struct answer *answer);

/// Sorts the nanoseconds and computes their statistics.
void sum_up(uint32_t *nanoseconds, uint32_t count, struct timings *timings);

#endif
