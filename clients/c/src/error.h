/* Errors and their remedies. */
#ifndef JUNCTION_ERROR_H
#define JUNCTION_ERROR_H

#include "../junction.h"

/* Sets an error of the library and returns its kind. */
int error_set(junction_error *error, enum junction_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reads the error of an answer. An unreadable error becomes JUNCTION_INTERNAL_ERROR. */
void error_read(junction_error *error, const junction_value *wire);
/* Whether the request may succeed later on a new connection: the daemon is unreachable, restarts, is busy or rejects its
 * configuration. */
bool error_is_passing(const junction_error *error);

#endif
