// Replaces fsync in the daemon with a slow or failing one. StallingDisk and BrokenDisk control it.
//
// JUNCTION_TEST_DISK names a folder. While it contains a file `hold`, fsync writes a line to the FIFO `held` and waits
// for a byte from the FIFO `go`. While it contains a file `broken`, every fsync fails with EIO.

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int path_in(const char *folder, const char *name, char path[4096]) {
    return snprintf(path, 4096, "%s/%s", folder, name) < 4096;
}

static void wait_while_held(const char *folder) {
    char path[4096], byte = '\n';
    if (!path_in(folder, "hold", path) || access(path, F_OK) != 0) return;
    int held = path_in(folder, "held", path) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    int go = path_in(folder, "go", path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (held < 0 || go < 0 || write(held, &byte, 1) != 1) {
        fprintf(stderr, "There is no stalling disk in %s\n", folder);
        abort();
    }
    while (read(go, &byte, 1) < 0 && errno == EINTR) {}
    close(held);
    close(go);
}

static int is_broken(const char *folder) {
    char path[4096];
    return path_in(folder, "broken", path) && access(path, F_OK) == 0;
}

int fsync(int descriptor) {
    const char *folder = getenv("JUNCTION_TEST_DISK");
    if (folder != NULL) {
        wait_while_held(folder);
        if (is_broken(folder)) {
            errno = EIO;
            return -1;
        }
    }
    return (int)syscall(SYS_fsync, descriptor);
}
