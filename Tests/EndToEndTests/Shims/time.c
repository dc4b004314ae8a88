// The clocks and the alarm as a shifted machine would have them: preloaded into the daemon, driven by ShiftedTime.
//
// JUNCTION_TEST_TIME names a folder. In it, `offsets` holds two 64-bit numbers in nanoseconds: what is added to the wall
// clock, and what is added to the clock that counts since boot. A byte in the FIFO `set` says that they have changed.
//
// - clock_gettime answers CLOCK_REALTIME and CLOCK_BOOTTIME with their offsets; every other clock is left alone.
// - The one timer on CLOCK_REALTIME is the alarm. What it is set to is a shifted time, and the kernel gets the true one.
// - When the offsets change, the timer is set to the same shifted time again, which may have passed by then, and a read
//   of a timer that asked for it (TFD_TIMER_CANCEL_ON_SET) ends with ECANCELED, as it does when somebody sets the
//   kernel's clock or the machine resumes.
//
// Limits: 64-bit Linux; one alarm in a process, read by a thread that waits for it; a change is told to who reads the
// alarm, never to who sets it; two clocks that are read one after the other may be read before and after a change; what
// asks the kernel by itself has the true time (`time`, `gettimeofday`, waits until a wall-clock time, files' times).

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;

/// The wall clock's, and that of the clock since boot. Absent in a process that nobody shifts.
static const int64_t *offsets;
static int changes = -1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int alarm_descriptor = -1;
static int alarm_flags;
/// As it was asked for, by the shifted clock.
static struct itimerspec alarm_time;

static int64_t offset_of(clockid_t clock) {
    if (offsets == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME)) return 0;
    return __atomic_load_n(&offsets[clock == CLOCK_REALTIME ? 0 : 1], __ATOMIC_SEQ_CST);
}

static struct timespec shifted(struct timespec time, int64_t by) {
    int64_t nanoseconds = time.tv_sec * second + time.tv_nsec + by;
    return (struct timespec){.tv_sec = nanoseconds / second, .tv_nsec = nanoseconds % second};
}

static int open_in(const char *folder, const char *name, int flags) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return -1;
    return open(path, flags | O_CLOEXEC);
}

static void forget_changes(void) {
    char bytes[64];
    while (syscall(SYS_read, changes, bytes, sizeof bytes) > 0) {}
}

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("JUNCTION_TEST_TIME");
    if (folder == NULL) return;
    int file = open_in(folder, "offsets", O_RDONLY);
    void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, 2 * sizeof *offsets, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    // Both ends are open, so that it never comes to an end.
    changes = open_in(folder, "set", O_RDWR | O_NONBLOCK);
    if (mapped == MAP_FAILED || changes < 0) {
        fprintf(stderr, "There is no shifted time in %s\n", folder);
        abort();
    }
    forget_changes();
    offsets = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    int64_t offset = result == 0 ? offset_of(clock) : 0;
    if (offset != 0) *time = shifted(*time, offset);
    return result;
}

int timerfd_create(clockid_t clock, int flags) {
    int is_alarm = offsets != NULL && clock == CLOCK_REALTIME;
    // Whoever reads it waits for another time too, so the kernel must not let them wait for the timer alone.
    int descriptor = (int)syscall(SYS_timerfd_create, clock, is_alarm ? flags | TFD_NONBLOCK : flags);
    if (is_alarm) alarm_descriptor = descriptor;
    return descriptor;
}

/// Sets the kernel's timer to the true time of what was asked for. The lock is held.
static int arm(struct itimerspec *old) {
    struct itimerspec true_time = alarm_time;
    int is_armed = alarm_time.it_value.tv_sec != 0 || alarm_time.it_value.tv_nsec != 0;
    if (is_armed && (alarm_flags & TFD_TIMER_ABSTIME)) {
        true_time.it_value = shifted(alarm_time.it_value, -offset_of(CLOCK_REALTIME));
        // Before 1970, or disarmed: it is to ring at once.
        if (true_time.it_value.tv_sec < 1) true_time.it_value = (struct timespec){.tv_sec = 1};
    }
    return (int)syscall(SYS_timerfd_settime, alarm_descriptor, alarm_flags, &true_time, old);
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *time, struct itimerspec *old) {
    if (descriptor < 0 || descriptor != alarm_descriptor) {
        return (int)syscall(SYS_timerfd_settime, descriptor, flags, time, old);
    }
    pthread_mutex_lock(&lock);
    alarm_flags = flags;
    alarm_time = *time;
    int result = arm(old);
    pthread_mutex_unlock(&lock);
    return result;
}

/// Sets the timer anew if the offsets have changed. Returns whether its reader is to be told.
static int was_set_again(short events) {
    if (!(events & POLLIN)) return 0;
    forget_changes();
    pthread_mutex_lock(&lock);
    arm(NULL);
    int is_told = (alarm_flags & TFD_TIMER_CANCEL_ON_SET) != 0;
    pthread_mutex_unlock(&lock);
    return is_told;
}

/// Waits for the alarm, or for another time.
static ssize_t read_alarm(void *bytes, size_t count) {
    while (1) {
        struct pollfd awaited[] = {{.fd = alarm_descriptor, .events = POLLIN}, {.fd = changes, .events = POLLIN}};
        if (poll(awaited, 2, -1) < 0) return -1;
        if (was_set_again(awaited[1].revents)) {
            errno = ECANCELED;
            return -1;
        }
        if (!(awaited[0].revents & POLLIN)) continue;
        ssize_t result = syscall(SYS_read, alarm_descriptor, bytes, count);
        // It may have been set to a later time since.
        if (result >= 0 || errno != EAGAIN) return result;
    }
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    if (descriptor >= 0 && descriptor == alarm_descriptor) return read_alarm(bytes, count);
    return syscall(SYS_read, descriptor, bytes, count);
}
