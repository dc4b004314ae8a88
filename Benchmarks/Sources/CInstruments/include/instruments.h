#ifndef INSTRUMENTS_H
#define INSTRUMENTS_H

// The stop-watches and the load generator. Unless a function says something else, it returns 0 or an errno.
// Every wait has an end: ETIMEDOUT. EPROTO: a server answered something that is no success; EACCES: that it may not.

#include <stddef.h>
#include <stdint.h>

// --- Time ---

/// The monotonic clock in nanoseconds.
int64_t instruments_now(void);

/// What many timings of one thing came to, in microseconds.
struct timings {
    double p50;
    double p99;
};

// --- One exchange after another ---

/// How an answer ends on the wire.
enum wire {
    wire_line,    // JSON-RPC: one line
    wire_assuan,  // gpg-agent: lines up to one that begins with OK
    wire_ssh,     // ssh-agent: a length in four bytes, then so many
};

/// A request that is sent over and over.
struct exchange {
    const char *path;
    int wire;
    const uint8_t *request;
    size_t size;
};

/// Times `count` round trips on one connection, after a tenth as many that are not counted.
int instruments_round_trips(const struct exchange *exchange, uint32_t count, struct timings *timings);

/// Times `count` calls for a cached access token through liboidc-agent, which is loaded now. OIDC_SOCK must be set.
int instruments_oidc_calls(const char *account, uint32_t count, struct timings *timings);

/// Keeps `clients` connections with `depth` requests under way each, and counts the answers in so many milliseconds.
int instruments_throughput(
    const struct exchange *exchange, uint32_t clients, uint32_t depth, uint32_t milliseconds, double *per_second);

/// Opens so many connections, has one exchange on each, and closes them all.
int instruments_burst(const struct exchange *exchange, uint32_t connections);

// --- Callers that a server knows by their unit ---

/// Makes an empty control group by the name of a unit: libsystemd takes whoever is in it for a process of that unit.
/// `hierarchy` is the directory that it is in. Where there is none that can be written, one is mounted that only this
/// process and those that it starts can see.
int instruments_make_group(const char *unit, const char **hierarchy);

/// The same as instruments_round_trips, by a child that is in the control group at this path (NULL: in ours) and has no
/// more rights than this user.
int instruments_round_trips_by(
    const char *group, uint32_t user, const struct exchange *exchange, uint32_t count, struct timings *timings);

// --- Watchers ---

struct watchers;

/// When a change reached the watchers, in microseconds after it was asked for.
struct deliveries {
    double first;
    double median;
    double last;
};

/// Opens one connection for each watcher and waits for the answer to its subscription.
int watchers_open(const struct exchange *subscription, uint32_t count, struct watchers **watchers);

/// Sends a request on the connection `control`, whose answer stays unread there, and times the arrival of a
/// notification that contains `sign` at every watcher.
int watchers_time_change(
    struct watchers *watchers, int control, const uint8_t *request, size_t size, const char *sign,
    struct deliveries *deliveries);

/// Closes every connection.
void watchers_close(struct watchers *watchers);

// --- Sockets ---

/// Connects to a Unix socket whose reads and writes end after some seconds. Returns it, or a negative errno.
int instruments_connect(const char *path);

/// Waits until somebody accepts connections there, and says when that was.
int instruments_await_listener(const char *path, uint32_t milliseconds, int64_t *at);

/// Binds a datagram socket as NOTIFY_SOCKET. Returns it, or a negative errno.
int instruments_notify_socket(const char *path);

/// Waits for READY=1, and says when it came.
int instruments_await_ready(int notify_socket, uint32_t milliseconds, int64_t *at);

/// Waits for output on a pipe, and says when it came. ENODATA: the pipe was closed instead.
int instruments_await_output(int pipe, uint32_t milliseconds, int64_t *at);

// --- Processes ---

/// A program to start. Its standard input is /dev/null.
struct launch {
    const char *program;
    char *const *arguments;
    char *const *environment;
    int output;  // its standard output and standard error
    int errors;
    int processor;  // the one that it may run on, or -1 for all
};

/// Starts a program that dies with this one, and says when that began.
int instruments_launch(const struct launch *launch, int32_t *process, int64_t *at);

/// Waits for a process to end. `status` is its exit code, or 128 and the signal.
int instruments_await_end(int32_t process, uint32_t milliseconds, int32_t *status);

/// Binds every thread of a process, or of this one (0), to one processor; -1 lets it roam.
int instruments_bind(int32_t process, int processor);

/// Lets this process and whatever it starts run before ordinary processes (SCHED_FIFO 5).
int instruments_prefer(void);

/// Allows this process and whatever it starts as many descriptors as the kernel lets it have. Returns how many.
uint32_t instruments_raise_descriptor_limit(void);

/// Forks. The child returns and does the work; the parent waits for it, at most so many seconds, then ends whatever
/// process is left below it, removes both directories and the control group (NULL: there is none), and exits as the
/// child did.
int instruments_supervise(const char *on_disk, const char *in_memory, const char *group, uint32_t seconds);

#endif
