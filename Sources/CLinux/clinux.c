#define _GNU_SOURCE

#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/falloc.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

// Linux 6.5; the headers of Debian 12 are older.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "groups are handed to Swift as uint32_t");

static int result_of(int returned) { return returned == 0 ? 0 : errno; }

static int descriptor_or_error(int returned) { return returned >= 0 ? returned : -errno; }

// --- The peer of a Unix socket ---

int clinux_peer_credentials(int socket, int32_t *process, uint32_t *user, uint32_t *group) {
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return errno;
    *process = peer.pid;
    *user = peer.uid;
    *group = peer.gid;
    return 0;
}

int clinux_peer_groups(int socket, uint32_t *groups, size_t *count) {
    // The size is in bytes. With ERANGE the kernel returns the size that it needs.
    socklen_t size = *count > 65536 ? 65536 * sizeof *groups : *count * sizeof *groups;
    int failed = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0;
    if (failed && errno != ERANGE) return errno;
    *count = size / sizeof *groups;
    return failed ? ERANGE : 0;
}

int clinux_peer_process(int socket) {
    int process = -1;
    socklen_t size = sizeof process;
    return getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &process, &size) == 0 ? process : -errno;
}

int clinux_open_process(int32_t process) { return descriptor_or_error((int)syscall(SYS_pidfd_open, process, 0)); }

int clinux_process_has_ended(int process) {
    struct pollfd ending = {.fd = process, .events = POLLIN};
    int ready;
    do {
        ready = poll(&ending, 1, 0);
    } while (ready < 0 && errno == EINTR);
    return ready == 0 ? 0 : 1;
}

int clinux_accept(int listener) {
    return descriptor_or_error(accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

int clinux_unread_output(int socket) {
    int bytes = 0;
    // <linux/sockios.h> names this number SIOCOUTQ.
    return ioctl(socket, TIOCOUTQ, &bytes) == 0 ? bytes : -errno;
}

int clinux_send_descriptor(int socket, const void *bytes, size_t count, const void *address, uint32_t address_length,
                           int descriptor) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec text = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_name = (void *)address,
        .msg_namelen = address_length,
        .msg_iov = &text,
        .msg_iovlen = 1,
        .msg_control = control.room,
        .msg_controllen = sizeof control.room,
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

// --- Clocks and the alarm ---

static int64_t milliseconds_of(clockid_t clock) {
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clinux_wall_milliseconds(void) { return milliseconds_of(CLOCK_REALTIME); }

int64_t clinux_boot_milliseconds(void) { return milliseconds_of(CLOCK_BOOTTIME); }

int clinux_alarm_create(void) { return descriptor_or_error(timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC)); }

static int arm(int alarm, struct timespec at) {
    struct itimerspec when = {.it_value = at};
    return result_of(timerfd_settime(alarm, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL));
}

int clinux_alarm_set(int alarm, int64_t wall_milliseconds) {
    // All zeros would disarm the timer instead of ringing at once.
    if (wall_milliseconds < 1) wall_milliseconds = 1;
    struct timespec at = {
        .tv_sec = wall_milliseconds / 1000,
        .tv_nsec = (wall_milliseconds % 1000) * 1000000,
    };
    return arm(alarm, at);
}

int clinux_alarm_disarm(int alarm) {
    // A disarmed timer does not report clock changes, so the alarm waits for the far future. The kernel stores times as
    // nanoseconds in 64 bits, which end in the year 2262. This time is in 2242.
    return arm(alarm, (struct timespec){.tv_sec = 8589934592});
}

int clinux_alarm_wait(int alarm) {
    uint64_t rings;
    while (read(alarm, &rings, sizeof rings) < 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

// --- The process and its memory ---

int clinux_forbid_dumps(void) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
    return clinux_forbid_own_dumps();
}

int clinux_forbid_own_dumps(void) { return result_of(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)); }

int clinux_occupy_standard_descriptors(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0) continue;
        // open(2) returns the lowest free number, which is this one. The access mode is the opposite of the usual one.
        if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return errno;
    }
    return 0;
}

int clinux_keep_one_heap(void) { return mallopt(M_ARENA_MAX, 1) == 1 ? 0 : EINVAL; }

// Frees the pages of this thread's stack below the frame of this function: nothing there is in use.
static void return_stack(void) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    // The page below this frame stays for the call of madvise.
    uintptr_t end = ((uintptr_t)__builtin_frame_address(0) & ~(page - 1)) - page;
    // This fails with ENOMEM for the first thread, whose stack is mapped as far as it was used, and frees what is mapped.
    if (lowest != NULL && (uintptr_t)lowest < end) madvise(lowest, end - (uintptr_t)lowest, MADV_DONTNEED);
}

