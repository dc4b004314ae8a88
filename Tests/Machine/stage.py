"""What the cases share: the installed disk, the provider, and how a user signs in and is looked for."""

import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import tarfile
import time

from disk import VolatileDisk
from machine import Failed, Machine, Overlay
from provider import URL, Authority, Provider
from suite.checks import Checks as OrdinaryChecks
from tpm import Tpm

STATE = "/var/lib/private/junctiond"
KEY = "/var/lib/junctiond-key/junctiond.key"

CONFIGURATION = f"""
provider = "junction"
[junction]
authUrl = "{URL}"
apiUrl = "{URL}"
[tls]
caFile = "/etc/ssl/provider.pem"
"""

# Runs in the bare machine. The daemon is not started: its first start is the first boot of the installed machine.
INSTALLATION = f"""
set -e
mkdir /root/debs
tar -xf /dev/vda -C /root/debs
dpkg -i /root/debs/junctiond.deb
cp /root/debs/provider.pem /etc/ssl/provider.pem
cat >/etc/junctiond/junctiond.toml <<'END'
{CONFIGURATION}
END
junctiond --check-config
systemctl enable junctiond.service
rm -r /root/debs
test ! -e {KEY}
sync
"""


class Checks(OrdinaryChecks):
    """The checks of all cases, and where the evidence of failed ones is kept."""

    def __init__(self, keep):
        super().__init__()
        self.keep = keep

    def note(self, text):
        """A figure that is worth knowing and has no bound."""
        print(f"            {self.case}: {text}", flush=True)


class Stage:
    """The place of one case."""

    def __init__(self, folder, image, package, installed, authority, sandbox, checks, seed, cuts):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.kernel = image / "vmlinuz"
        self.package = package
        self.installed = installed
        self.checks = checks
        self.check = checks.check
        self.note = checks.note
        self.random = random.Random(seed)
        self.seed = seed
        self.cuts = cuts
        self.provider = Provider(sandbox, self.folder / "provider", authority)
        self.machines = []

    # ---- machines ----

    def machine(self, name="machine", disk=None, tpm=None):
        """A machine that was installed and has never been started."""
        machine = Machine(
            self.folder / name, self.kernel, disk or Overlay(self.folder / f"{name}.qcow2", self.installed),
            tpm or Tpm(self.folder / f"{name}-tpm"),
        )
        self.machines.append(machine)
        return machine

    def signed_in_machine(self):
        """A machine that has booted and signed a user in, with tokens of an hour. Returns the machine, the user and the token."""
        self.provider.reset(accessTokenLifetime=3600)
        machine = self.machine()
        machine.boot()
        user = self.sign_in(machine)
        return machine, user, self.token(machine)[1]

    def volatile_disk(self):
        # With random numbers of its own: how many it draws depends on what the machine writes.
        return VolatileDisk(self.folder / "nbd", self.installed, random.Random(f"{self.seed} disk"))

    def write_through_disk(self):
        return Overlay(self.folder / "write-through.qcow2", self.installed, cache="writethrough")

    def end(self):
        for machine in self.machines:
            machine.cut()
        self.provider.end()

    def keep_evidence(self, name):
        """After a failed check: what the machines say of themselves, and what the provider received."""
        if not self.checks.keep:
            return
        folder = pathlib.Path(self.checks.keep) / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            (folder / "requests.json").write_text(json.dumps(self.provider.request("/sandbox/overview"), indent=1))
            (folder / "logins.json").write_text(json.dumps(self.provider.request("/sandbox/logins"), indent=1))
        except OSError as error:
            (folder / "requests.json").write_text(str(error))
        for machine in self.machines:
            for console in machine.folder.glob("console.*"):
                shutil.copy(console, folder / f"{machine.folder.name}-{console.name}")
            if not machine.process:
                continue
            for what, command in (
                ("journal", "journalctl -q --no-pager -o short-precise"), ("status.json", "junctionctl --json status"),
                ("doctor", "junctionctl doctor"),
                ("state", f"ls -la --time-style=full-iso {STATE} {STATE}/quarantine /var/lib/junctiond-key; mount; df"),
            ):
                try:
                    output = machine.try_run(command, 60)[1]
                except Failed as error:
                    output = str(error)
                (folder / f"{machine.folder.name}-{what}").write_text(output)

    # ---- the session ----

    def sign_in(self, machine, name="anna"):
        """Signs a new user in, and returns the user's id."""
        user = self.provider.new_user(name)
        token = self.provider.sign_in_token(user)
        machine.run(f"junctionctl sign-in <<<'{token}'")
        return user

    def status(self, machine):
        """The state of the session, as JSON. Without a user the exit status is 3, and 75 if the session cannot be opened."""
        code, output = machine.try_run("junctionctl --json status 2>&1")
        try:
            return json.loads(output)
        except ValueError:
            raise Failed(f"junctionctl status ended with {code}: {output}") from None

    def await_status(self, machine, holds, what, seconds):
        """Asks for the state until `holds`. Returns the state and the seconds that it took."""
        began = time.monotonic()
        while True:
            status = self.status(machine)
            if holds(status):
                return status, time.monotonic() - began
            if time.monotonic() > began + seconds:
                raise Failed(f"the session did not become {what} within {seconds} s: {json.dumps(status)}")

    def token(self, machine, seconds=60):
        """Asks for a token as an app does. Returns the exit status, the output, and what the token is for the provider then."""
        status, output = machine.try_run("junctionctl token", seconds)
        return status, output.strip(), self.provider.kind_of(output.strip()) if status == 0 else "none"

    def check_token(self, machine, text):
        status, output, kind = self.token(machine)
        details = f"status {status}, {kind}: {output if status else ''}\n{json.dumps(self.status(machine))}"
        return self.check(text, kind == "accessToken", details)

    def check_signed_in(self, machine, user, text):
        status = self.status(machine)
        return self.check(text, is_signed_in(status, user), json.dumps(status))


