"""A name server for tests: a thread, a socket, and a zone."""

import ipaddress
import socket
import struct
import threading

from suite.daemon import PATIENCE

A, AAAA = 1, 28


class NameServer:
    """Answers queries at port 53 of an address, unless the server is dead or the name is held.

    `zone` has the addresses of each name, of both families. Any other name does not exist.
    """

    def __init__(self, address, zone):
        self.zone = zone
        # Receives queries and answers none.
        self.is_dead = False
        # Answers SERVFAIL, as a server without its upstream does.
        self.is_broken = False
        self.asked = []
        self._held = {}
        self._news = threading.Condition()
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.socket.close()

    def hold(self, name):
        """Keeps queries for the name until `release`."""
        with self._news:
            self._held[name] = []

    def release(self, name):
        with self._news:
            questions = self._held.pop(name)
        for question, place in questions:
            self.socket.sendto(self._answer(question), place)

    def await_question(self, name, times=1):
        with self._news:
            return self._news.wait_for(lambda: self.asked.count(name) >= times, PATIENCE)

    def _serve(self):
        while True:
            try:
                question, place = self.socket.recvfrom(4096)
            except OSError:
                return
            name, _, _ = self._read(question)
            with self._news:
                self.asked.append(name)
                self._news.notify_all()
                if self.is_dead:
                    continue
                if name in self._held:
                    self._held[name].append((question, place))
                    continue
            self.socket.sendto(self._answer(question), place)

    @staticmethod
    def _read(question):
        """Returns the name, the record type, and the end of the question."""
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode().lower())
            at += 1 + question[at]
        return ".".join(labels), struct.unpack_from("!H", question, at + 1)[0], at + 5

    def _answer(self, question):
        name, kind, end = self._read(question)
        addresses = [ipaddress.ip_address(text) for text in self.zone.get(name, [])]
        fitting = [address for address in addresses if {4: A, 6: AAAA}[address.version] == kind]
        code = 2 if self.is_broken else 0 if name in self.zone else 3
        records = [] if self.is_broken else [
            struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(address.packed)) + address.packed for address in fitting
        ]
        head = question[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        return head + question[12:end] + b"".join(records)
