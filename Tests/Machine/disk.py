"""A disk with a volatile write cache, served to QEMU as a network block device.

A write is in the cache until the machine flushes. A power cut keeps any part of the cache: for each block of 4 KiB the cut keeps what was
flushed, or any later version. A seed decides which. A file that is never changed has the blocks that were never written.
"""

import os
import pathlib
import socket
import struct
import threading

BLOCK = 4096
READ, WRITE, DISCONNECT, FLUSH, TRIM = 0, 1, 2, 3, 4
FORCE_UNIT_ACCESS = 1
# In the handshake.
EXPORT_NAME, ABORT, GO = 1, 2, 7
ACKNOWLEDGED, EXPORT_INFORMATION, UNSUPPORTED = 1, 3, 0x80000001
HAS_FLAGS, SENDS_FLUSH, SENDS_FUA = 1, 4, 8
OPTION_REPLY, REQUEST, REPLY = 0x3E889045565A9, 0x25609513, 0x67446698


class VolatileDisk:
    def __init__(self, path, base, random):
        self.path = pathlib.Path(path)
        self.base = os.open(base, os.O_RDONLY)
        self.size = os.fstat(self.base).st_size
        self.random = random
        # What a power cut keeps, and all versions of each block that were written since the last flush, the oldest first.
        self.kept = {}
        self.cached = {}
        self.lock = threading.Lock()
        self.powered = 0
        self.losses = []
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(self.path))
        self.server.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def options(self):
        return f"file.driver=nbd,file.server.type=unix,file.server.path={self.path},format=raw,cache=none"

    def cut(self):
        """Loses a part of the cache. Requests of the machine that has no power any more are ignored."""
        with self.lock:
            self.powered += 1
            chance = self.random.choice((0, 0.5, self.random.random(), 1))
            lost = 0
            for block, versions in self.cached.items():
                if self.random.random() < chance:
                    self.kept[block] = self.random.choice(versions)
                    lost += self.kept[block] is not versions[-1]
                else:
                    lost += 1
            self.losses.append((len(self.cached), lost))
            self.cached = {}

    def flush(self):
        for block, versions in self.cached.items():
            self.kept[block] = versions[-1]
        self.cached = {}

    # ---- blocks ----

    def _block(self, number):
        if versions := self.cached.get(number):
            return versions[-1]
        if (kept := self.kept.get(number)) is not None:
            return kept
        return os.pread(self.base, BLOCK, number * BLOCK).ljust(BLOCK, b"\0")

    def read(self, offset, length):
        first, end = offset // BLOCK, -(-(offset + length) // BLOCK)
        if not any(number in self.cached or number in self.kept for number in range(first, end)):
            return os.pread(self.base, length, offset).ljust(length, b"\0")
        content = b"".join(self._block(number) for number in range(first, end))
        return content[offset - first * BLOCK:][:length]

    def write(self, offset, content, is_durable):
        position = 0
        while position < len(content):
            number, inside = divmod(offset + position, BLOCK)
            part = content[position:position + BLOCK - inside]
            if len(part) < BLOCK:
                old = self._block(number)
                part = old[:inside] + part + old[inside + len(part):]
                position += min(BLOCK - inside, len(content) - position)
            else:
                position += BLOCK
            if is_durable:
                # The older versions in the cache must not replace this one.
                self.cached.pop(number, None)
                self.kept[number] = part
            else:
                self.cached.setdefault(number, []).append(part)

    # ---- the protocol ----

    def _accept(self):
        while True:
            connection, _ = self.server.accept()
            threading.Thread(target=self._serve, args=(connection, self.powered), daemon=True).start()

    def _serve(self, connection, powered):
        try:
            with connection, connection.makefile("rb", 1 << 20) as source:
                if self._shake_hands(connection, source):
                    self._answer(connection, source, powered)
        except (ConnectionError, EOFError, struct.error):
            pass  # QEMU was killed.

    def _shake_hands(self, connection, source):
        connection.sendall(b"NBDMAGICIHAVEOPT" + struct.pack(">H", 3))
        exact(source, 4)
        while True:
            _, option, length = struct.unpack(">QII", exact(source, 16))
            exact(source, length)
            flags = HAS_FLAGS | SENDS_FLUSH | SENDS_FUA
            if option == GO:
                information = struct.pack(">HQH", 0, self.size, flags)
                connection.sendall(struct.pack(">QIII", OPTION_REPLY, option, EXPORT_INFORMATION, len(information)) + information)
                connection.sendall(struct.pack(">QIII", OPTION_REPLY, option, ACKNOWLEDGED, 0))
                return True
            if option == EXPORT_NAME:
                connection.sendall(struct.pack(">QH", self.size, flags))
                return True
            connection.sendall(struct.pack(">QIII", OPTION_REPLY, option, ACKNOWLEDGED if option == ABORT else UNSUPPORTED, 0))
            if option == ABORT:
                return False

    def _answer(self, connection, source, powered):
        while True:
            _, flags, kind, handle, offset, length = struct.unpack(">IHHQQI", exact(source, 28))
            content = exact(source, length) if kind == WRITE else b""
            if kind == DISCONNECT:
                return
            with self.lock:
                if powered != self.powered:
                    return
                if kind == READ:
                    content = self.read(offset, length)
                elif kind == WRITE:
                    self.write(offset, content, bool(flags & FORCE_UNIT_ACCESS))
                    content = b""
                elif kind == FLUSH:
                    self.flush()
            connection.sendall(struct.pack(">IIQ", REPLY, 0, handle) + content)


def exact(source, length):
    content = source.read(length)
    if len(content) < length:
        raise EOFError
    return content
