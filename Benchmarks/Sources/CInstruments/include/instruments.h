#ifndef INSTRUMENTS_H
#define INSTRUMENTS_H

// Timers and the load generator. Unless a function's comment says otherwise, it returns 0 or an errno.
// Every wait has a limit: ETIMEDOUT. EPROTO: a server answered with an error. EACCES: it denied the request.

#include <stddef.h>
#include <stdint.h>

// --- Time ---

/// Returns the monotonic clock in nanoseconds.
int64_t instruments_now(void);

/// The statistics of many timings, in microseconds.
struct timings {
    double p50;
    double p99;
};

// --- Sequential exchanges ---

/// The end of an answer on the wire.
enum wire {
    wire_line,    // JSON-RPC: one line
    wire_assuan,  // gpg-agent: lines up to one that begins with OK
    wire_ssh,     // ssh-agent: a length in four bytes, then that many bytes
};

/// A request that is sent repeatedly.
struct exchange {
    const char *path;
    int wire;
    const uint8_t *request;
    size_t size;
};

/// Times `count` round trips on one connection, after a tenth as many for warming up.
int instruments_round_trips(const struct exchange *exchange, uint32_t count, struct timings *timings);

/// Times `count` calls for a cached access token through liboidc-agent, which it loads. OIDC_SOCK must be set.
int instruments_oidc_calls(const char *account, uint32_t count, struct timings *timings);

/// Keeps `clients` connections with `depth` requests in flight each, and counts the answers in `milliseconds`.
int instruments_throughput(
    const struct exchange *exchange, uint32_t clients, uint32_t depth, uint32_t milliseconds, double *per_second);

/// Opens this many connections, makes one exchange on each, and closes them all.
int instruments_burst(const struct exchange *exchange, uint32_t connections);

// --- Callers in a systemd unit ---

/// Creates an empty control group with the name of a unit: for libsystemd its processes belong to this unit. `hierarchy` is
/// the directory that contains it. If none is writable, the function mounts one that only this process and its children can
/// see.
int instruments_make_group(const char *unit, const char **hierarchy);

/// The same as instruments_round_trips, by a child in the control group at this path (NULL: in that of this process) with
/// only the rights of this user.
int instruments_round_trips_by(
    const char *group, uint32_t user, const struct exchange *exchange, uint32_t count, struct timings *timings);

// --- Watchers ---

struct watchers;

/// The arrival of a change at the watchers, in microseconds after the request.
struct deliveries {
    double first;
    double median;
    double last;
};

/// Opens one connection for each watcher and waits for the answer to its subscription.
int watchers_open(const struct exchange *subscription, uint32_t count, struct watchers **watchers);

/// Sends a request on the connection `control`, whose answer stays unread, and times the arrival of a notification that
/// contains `sign` at every watcher.
int watchers_time_change(
    struct watchers *watchers, int control, const uint8_t *request, size_t size, const char *sign,
    struct deliveries *deliveries);

/// Closes every connection.
void watchers_close(struct watchers *watchers);

// --- Sockets ---

/// Connects to a Unix socket with a timeout of some seconds for reads and writes. Returns it, or a negative errno.
int instruments_connect(const char *path);

/// Waits until a server accepts connections there, and returns that time.
int instruments_await_listener(const char *path, uint32_t milliseconds, int64_t *at);

/// Binds a datagram socket as NOTIFY_SOCKET. Returns it, or a negative errno.
int instruments_notify_socket(const char *path);

/// Waits for READY=1, and returns the time of its arrival.
int instruments_await_ready(int notify_socket, uint32_t milliseconds, int64_t *at);

/// Waits for output on a pipe, and returns the time of its arrival. ENODATA: the pipe was closed without output.
int instruments_await_output(int pipe, uint32_t milliseconds, int64_t *at);

// --- Processes ---

/// A program to start. Its standard input is /dev/null.
struct launch {
    const char *program;
    char *const *arguments;
    char *const *environment;
    int output;  // its standard output and standard error
    int errors;
};

/// Starts a program that ends with this one, and returns the time of its start.
int instruments_launch(const struct launch *launch, int32_t *process, int64_t *at);

/// Waits for a process to end. `status` is its exit code, or 128 and the signal.
int instruments_await_end(int32_t process, uint32_t milliseconds, int32_t *status);

/// Binds every thread of a process, or of this one (0), to one processor; -1 removes the binding.
int instruments_bind(int32_t process, int processor);

/// Gives this process and its children priority over ordinary processes (SCHED_FIFO 5).
int instruments_prefer(void);

/// Raises the descriptor limit of this process and its children to the kernel's maximum. Returns the limit.
uint32_t instruments_raise_descriptor_limit(void);

/// Forks. The child returns and does the work. The parent waits for it, at most this many seconds, then kills all remaining
/// descendants, removes both directories and the control group (NULL: none), and exits with the status of the child.
int instruments_supervise(const char *on_disk, const char *in_memory, const char *group, uint32_t seconds);

#endif
