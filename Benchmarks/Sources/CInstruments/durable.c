#define _GNU_SOURCE

#include "inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int replace_once(int directory, const uint8_t *bytes, size_t size) {
    int file = openat(directory, "record.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    int failed = write(file, bytes, size) == (ssize_t)size ? 0 : EIO;
    if (!failed && fsync(file) != 0) failed = errno;
    if (close(file) != 0 && !failed) failed = errno;
    if (!failed && renameat(directory, "record.new", directory, "record") != 0) failed = errno;
    if (!failed && fsync(directory) != 0) failed = errno;
    return failed;
}

int instruments_durable_writes(const char *path, size_t size, uint32_t count, struct timings *timings) {
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return errno;
    uint32_t *nanoseconds = calloc(count, sizeof *nanoseconds);
    uint8_t *bytes = malloc(size);
    int failed = nanoseconds && bytes ? 0 : ENOMEM;
    for (uint32_t i = 0; !failed && i < count; i++) {
        memset(bytes, (int)i, size);
        int64_t before = instruments_now();
        failed = replace_once(directory, bytes, size);
        nanoseconds[i] = (uint32_t)(instruments_now() - before);
    }
    if (!failed) sum_up(nanoseconds, count, timings);
    unlinkat(directory, "record", 0);
    free(bytes);
    free(nanoseconds);
    close(directory);
    return failed;
}
