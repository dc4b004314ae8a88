"""Runs the tutorial's blocks in one shell, and compares what they print with the ```text block that follows."""

import fcntl
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Seconds for one block, far more than any block needs. A block that hangs is reported before CI's own timeout.
LIMIT = 120


class Block:
    """Commands and their expected output, or None if the tutorial does not show it."""

    def __init__(self, line: int, commands: str):
        self.line = line
        self.commands = commands
        self.expected: "str | None" = None


def blocks(text: str) -> "list[Block]":
    found: "list[Block]" = []
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        language, body = match.groups()
        if language == "sh":
            found.append(Block(text.count("\n", 0, match.start()) + 2, body))
        elif language == "text":
            found[-1].expected = body
        elif language != "console":  # A console block needs root. Tests/System tests it.
            raise SystemExit(f"docs/tutorial.md: a block of {language}, which nothing here runs or compares")
    return found


def matches(expected: str, printed: str) -> bool:
    """Compares output with a pattern. `…` stands for any text in a line, and alone on a line for any lines."""
    lines = [
        r"(?:.*\n)*?" if line == "…" else ".*".join(re.escape(part) for part in line.split("…")) + r"\n"
        for line in expected.splitlines()
    ]
    return re.fullmatch("".join(lines), printed) is not None


class Shell:
    """One bash for the whole tutorial, so that directory, variables and jobs persist between blocks."""

    def __init__(self, home: str, binaries: str):
        # A reader has the library from its package, and maybe no checkout.
        library = ROOT / "clients/python/src"
        environment = {
            "HOME": home, "PATH": f"{binaries}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
            "PYTHONPATH": str(library), "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.output, end = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, stdout=end, stderr=end, cwd=home, env=environment, text=True,
            start_new_session=True,
        )
        os.close(end)
        self.left = b""
        # A command that fails ends the shell, because a reader would stop there.
        self.process.stdin.write("set -e -o pipefail\n")

    def run(self, commands: str, number: int) -> "str | None":
        """Returns the output, or None if the shell ended."""
        mark = f"--- {number} is done ---\n"
        self.process.stdin.write(f"{commands}\nprintf %s {mark[:-1]!r} $'\\n'\n")
        self.process.stdin.flush()
        while mark.encode() not in self.left:
            some = os.read(self.output, 65536)
            if not some:
                return None
            self.left += some
        printed, _, self.left = self.left.partition(mark.encode())
        # Remove bash's own message about a killed job.
        return re.sub(r"^bash: line \d+: .*Killed.*\n", "", printed.decode(), flags=re.MULTILINE)

    def end(self):
        """Kills the shell and its child processes."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def bring_loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anything:
        up_and_running = 0x1 | 0x40
        fcntl.ioctl(anything, 0x8914, struct.pack("16sh14x", b"lo", up_and_running))  # SIOCSIFFLAGS


def main() -> int:
    bring_loopback_up()
    tutorial = blocks((ROOT / "docs/tutorial.md").read_text())
    passed = 0
    with tempfile.TemporaryDirectory(prefix="tutorial-", dir="/tmp") as home:
        shell = Shell(home, sys.argv[1])
        try:
            for number, block in enumerate(tutorial, 1):
                overdue = threading.Timer(LIMIT, shell.end)
                overdue.start()
                printed = shell.run(block.commands, number)
                overdue.cancel()
                wrong = printed is None or (block.expected is not None and not matches(block.expected, printed))
                print(f"{'FAILED' if wrong else 'ok    '} docs/tutorial.md:{block.line}: {block.commands.splitlines()[0]}")
                if wrong:
                    print(shell.left.decode() if printed is None else printed)
                    for log in pathlib.Path(home).glob("tutorial/*.log"):
                        print(f"--- {log.name}:\n{log.read_text()}")
                    break
                passed += 1
        finally:
            shell.end()
    failed = len(tutorial) - passed
    print(f"Tutorial: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
