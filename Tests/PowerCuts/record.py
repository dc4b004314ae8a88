"""The record of writes and flushes, the events of a story, and the images that a power cut may leave."""

import bisect
import dataclasses
import os
import pathlib
import struct
import threading

HEAD = struct.Struct("<QQ")
SECTOR = 512
# The offsets of the superblocks whose checksum covers more than one sector. The file systems rely on a disk that writes these
# whole or not at all, and do not mount otherwise.
WHOLE = {"ext4": {0}, "xfs": set(), "btrfs": {64 << 10, 64 << 20}}

# What a cut leaves of the writes since the last flush: nothing, everything, some of them, or parts of some of them.
MODES = ("none", "all", "some", "torn")


@dataclasses.dataclass
class Event:
    """Something that was visible outside the disk. `position`: the size of the record at that moment."""

    position: int
    kind: str
    facts: dict


class Timeline:
    """The events of a story, in their order."""

    def __init__(self, record):
        self.record = pathlib.Path(record)
        self.events = []
        self._lock = threading.Lock()

    def add(self, kind, **facts):
        with self._lock:
            self.events.append(Event(self.record.stat().st_size, kind, facts))


class Record:
    """The entries of a finished record."""

    def __init__(self, path):
        self.bytes = memoryview(pathlib.Path(path).read_bytes())
        # The place of the written bytes in the record, their offset on the disk, and their length (0: a flush).
        self.entries = []
        self.ends = []
        place = 0
        while place + HEAD.size <= len(self.bytes):
            offset, length = HEAD.unpack_from(self.bytes, place)
            place += HEAD.size
            if place + length > len(self.bytes):
                break
            self.entries.append((place, offset, length))
            place += length
            self.ends.append(place)

    def count(self, position):
        """Returns how many entries were complete when the record had this size."""
        return bisect.bisect_right(self.ends, position)

    def position(self, count):
        return self.ends[count - 1] if count else 0


class Images:
    """Makes images for cuts. The cuts have to come in the order of their entries.

    `ignoring_flushes_after`: the number of entries after which flushes have no effect. That is a broken disk.
    """

    def __init__(self, kind, record, base, durable, ignoring_flushes_after=None):
        self.whole = WHOLE[kind]
        self.record = record
        self.durable = durable
        self.done = 0
        self.seen = 0
        self.last_honoured = ignoring_flushes_after
        copy_sparse(base, durable)

    def write(self, count, mode, random, target):
        """Writes the image of a cut after `count` entries."""
        self._advance(count)
        copy_sparse(self.durable, target)
        with open(target, "r+b", buffering=0) as file:
            for place, offset, length in self.record.entries[self.done:count]:
                if length:
                    for start, end in kept(length, mode, random, offset in self.whole):
                        os.pwrite(file.fileno(), self.record.bytes[place + start:place + end], offset + start)

    def _advance(self, count):
        """Applies the writes before the last flush to the durable image."""
        last = max((index + 1 for index in range(self.seen, count) if self._is_flush(index)), default=self.done)
        self.seen = count
        if last == self.done:
            return
        with open(self.durable, "r+b", buffering=0) as file:
            for place, offset, length in self.record.entries[self.done:last]:
                os.pwrite(file.fileno(), self.record.bytes[place:place + length], offset)
        self.done = last

    def _is_flush(self, index):
        is_honoured = self.last_honoured is None or index < self.last_honoured
        return self.record.entries[index][2] == 0 and is_honoured


def kept(length, mode, random, is_whole):
    """Yields the parts of a write that the cut leaves."""
    if mode == "torn":
        mode = "some" if is_whole else random.choice(("none", "all", "torn"))
    if mode == "all" or mode == "some" and random.random() < 0.5:
        yield 0, length
    elif mode == "torn":
        for start in range(0, length, SECTOR):
            if random.random() < 0.5:
                yield start, min(start + SECTOR, length)


def copy_sparse(source, target):
    """Copies the parts of a file that are not holes."""
    with open(source, "rb", buffering=0) as reading, open(target, "wb", buffering=0) as writing:
        size = os.fstat(reading.fileno()).st_size
        writing.truncate(size)
        place = 0
        while True:
            try:
                place = os.lseek(reading.fileno(), place, os.SEEK_DATA)
            except OSError:  # There is no data after this place.
                return
            end = os.lseek(reading.fileno(), place, os.SEEK_HOLE)
            os.lseek(writing.fileno(), place, os.SEEK_SET)
            while place < end:
                place += os.sendfile(writing.fileno(), reading.fileno(), place, end - place)
