/* A FUSE file system with one file, `disk`, that records each write and each flush.
 *
 *   recorder IMAGE RECORD FOLDER
 *
 * The file `disk` in FOLDER has the content of IMAGE. RECORD gets one entry for each request, before the request is answered:
 * two little-endian 64-bit numbers, the offset and the length, and then the written bytes. A flush has the length 0. So the size
 * of RECORD says how much has happened.
 *
 * The program prints a line when FOLDER is mounted. It handles one request at a time, and ends when FOLDER is unmounted.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char name[] = "/disk";
static int image, record;

/* A record with a gap would make wrong images, so the program ends instead. */
static void append(uint64_t offset, const void *bytes, uint64_t length) {
    uint64_t head[] = {offset, length};
    struct iovec parts[] = {{head, sizeof head}, {(void *)bytes, length}};
    if (writev(record, parts, 2) != (ssize_t)(sizeof head + length)) {
        perror("recorder: the record cannot be written");
        _exit(1);
    }
}

static void *begin(struct fuse_conn_info *connection, struct fuse_config *settings) {
    (void)connection;
    settings->direct_io = 1; /* The kernel keeps no copy: each write and read of the loop device arrives here. */
    puts("mounted");
    fflush(stdout);
    return NULL;
}

static int get_attributes(const char *path, struct stat *attributes, struct fuse_file_info *file) {
    (void)file;
    memset(attributes, 0, sizeof *attributes);
    if (strcmp(path, "/") == 0) {
        attributes->st_mode = S_IFDIR | 0700;
        attributes->st_nlink = 2;
        return 0;
    }
    if (strcmp(path, name) != 0) return -ENOENT;
    struct stat of_image;
    if (fstat(image, &of_image) < 0) return -errno;
    attributes->st_mode = S_IFREG | 0600;
    attributes->st_nlink = 1;
    attributes->st_size = of_image.st_size;
    return 0;
}

static int open_disk(const char *path, struct fuse_file_info *file) {
    (void)file;
    return strcmp(path, name) == 0 ? 0 : -ENOENT;
}

static int read_disk(const char *path, char *bytes, size_t length, off_t offset, struct fuse_file_info *file) {
    (void)path, (void)file;
    ssize_t got = pread(image, bytes, length, offset);
    return got < 0 ? -errno : (int)got;
}

static int write_disk(const char *path, const char *bytes, size_t length, off_t offset, struct fuse_file_info *file) {
    (void)path, (void)file;
    append((uint64_t)offset, bytes, length);
    ssize_t put = pwrite(image, bytes, length, offset);
    return put < 0 ? -errno : (int)put;
}

static int flush_disk(const char *path, int only_data, struct fuse_file_info *file) {
    (void)path, (void)only_data, (void)file;
    append(0, NULL, 0);
    return 0;
}

/* Without `fallocate`, the kernel writes zeros instead, and they are recorded. */
static const struct fuse_operations operations = {
    .init = begin, .getattr = get_attributes, .open = open_disk, .read = read_disk, .write = write_disk, .fsync = flush_disk,
};

int main(int count, char **arguments) {
    if (count != 4) return fprintf(stderr, "usage: recorder IMAGE RECORD FOLDER\n"), 64;
    image = open(arguments[1], O_RDWR | O_CLOEXEC);
    record = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (image < 0 || record < 0) return perror("recorder"), 1;
    char *options[] = {arguments[0], "-f", "-s", arguments[3], NULL};
    return fuse_main(4, options, &operations, NULL);
}
