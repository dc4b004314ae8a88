"""The TPM is cleared, or the disk is copied to another machine: the session is locked and says what to do, nothing is erased, and the user
can sign in again. With the TPM of before the session is back."""

import shutil
import uuid

from machine import Overlay
from stage import KEY, STATE
from tpm import Tpm

SUMS = f"sha256sum {STATE}/session.sealed {KEY}"


def play(stage):
    machine, user, token = stage.signed_in_machine()
    machine.power_off()
    copy = stage.folder / "copy.qcow2"
    shutil.copy(machine.disk.file, copy)

    own = machine.tpm
    machine.tpm = Tpm(stage.folder / "cleared-tpm")
    machine.boot()
    check_locked(stage, machine, user, "with a cleared TPM")
    machine.power_off()

    cleared, machine.tpm = machine.tpm, own
    machine.boot()
    machine.try_run("timeout 100 junctionctl wait --for signed-in", 120)
    stage.check_signed_in(machine, user, "with the TPM of before the session is back")
    stage.check("the token is the same", stage.token(machine)[1] == token)
    machine.power_off()

    machine.tpm = cleared
    machine.boot()
    check_mended(stage, machine, "with a cleared TPM")
    machine.power_off()

    disk = Overlay(stage.folder / "copied.qcow2", copy)
    other = stage.machine("other", disk)
    identity = uuid.UUID(int=stage.random.getrandbits(128), version=4).hex
    other.boot(kernel_options=f"systemd.machine_id={identity}")
    stage.check("the copy runs in a machine with another id", other.run("cat /etc/machine-id") == identity)
    check_locked(stage, other, user, "on a copied disk")
    check_mended(stage, other, "on a copied disk")
    stage.check("the provider ended no login", stage.provider.counter("familyRevocations") == 0)


def check_locked(stage, machine, user, when):
    # The daemon starts when the key has been tried several times.
    machine.run("timeout 200 systemctl start junctiond.service", 220)
    before = machine.run(SUMS)
    status = stage.status(machine)
    storage = status["storage"]
    stage.check(f"{when} the session is locked", storage["status"] == "locked" and not storage["readable"], status)
    stage.check(f"{when} the state names the user", (status["state"], status["userId"]) == ("established", user), status)
    stage.check(f"{when} storage.sealedWith is host+tpm2", storage["sealedWith"] == "host+tpm2", status)
    stage.note(f"{when} the reason is: {storage.get('reason')}")
    line = machine.run("systemctl show --property=StatusText --value junctiond.service")
    stage.check(f"{when} the service's status says that the session is locked", "locked" in line, line)
    code, output, _ = stage.token(machine)
    is_refused = code == 75 and "storageUnavailable" in output
    stage.check(f"{when} no app gets a token, and the error is storageUnavailable", is_refused, f"{code} {output}")
    code, output = machine.try_run("junctionctl doctor")
    stage.check(f"{when} doctor names the sealing key and what to do", code == 1 and "sealing key" in output, output)
    stage.note(f"{when} doctor says: {next((line for line in output.splitlines() if 'sealing key' in line), None)}")
    journal = machine.run("journalctl -q -b -u junctiond-key-init.service -o cat | grep -F /junctiond.key | tail -n 1")
    stage.note(f"{when} the journal says: {journal}")
    token = stage.provider.sign_in_token(stage.provider.new_user(f"bert {when}"))
    code, output = machine.try_run(f"junctionctl sign-in <<<'{token}'")
    is_refused = code == 75 and "storageUnavailable" in output and "junctiond-key-init" in output
    stage.check(f"{when} a sign-in without a key is refused with the remedy", is_refused, f"{code} {output}")
    stage.note(f"{when} the sign-in says: {output.strip()}")
    stage.check(f"{when} the record and the key are unchanged", machine.run(SUMS) == before)


def check_mended(stage, machine, when):
    """Does what the daemon says: moves the key away, restarts the daemon, and signs in."""
    machine.run("timeout 200 systemctl start junctiond.service", 220)
    machine.run(f"mv {KEY} {KEY}.lost && timeout 200 systemctl restart junctiond.service", 220)
    user = stage.sign_in(machine, f"cora {when}")
    status = stage.status(machine)
    stage.check_signed_in(machine, user, f"{when}, with a new key, a user can sign in")
    stage.check(f"{when} the new key is bound to host+tpm2", status["storage"]["sealedWith"] == "host+tpm2", status)
    stage.check_token(machine, f"{when} an app gets a token of the new session")
    machine.power_off()
    machine.boot()
    machine.try_run("timeout 100 junctionctl wait --for signed-in", 120)
    stage.check_signed_in(machine, user, f"{when} the new session outlives a boot")
