"""A machine: QEMU with a disk, a TPM, a network card and a clock. The test runs commands in it through a virtual serial port."""

import base64
import json
import pathlib
import select
import socket
import subprocess
import time

from servers.server import end_with_parent

# How long a boot may take, without hardware acceleration and beside other work.
BOOT = 240

# `no_timer_check` and `tsc=unstable`: beside other work, QEMU is too slow for what the kernel measures at its start. Such a kernel stops, or
# its clock runs at another speed.
KERNEL_OPTIONS = (
    "root=/dev/nvme0n1 rw console=ttyS0 quiet net.ifnames=0 mitigations=off nowatchdog panic=-1 no_timer_check tsc=unstable "
    "clocksource=hpet mem_sleep_default=deep systemd.show_status=no systemd.mask=getty.target systemd.mask=getty-static.service"
)


class Failed(Exception):
    """Something that the test waited for did not happen, or a command in the machine failed."""


def connect(path, seconds=20):
    """Returns a connection to the socket, which a new process makes soon."""
    deadline = time.monotonic() + seconds
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
            return connection
        except OSError as error:
            connection.close()
            if time.monotonic() > deadline:
                raise Failed(f"{path} cannot be connected to: {error}") from error
            time.sleep(0.02)


class Lines:
    """A connection that carries lines."""

    def __init__(self, connection):
        self.connection = connection
        self.rest = b""

    def write(self, line):
        self.connection.sendall(line.encode() + b"\n")

    def read(self, deadline):
        """Returns the next line, or `None` at the deadline. A closed connection is `Failed`."""
        while b"\n" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.connection], [], [], left)[0]:
                return None
            try:
                received = self.connection.recv(65536)
            except ConnectionError:
                received = b""
            if not received:
                raise Failed("the machine has ended")
            self.rest += received
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode(errors="replace")


class Overlay:
    """A disk file above a read-only one. Each acknowledged write stays after a power cut if the machine has `write-through`."""

    def __init__(self, file, base, cache="writeback"):
        self.file = file
        self.cache = cache
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", base.suffix[1:], "-b", base, file], check=True)

    @property
    def options(self):
        return f"file={self.file},format=qcow2,cache={self.cache}"

    def cut(self):
        pass


class Machine:
    """One machine. `start` turns it on, `cut` removes its power, and `run` runs a command in it."""

    def __init__(self, folder, kernel, disk, tpm):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.kernel = kernel
        self.disk = disk
        self.tpm = tpm
        self.process = None
        self.boots = 0
        self.requests = 0
        self.events = []

    # ---- power ----

    def start(self, clock=None, extra=(), kernel_options=""):
        """Turns the machine on.

        `clock`: what its clock shows, in seconds since 1970 (default: the right time). `extra`: options of QEMU.
        """
        self.tpm.start()
        self.boots += 1
        self.began = time.monotonic()
        agent, control = self.folder / "agent", self.folder / "qmp"
        for path in (agent, control):
            path.unlink(missing_ok=True)
        base = "utc" if clock is None else time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(clock))
        with open(self.folder / "qemu.log", "ab") as log:
            self.process = subprocess.Popen(
                ["qemu-system-x86_64", "-machine", "q35,accel=tcg", "-cpu", "Westmere", "-smp", "1", "-m", "768", "-nodefaults",
                 "-display", "none", "-no-reboot", "-rtc", f"base={base}",
                 "-kernel", self.kernel, "-append", f"{KERNEL_OPTIONS} {kernel_options}",
                 "-drive", f"if=none,id=disk,{self.disk.options}", "-device", "nvme,serial=system,drive=disk",
                 "-netdev", "tap,id=net,ifname=tap0,script=no,downscript=no", "-device", "virtio-net-pci,netdev=net,romfile=",
                 "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
                 "-chardev", f"socket,id=agent,path={agent},server=on,wait=off", "-device", "virtserialport,chardev=agent,name=agent",
                 "-chardev", f"socket,id=tpm,path={self.tpm.socket}", "-tpmdev", "emulator,id=tpm0,chardev=tpm",
                 "-device", "tpm-crb,tpmdev=tpm0",
                 "-qmp", f"unix:{control},server=on,wait=off", "-serial", f"file:{self.folder}/console.{self.boots}", *extra],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent,
            )
        self.agent = Lines(connect(agent))
        self.control = Lines(connect(control))
        self.events = []
        self.control.read(time.monotonic() + 20)  # the greeting
        self.qmp("qmp_capabilities")

    def await_boot(self):
        """Waits until the machine runs commands, and returns the seconds since it was turned on."""
        line = self.agent.read(self.began + BOOT)
        if not line or not line.startswith("booted "):
            raise Failed(f"the machine did not boot within {BOOT} s: {line}")
        return time.monotonic() - self.began

    def boot(self, **options):
        self.start(**options)
        return self.await_boot()

    def cut(self):
        """Removes the power: the kernel kills QEMU and the TPM, and the disk loses what its volatile cache held."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
            self.agent.connection.close()
            self.control.connection.close()
        self.tpm.stop()
        self.disk.cut()

    def power_off(self):
        """Shuts the machine down."""
        self.send("systemctl --no-block poweroff", 20)
        try:
            self.process.wait(120)
        except subprocess.TimeoutExpired:
            raise Failed("the machine did not shut down within 120 s") from None
        self.cut()

    # ---- QEMU's own commands ----

    def qmp(self, command, **arguments):
        self.control.write(json.dumps({"execute": command, "arguments": arguments}))
        deadline = time.monotonic() + 60
        while line := self.control.read(deadline):
            message = json.loads(line)
            if "event" in message:
                self.events.append(message["event"])
            elif "error" in message:
                raise Failed(f"QEMU refuses {command}: {message['error']}")
            else:
                return message["return"]
        raise Failed(f"QEMU does not answer {command}")

    def await_event(self, name, seconds):
        """Waits for an event of QEMU, such as SUSPEND."""
        deadline = time.monotonic() + seconds
        while name not in self.events:
            line = self.control.read(deadline)
            if line is None:
                raise Failed(f"QEMU had no event {name} within {seconds} s; it had {self.events}")
            message = json.loads(line)
            if "event" in message:
                self.events.append(message["event"])
        self.events.remove(name)

    # ---- commands in the machine ----

    def send(self, script, seconds):
        """Sends a command without waiting for its end, and returns its number."""
        self.requests += 1
        self.agent.write(f"{self.requests} {seconds} {base64.b64encode(script.encode()).decode()}")
        return self.requests

    def answer(self, number, seconds):
        """Waits for the end of the command, and returns its exit status and output."""
        deadline = time.monotonic() + seconds
        while (line := self.agent.read(deadline)) is not None:
            answered, status, *output = line.split(" ")
            if answered == str(number):
                return int(status), base64.b64decode(output[0] if output else "").decode(errors="replace")
        raise Failed(f"the machine did not answer a command within {seconds} s")

    def try_run(self, script, seconds=60):
        """Runs a command for at most `seconds`, and returns its exit status and output."""
        return self.answer(self.send(script, seconds), seconds + 60)

    def run(self, script, seconds=60):
        """Runs a command that has to succeed, and returns its output."""
        status, output = self.try_run(script, seconds)
        if status != 0:
            raise Failed(f"status {status} from: {script}\n{output}")
        return output.rstrip("\n")
