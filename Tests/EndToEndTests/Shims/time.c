// Replaces the clocks and the alarm of the daemon with shifted ones. ShiftedTime controls them.
//
// JUNCTION_TEST_TIME names a folder. Its file `offsets` contains two 64-bit numbers in nanoseconds: the offset of the
// wall clock and the offset of the boot-time clock. A byte in the FIFO `set` reports that they have changed.
//
// - clock_gettime adds the offsets to CLOCK_REALTIME and CLOCK_BOOTTIME. Other clocks are unchanged.
// - The only timer on CLOCK_REALTIME is the alarm. The daemon sets it to a shifted time, and the kernel gets the true
//   time.
// - When the offsets change, the timer is set again to the same shifted time, which may have passed by then. If the
//   timer has TFD_TIMER_CANCEL_ON_SET, a read ends with ECANCELED, as it does after a clock change or a resume.
//
// Limits:
// - The shim needs 64-bit Linux.
// - A process has one alarm, and one thread reads it. Only the reader detects a change, not the thread that sets the
//   alarm.
// - Two clocks that are read one after another may be read before and after a change.
// - Other kernel interfaces use the true time: `time`, `gettimeofday`, waits for a wall-clock time, file times.

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

/// The offsets of the wall clock and of the boot-time clock. NULL if the clocks are not shifted.
static const int64_t *offsets;
static int changes = -1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int alarm_descriptor = -1;
static int alarm_flags;
/// The requested time, on the shifted clock.
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
    // Opened for reading and writing, so that a read never sees the end.
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
    // The reader also waits for changes, so the kernel must not block it in a read of the timer.
    int descriptor = (int)syscall(SYS_timerfd_create, clock, is_alarm ? flags | TFD_NONBLOCK : flags);
    if (is_alarm) alarm_descriptor = descriptor;
    return descriptor;
}

/// Sets the kernel's timer to the true time of the request. The caller holds the lock.
static int arm(struct itimerspec *old) {
    struct itimerspec true_time = alarm_time;
    int is_armed = alarm_time.it_value.tv_sec != 0 || alarm_time.it_value.tv_nsec != 0;
    if (is_armed && (alarm_flags & TFD_TIMER_ABSTIME)) {
        true_time.it_value = shifted(alarm_time.it_value, -offset_of(CLOCK_REALTIME));
        // A time before 1970 would be invalid and zero would disarm the timer, but the alarm must fire at once.
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

/// Sets the timer again if the offsets have changed. Returns whether the read must end with ECANCELED.
static int was_set_again(short events) {
    if (!(events & POLLIN)) return 0;
    forget_changes();
    pthread_mutex_lock(&lock);
    arm(NULL);
    int is_told = (alarm_flags & TFD_TIMER_CANCEL_ON_SET) != 0;
    pthread_mutex_unlock(&lock);
    return is_told;
}

/// Waits for the alarm or for a change of the offsets.
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
        // With EAGAIN the alarm was set to a later time in the meantime.
        if (result >= 0 || errno != EAGAIN) return result;
    }
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    if (descriptor >= 0 && descriptor == alarm_descriptor) return read_alarm(bytes, count);
    return syscall(SYS_read, descriptor, bytes, count);
}