def is_signed_in(status, user):
    return status["state"] == "established" and status["userId"] == user and status["storage"]["status"] == "ok" and (
        "pendingReauthentication" not in status["flags"]
    )


# ---- the installed disk ----


def second_disk(file):
    """The options of QEMU for /dev/vda with this file."""
    return ["-drive", f"if=none,id=second,file={file},format=raw", "-device", "virtio-blk-pci,drive=second"]


def find_package(debs, name):
    return max(pathlib.Path(debs).glob(f"{name}_*.deb"), key=os.path.getmtime)


def unpack_sandbox(debs, folder):
    subprocess.run(["dpkg-deb", "--extract", find_package(debs, "junction-sandbox"), folder], check=True)
    return folder / "usr/bin/junction-sandbox"


def install(image, debs, folder):
    """Installs the package in a machine, once for each package and image. Returns the disk and the authority of the provider."""
    package = find_package(debs, "junctiond")
    key = hashlib.sha256(package.read_bytes() + INSTALLATION.encode() + str(image).encode()).hexdigest()[:12]
    installed = image.parent / f"{image.name}-installed-{key}"
    if not (installed / ".complete").exists():
        shutil.rmtree(installed, ignore_errors=True)
        for old in image.parent.glob("machine-*-installed-*"):
            # A younger one may be in use.
            if old.stat().st_mtime < time.time() - 7 * 86400:
                shutil.rmtree(old)
        authority = Authority(installed / "authority")
        with tarfile.open(folder / "debs.tar", "w") as archive:
            archive.add(package, "junctiond.deb")
            certificate = tarfile.TarInfo("provider.pem")
            certificate.size = len(authority.pem)
            archive.addfile(certificate, io.BytesIO(authority.pem.encode()))
        disk = Overlay(folder / "installing.qcow2", image / "disk.raw")
        machine = Machine(folder / "installing", image / "vmlinuz", disk, Tpm(folder / "installing-tpm"))
        machine.boot(extra=second_disk(folder / "debs.tar"))
        machine.run(INSTALLATION, 240)
        machine.power_off()
        subprocess.run(["qemu-img", "convert", "-O", "raw", disk.file, installed / "disk.raw"], check=True)
        disk.file.unlink()
        (installed / ".complete").touch()
    return installed / "disk.raw", Authority.copied(installed / "authority", folder / "authority")
