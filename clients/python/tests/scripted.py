"""A daemon in this process that answers each request with a function."""

import concurrent.futures
import json
import os
import socket
import threading

SNAPSHOT = {
    "revision": 1, "changedAt": "2026-11-22T10:00:00Z", "state": "notLoggedIn", "flags": [], "provider": "junction",
    "storage": {"status": "ok", "readable": True, "sealedWith": "file", "durable": True},
}
PATIENCE = 120


class Peer:
    """The daemon's end of one connection."""

    def __init__(self, end):
        self.end = end

    def send(self, **message):
        try:
            self.end.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        except OSError:
            # The client has closed the connection.
            pass


class ScriptedDaemon:
    """Calls `respond(peer, message)` for each line and `gone()` at the end, in one thread for each connection."""

    def __init__(self, path, respond, gone=lambda: None):
        self.path = path
        self.respond = respond
        self.gone = gone
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                end, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(end,), daemon=True).start()

    def _serve(self, end):
        peer = Peer(end)
        with end, end.makefile("rb") as lines:
            try:
                for line in lines:
                    # The client may close the connection within a line.
                    if line.endswith(b"\n"):
                        self.respond(peer, json.loads(line))
            except OSError:
                pass
        self.gone()

    def close(self):
        # `shutdown` wakes the thread that accepts.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)


def in_background(function):
    """Calls the function in a thread that does not keep the program alive. Returns the future of its result."""
    outcome = concurrent.futures.Future()

    def run():
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome


def in_thread(function):
    """Calls the function in a thread and returns its result. A deadlock fails the test, instead of blocking it."""
    return in_background(function).result(PATIENCE)
