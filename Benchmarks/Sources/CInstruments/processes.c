#define _GNU_SOURCE

#include "inner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(const struct launch *launch, const sigset_t *signals) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(launch->output, STDOUT_FILENO);
    dup2(launch->errors, STDERR_FILENO);
    sigprocmask(SIG_SETMASK, signals, NULL);
    execve(launch->program, launch->arguments, launch->environment);
    _exit(127);
}

int instruments_launch(const struct launch *launch, int32_t *process, int64_t *at) {
    // vfork: fork would copy the page tables of this process, which would be part of the measurement.
    sigset_t everything, before;
    sigfillset(&everything);
    sigprocmask(SIG_BLOCK, &everything, &before);
    *at = instruments_now();
    pid_t child = vfork();
    if (child == 0) become(launch, &before);
    int failed = child < 0 ? errno : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    *process = child;
    return failed;
}

int instruments_await_end(int32_t process, uint32_t milliseconds, int32_t *status) {
    int handle = (int)syscall(SYS_pidfd_open, process, 0);
    if (handle < 0) return errno;
    struct pollfd wanted = {.fd = handle, .events = POLLIN};
    int ready = poll(&wanted, 1, (int)milliseconds);
    close(handle);
    if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
    int how = 0;
    // A process that detached itself is not our child, but it has ended as well.
    pid_t ended = waitpid(process, &how, 0);
    if (ended < 0 && errno == ECHILD) return *status = 0;
    if (ended < 0) return errno;
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return 0;
}

int instruments_bind(int32_t process, int processor) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    long configured = sysconf(_SC_NPROCESSORS_CONF);
    for (long i = 0; i < configured; i++) {
        if (processor < 0 || processor == i) CPU_SET(i, &processors);
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", process ? process : getpid());
    DIR *threads = opendir(path);
    if (!threads) return errno;
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(threads));) {
        pid_t thread = atoi(entry->d_name);
        if (thread > 0 && sched_setaffinity(thread, sizeof processors, &processors) != 0 && errno != ESRCH) {
            failed = errno;
        }
    }
    closedir(threads);
    return failed;
}

int instruments_prefer(void) {
    struct sched_param parameters = {.sched_priority = 5};
    return sched_setscheduler(0, SCHED_FIFO, &parameters) == 0 ? 0 : errno;
}

uint32_t instruments_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > UINT32_MAX ? UINT32_MAX : (uint32_t)limit.rlim_cur;
}
