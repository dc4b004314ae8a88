#define _GNU_SOURCE

#include "inner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_mounted(const char *path, long kind) {
    struct statfs status;
    return statfs(path, &status) == 0 && status.f_type == kind;
}

/// In the order in which libsystemd searches.
static const char *mounted_hierarchy(void) {
    if (is_mounted("/sys/fs/cgroup", CGROUP2_SUPER_MAGIC)) return "/sys/fs/cgroup";
    if (is_mounted("/sys/fs/cgroup/unified", CGROUP2_SUPER_MAGIC)) return "/sys/fs/cgroup/unified";
    if (is_mounted("/sys/fs/cgroup/systemd", CGROUP_SUPER_MAGIC)) return "/sys/fs/cgroup/systemd";
    return NULL;
}

/// Visible only for this process and its children.
static int mount_hierarchy(void) {
    if (unshare(CLONE_NEWNS) != 0) return errno;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return errno;
    unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    return mount("cgroup2", "/sys/fs/cgroup", "cgroup2", flags, NULL) == 0 ? 0 : errno;
}

static int make_group(const char *hierarchy, const char *unit) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", hierarchy, unit);
    return mkdir(path, 0755) == 0 ? 0 : errno;
}

int instruments_make_group(const char *unit, const char **hierarchy) {
    *hierarchy = mounted_hierarchy();
    int failed = *hierarchy ? make_group(*hierarchy, unit) : ENOENT;
    if (*hierarchy && failed != EROFS) return failed;
    failed = mount_hierarchy();
    *hierarchy = "/sys/fs/cgroup";
    return failed ? failed : make_group(*hierarchy, unit);
}

static int join_group(const char *group) {
    char path[512];
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    int members = open(path, O_WRONLY | O_CLOEXEC);
    if (members < 0) return errno;
    // 0 stands for the writing process.
    int failed = write(members, "0", 1) == 1 ? 0 : errno;
    close(members);
    return failed;
}

static int become_caller(const char *group, uint32_t user) {
    int failed = group ? join_group(group) : 0;
    if (failed) return failed;
    if (setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0) return errno;
    // Last, because a change of the user would reset it.
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 ? 0 : errno;
}

int instruments_round_trips_by(
    const char *group, uint32_t user, const struct exchange *exchange, uint32_t count, struct timings *timings) {
    struct timings *theirs = mmap(NULL, sizeof *theirs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (theirs == MAP_FAILED) return errno;
    pid_t child = fork();
    if (child == 0) {
        int failed = become_caller(group, user);
        _exit(failed ? failed : instruments_round_trips(exchange, count, theirs));
    }
    int how = 0;
    int failed = child < 0 || waitpid(child, &how, 0) < 0 ? errno : 0;
    if (!failed) failed = WIFEXITED(how) ? WEXITSTATUS(how) : ECANCELED;
    *timings = *theirs;
    munmap(theirs, sizeof *theirs);
    return failed;
}
