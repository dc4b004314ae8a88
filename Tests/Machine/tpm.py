"""A TPM of swtpm. Its memory is a folder, and outlives the process as the memory of a chip outlives a power cut.

QEMU talks to it through this module, which can hold the commands back: then the TPM is late, and the machine runs on. (A stopped swtpm
would stop the machine, too, because QEMU waits for it when the kernel cancels a command.)
"""

import array
import pathlib
import socket
import struct
import subprocess
import threading

from machine import Failed, connect
from servers.server import end_with_parent


# After how many failures the TPM locks itself out, and after how many seconds it forgets one of them, about as in the TPMs of PCs. A power
# cut counts as a failure if the TPM has opened a key of systemd 252 since its start. The defaults of swtpm are 3 and 1,000 s.
FAILURES, FORGOTTEN_AFTER = 32, 600


class Tpm:
    def __init__(self, folder, failures=FAILURES, forgotten_after=FORGOTTEN_AFTER):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self._set_lockout(failures, forgotten_after)
        # Where QEMU connects.
        self.socket = self.folder / "qemu"
        self.process = None
        self.server = None
        self.answers = threading.Event()
        self.answers.set()
        # Waits until the machine has sent a command while the TPM was late.
        self.is_waited_for = threading.Event()

    def start(self):
        self.stop()
        self.answers.set()
        control = self.folder / "control"
        control.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={self.folder}", "--ctrl", f"type=unixio,path={control}",
             "--log", f"file={self.folder}/log,level=1"],
            stdin=subprocess.DEVNULL, preexec_fn=end_with_parent,
        )
        self.control = connect(control)
        self.socket.unlink(missing_ok=True)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(self.socket))
        self.server.listen()
        start_thread(self._serve, self.server, self.control)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
            self.answers.set()
            self.server.close()
            self.control.close()

    def _set_lockout(self, failures, forgotten_after):
        path = self.folder / "setup"
        process = subprocess.Popen(
            ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={self.folder}", "--server", f"type=unixio,path={path}",
             "--flags", "not-need-init,startup-clear"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=end_with_parent,
        )
        with connect(path) as connection:
            # TPM2_DictionaryAttackParameters with the empty password of the lockout hierarchy, and TPM2_Shutdown.
            password = struct.pack(">IIHBH", 9, 0x40000009, 0, 0, 0)
            body = struct.pack(">II", 0x13A, 0x4000000A) + password + struct.pack(">III", failures, forgotten_after, forgotten_after)
            for command in (struct.pack(">HI", 0x8002, 6 + len(body)) + body, struct.pack(">HIIH", 0x8001, 12, 0x145, 0)):
                connection.sendall(command)
                answer = connection.recv(4096)
                if struct.unpack(">I", answer[6:10])[0] != 0:
                    raise Failed(f"swtpm refuses to set its lockout: {answer.hex()}")
        process.kill()
        process.wait()

    def be_late(self):
        """The TPM takes no further command until `be_ready`."""
        self.is_waited_for.clear()
        self.answers.clear()

    def be_ready(self):
        self.answers.set()

    def _serve(self, server, control):
        try:
            qemu, _ = server.accept()
        except OSError:
            return  # The machine was never started.
        start_thread(copy, control, qemu)
        # QEMU passes a socket for the TPM's commands with one message of its control connection.
        while True:
            try:
                content, passed, _, _ = qemu.recvmsg(65536, socket.CMSG_SPACE(4))
                if not content:
                    return
                if passed:
                    commands = socket.socket(fileno=array.array("i", passed[0][2])[0])
                    near, far = socket.socketpair()
                    control.sendmsg([content], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [far.fileno()]))])
                    far.close()
                    start_thread(copy, commands, near, self._hold)
                    start_thread(copy, near, commands)
                else:
                    control.sendall(content)
            except OSError:
                return  # QEMU or swtpm was killed.

    def _hold(self):
        if not self.answers.is_set():
            self.is_waited_for.set()
            self.answers.wait()


def copy(source, target, before_each=lambda: None):
    try:
        while content := source.recv(65536):
            before_each()
            target.sendall(content)
    except OSError:
        pass  # QEMU or swtpm was killed.


def start_thread(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()
