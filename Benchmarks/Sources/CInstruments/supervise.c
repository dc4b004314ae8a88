#define _GNU_SOURCE

#include "inner.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

/// Orphans become children of this process (PR_SET_CHILD_SUBREAPER), so repetition finds all descendants.
static void end_everybody(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    for (;;) {
        FILE *children = fopen(path, "r");
        int child;
        while (children && fscanf(children, "%d", &child) == 1) kill(child, SIGKILL);
        if (children) fclose(children);
        if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD) return;
    }
}

/// Waits for the worker and forwards signals to it.
static int await_worker(pid_t worker, uint32_t seconds) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    struct pollfd wanted[] = {
        {.fd = (int)syscall(SYS_pidfd_open, worker, 0), .events = POLLIN},
        {.fd = signalfd(-1, &signals, SFD_CLOEXEC), .events = POLLIN},
    };
    int ready = poll(wanted, 2, (int)(seconds * 1000));
    if (ready == 0) fprintf(stderr, "bench: gave up after %u s\n", seconds);
    if (!(wanted[0].revents & POLLIN)) kill(worker, SIGKILL);
    int how = 0;
    waitpid(worker, &how, 0);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}

int instruments_supervise(const char *on_disk, const char *in_memory, const char *group, uint32_t seconds) {
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return errno;
    pid_t worker = fork();
    if (worker < 0) return errno;
    if (worker == 0) {
        prctl(PR_SET_CHILD_SUBREAPER, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return 0;
    }
    int status = await_worker(worker, seconds);
    end_everybody();
    nftw(on_disk, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    nftw(in_memory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (group && rmdir(group) != 0) fprintf(stderr, "bench: %s is left behind: %s\n", group, strerror(errno));
    _exit(status);
}
