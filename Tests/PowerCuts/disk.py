"""File systems on images, mounted by a loop device."""

import ctypes
import errno
import fcntl
import os
import pathlib
import struct
import subprocess

KINDS = ("ext4", "xfs", "btrfs")

# The sizes are the smallest that the tools accept without warnings. The images are sparse.
SIZES = {"ext4": 32 << 20, "xfs": 300 << 20, "btrfs": 128 << 20}
MAKE = {
    "ext4": ["mkfs.ext4", "-q", "-b", "4096", "-m", "0", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-K"],
    "btrfs": ["mkfs.btrfs", "-q", "-K"],
}

LOOP_CTL_GET_FREE = 0x4C82
LOOP_CONFIGURE = 0x4C0A
LO_FLAGS_AUTOCLEAR = 4
BTRFS_IOC_FORGET_DEV = 0x50009405

libc = ctypes.CDLL(None, use_errno=True)


class NotMounted(Exception):
    """The kernel refuses to mount the image."""


def make(kind, image):
    """Makes an empty file system."""
    with open(image, "wb") as file:
        file.truncate(SIZES[kind])
    done = subprocess.run([*MAKE[kind], image], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{MAKE[kind][0]} failed: {done.stderr.strip()}")
    subprocess.run(["fallocate", "--dig-holes", image], check=True)


class Mounted:
    """A mounted image. The kernel frees the loop device with the last mount, also if this process is killed."""

    def __init__(self, kind, image, folder):
        self.kind = kind
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        device, descriptor = attach(image)
        self.device = device
        try:
            if libc.mount(device.encode(), os.fsencode(self.folder), kind.encode(), 0, None) != 0:
                raise NotMounted(os.strerror(ctypes.get_errno()))
        finally:
            os.close(descriptor)

    def unmount(self):
        while libc.umount2(os.fsencode(self.folder), 0) != 0:
            error = ctypes.get_errno()
            if error != errno.EBUSY:
                raise OSError(error, os.strerror(error), str(self.folder))
            # A network helper whose daemon was killed has not ended yet.
            os.sched_yield()
        if self.kind == "btrfs":
            self._forget()

    def _forget(self):
        """Lets the kernel forget the device, because it would not mount an older image of the same file system."""
        try:
            control = os.open("/dev/btrfs-control", os.O_RDWR)
        except FileNotFoundError:
            return
        try:
            fcntl.ioctl(control, BTRFS_IOC_FORGET_DEV, bytearray(struct.pack("<q4088s", 0, self.device.encode())))
        except OSError as error:
            # The device may be in use again: another story has mounted its own image on it, and the kernel has forgotten ours.
            if error.errno not in (errno.ENOENT, errno.EBUSY):
                raise
        finally:
            os.close(control)


def attach(image):
    """Returns a loop device of the image, and its descriptor. The device ends with the last mount or descriptor."""
    backing = os.open(image, os.O_RDWR)
    control = os.open("/dev/loop-control", os.O_RDWR)
    try:
        while True:
            device = f"/dev/loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
            descriptor = os.open(device, os.O_RDWR)
            try:
                fcntl.ioctl(descriptor, LOOP_CONFIGURE, configuration(backing))
                return device, descriptor
            except OSError as error:
                os.close(descriptor)
                if error.errno != errno.EBUSY:
                    raise
                # Another process took this device: take the next one.
    finally:
        os.close(backing)
        os.close(control)


def configuration(backing):
    """`struct loop_config` of linux/loop.h, without direct I/O."""
    return struct.pack("<II52xI176x64x", backing, 0, LO_FLAGS_AUTOCLEAR)


def fill(ballast):
    """Takes all free space of the file system for the file."""
    with open(ballast, "ab") as file:
        taken = os.fstat(file.fileno()).st_size
        for size in (1 << 20, 1 << 16, 1 << 12):
            try:
                while True:
                    os.posix_fallocate(file.fileno(), taken, size)
                    taken += size
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
