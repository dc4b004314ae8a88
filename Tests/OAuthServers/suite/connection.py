"""A connection to the socket of junctiond."""

import json
import socket


class Refused(Exception):
    """An error of the daemon."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.message = error["message"]
        self.kind = error.get("data", {}).get("kind")


class Connection:
    """A JSON-RPC connection, with one message per line."""

    def __init__(self, path, patience):
        """`patience`: the timeout of every wait, in seconds."""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(patience)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.last = 0
        self.answers = {}
        # The credential that answers the daemon's question, if a case expects one.
        self.credential = None
        self.news = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()

    def send(self, method, /, **params):
        self.last += 1
        self._write({"id": self.last, "method": method, "params": params})
        return self.last

    def answer(self, request):
        while request not in self.answers:
            self._read()
        message = self.answers.pop(request)
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def call(self, method, /, **params):
        return self.answer(self.send(method, **params))

    def until(self, fits):
        snapshot = self.call("session.subscribe")
        while not fits(snapshot):
            while not self.news:
                self._read()
            snapshot = self.news.pop(0)
        return snapshot

    def _write(self, message):
        self.socket.sendall(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")

    def _read(self):
        line = self.lines.readline()
        if not line:
            raise ConnectionError("the daemon closed the connection")
        message = json.loads(line)
        if message.get("method") == "session.changed":
            self.news.append(message["params"]["snapshot"])
        elif message.get("method") == "session.authenticate":
            self._write({"id": message["id"], "result": self.credential})
        else:
            self.answers[message.get("id")] = message
