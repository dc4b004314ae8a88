/* Errors, with what to do about them. */
#ifndef JUNCTION_ERROR_H
#define JUNCTION_ERROR_H

#include "../junction.h"

/* Makes an error of this side, and returns its kind. */
int error_set(junction_error *error, enum junction_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reads the error of an answer; whatever is odd about it, the answer still was an error. */
void error_read(junction_error *error, const junction_value *wire);
/* Whether the same request may succeed on a new connection: the daemon restarts, or is busy for the moment. */
bool error_is_passing(const junction_error *error);

#endif