int clinux_return_memory(void) {
    return_stack();
    return malloc_trim(0);
}

int clinux_random(void *bytes, size_t count) {
    unsigned char *next = bytes;
    while (count > 0) {
        ssize_t got = getrandom(next, count, 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        next += got;
        count -= (size_t)got;
    }
    return 0;
}

// --- Files ---

void clinux_close_from(int first) { closefrom(first); }

// Runs in the new process before execve(2). The process shares our memory until then (vfork), so this function writes
// only local variables and calls only async-signal-safe functions. It returns only after a failure.
static int become(const char *path, int input, pid_t starter) {
    char *const arguments[] = {(char *)path, NULL};
    char *const environment[] = {NULL};
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    int nothing;
    // First of all: otherwise a stop signal could arrive before this call, and the process could outlive its parent.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
    if (getppid() != starter) return ESRCH;
    // sigaction(2) refuses signals that cannot be changed and signals that the C library uses itself.
    for (int number = 1; number < NSIG; number++) sigaction(number, &usual, NULL);
    if (setsid() < 0) return errno;
    if (dup2(input, STDIN_FILENO) < 0) return errno;
    nothing = open("/dev/null", O_WRONLY);
    if (nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0) return errno;
    closefrom(STDERR_FILENO + 1);
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) != 0) return errno;
    execve(path, arguments, environment);
    return errno;
}

int clinux_kill_process(int process) {
    return result_of((int)syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0));
}

int clinux_start_program(const char *path, int input, int32_t *process) {
    volatile int failure = 0;
    pid_t starter = getpid();
    sigset_t all, before;
    sigfillset(&all);
    // No signal handler of ours may run in the new process while it shares our memory.
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t started = vfork();
    if (started == 0) {
        failure = become(path, input, starter);
        _exit(127);
    }
    if (started < 0) failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started > 0 && failure) {
        while (waitpid(started, NULL, 0) < 0 && errno == EINTR) continue;
    }
    if (!failure) *process = started;
    return failure;
}

int clinux_rename_without_replacing(int from_directory, const char *from, int to_directory, const char *to) {
    return result_of(renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE));
}

int clinux_rename_exchanging(int from_directory, const char *from, int to_directory, const char *to) {
    return result_of(renameat2(from_directory, from, to_directory, to, RENAME_EXCHANGE));
}

int clinux_reserve_space(int file, int64_t size) {
    int failure;
    do {
        failure = result_of(fallocate(file, 0, 0, size));
    } while (failure == EINTR);
    return failure;
}

int clinux_remove_access_list(int file) {
    if (fremovexattr(file, "system.posix_acl_access") == 0) return 0;
    return errno == ENODATA || errno == EOPNOTSUPP ? 0 : errno;
}

int clinux_memory_file(const char *label) {
    return descriptor_or_error(memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

static const int immutable = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

int clinux_seal_memory_file(int file) { return result_of(fcntl(file, F_ADD_SEALS, immutable)); }

int clinux_memory_file_is_sealed(int file) {
    int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0) return -errno;
    return (seals & immutable) == immutable;
}

int clinux_is_volatile(const char *path) {
    struct statfs status;
    if (statfs(path, &status) != 0) return 0;
    return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

struct clinux_option clinux_next_option(int count, char *const words[], int isFirst) {
    static const struct option options[] = {
        {"config", required_argument, NULL, CLINUX_OPTION_CONFIG},
        {"socket", required_argument, NULL, CLINUX_OPTION_SOCKET},
        {"state-dir", required_argument, NULL, CLINUX_OPTION_STATE_DIRECTORY},
        {"check-config", no_argument, NULL, CLINUX_OPTION_CHECK_CONFIG},
        {"version", no_argument, NULL, CLINUX_OPTION_VERSION},
        {"help", no_argument, NULL, CLINUX_OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    // `optind` 0 makes glibc reset its state.
    if (isFirst) optind = 0;
    opterr = 0;
    int position = optind == 0 ? 1 : optind;
    // '+' stops parsing at the first word that is not an option. ':' makes a missing value return ':' instead of '?'.
    int code = getopt_long(count, words, "+:h", options, NULL);
    if (code == 'h') code = CLINUX_OPTION_HELP;
    struct clinux_option found = {.code = code, .value = optarg, .position = position};
    if (code == '?' || code == ':') found.about = optopt;
    if (code == -1) found = (struct clinux_option){.position = optind};
    return found;
}
