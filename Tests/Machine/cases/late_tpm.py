"""A TPM that answers late at boot, and one that locks itself out after a power cut: the session opens when the TPM answers, without a
command."""

import time

from machine import Failed
from stage import KEY
from tpm import Tpm

# For how many seconds the TPM does not answer, from its first command on: less than the script's own limit for one attempt, more than
# that, and more than `junctiond-key-init` may take (TimeoutStartSec=).
LATE = (10, 45, 150)
# When the TPM answers, the script may be in its longest pause (RestartSec= and an attempt).
PATIENCE = 60
# For how many seconds the TPM locks itself out after one power cut.
LOCKED_OUT = 90


def play(stage):
    machine, user, token = stage.signed_in_machine()
    key = machine.run(f"sha256sum {KEY}")
    machine.power_off()
    for seconds in LATE:
        when = f"{seconds} s late"
        failed_before = stage.checks.failed
        machine.boot()
        machine.tpm.be_late()
        if not machine.tpm.is_waited_for.wait(120):
            raise Failed("nothing used the TPM within 120 s of the boot")
        # Not a wait for an event: this is how late the TPM is.
        time.sleep(seconds)
        machine.tpm.be_ready()
        ready = time.monotonic()
        try:
            stage.await_status(machine, lambda status: status["storage"]["status"] == "ok", "open", PATIENCE)
        except Failed as error:
            stage.check(f"{when}: the session opens when the TPM answers", False, error)
        else:
            stage.check_signed_in(machine, user, f"{when}: {time.monotonic() - ready:.0f} s after the TPM answers, the user is signed in")
            stage.check(f"{when}: the token is the same", stage.token(machine)[1] == token)
        stage.check(f"{when}: the key is the same", machine.run(f"sha256sum {KEY}") == key)
        tries = machine.run("journalctl -q -b -o cat -u junctiond-key-init.service | grep -c Starting")
        stage.note(f"{when}: junctiond-key-init ran {tries} times")
        if stage.checks.failed > failed_before:
            stage.keep_evidence(f"late_tpm-{seconds}")
        machine.power_off()
    machine.cut()
    play_lockout(stage)


def play_lockout(stage):
    when = "locked out after a power cut"
    stage.provider.reset(accessTokenLifetime=3600)
    machine = stage.machine("strict", tpm=Tpm(stage.folder / "strict-tpm", failures=1, forgotten_after=LOCKED_OUT))
    machine.boot()
    user = stage.sign_in(machine)
    token = stage.token(machine)[1]
    machine.cut()
    machine.boot()
    machine.run("timeout 200 systemctl start junctiond.service", 220)
    journal = machine.run("journalctl -q -b -u junctiond-key-init.service -o cat")
    stage.check(f"{when}: the TPM refuses to open the key", "lockout" in journal, journal)
    status = stage.status(machine)
    stage.check(f"{when}: the session is locked", status["storage"]["status"] == "locked", status)
    _, took = stage.await_status(machine, lambda status: status["storage"]["status"] == "ok", "open", LOCKED_OUT + PATIENCE)
    stage.check_signed_in(machine, user, f"{when}: {took:.0f} s later, the user is signed in")
    stage.check(f"{when}: the token is the same", stage.token(machine)[1] == token)
