"""The root is read-only, and the state lies on a small partition of its own, which fills up: nothing is lost."""

import json
import subprocess

from machine import Failed
from stage import STATE, is_signed_in, second_disk

LIFETIME = 5
PREPARATION = f"""
set -e
systemctl stop junctiond.socket junctiond.service
mount /dev/vda /mnt
cp -a {STATE}/. /mnt/
chown --reference={STATE} /mnt
chmod --reference={STATE} /mnt
umount /mnt
rm -rf {STATE}/*
cat >/etc/fstab <<'END'
LABEL=machine / ext4 ro 0 1
/dev/vda {STATE} ext4 defaults 0 2
tmpfs /tmp tmpfs mode=1777 0 0
tmpfs /var/tmp tmpfs mode=1777 0 0
tmpfs /var/log tmpfs mode=755 0 0
END
"""
# Fills the partition to the last block.
FILL = f"for size in 64k 1k; do dd if=/dev/zero of={STATE}/ballast.$RANDOM$RANDOM bs=$size; done; sync; df {STATE}"


def play(stage):
    stage.provider.reset(accessTokenLifetime=LIFETIME, rotationGrace=300)
    partition = stage.folder / "state.raw"
    subprocess.run(["truncate", "-s", "8M", partition], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", partition], check=True)
    extra = second_disk(partition)
    machine = stage.machine()
    machine.boot(extra=extra)
    machine.run("timeout 120 systemctl start junctiond.service", 150)
    machine.run(PREPARATION)
    machine.power_off()

    def boot():
        machine.boot(extra=extra, kernel_options="ro")
        code, output = machine.try_run("timeout 120 junctionctl wait --for fresh", 150)
        return f"{code} {output}\n{json.dumps(stage.status(machine))}"

    def rotate(times):
        for _ in range(times):
            if not stage.provider.await_counter("refreshes", stage.provider.counter("refreshes") + 1, 30):
                raise Failed("no token was rotated within 30 s")

    machine.boot(extra=extra, kernel_options="ro")
    machine.run("timeout 120 systemctl start junctiond.service", 150)
    code, output = machine.try_run("touch /root/file")
    stage.check("the root is read-only", code != 0 and "Read-only" in output, output)
    stage.check("the state has a partition of its own", machine.run(f"findmnt -n -o SOURCE {STATE}") == "/dev/vda")
    failed = machine.run("systemctl list-units --failed --plain --no-legend")
    stage.check("no unit of junctiond has failed", "junction" not in failed, failed)
    stage.note(f"failed units of the system: {failed.split()[::5] or 'none'}")
    user = stage.sign_in(machine)
    status = stage.status(machine)
    stage.check("a user can sign in, durably", is_signed_in(status, user) and status["storage"]["durable"], json.dumps(status))
    rotate(2)
    machine.cut()
    details = boot()
    stage.check("after a power cut the user is signed in", is_signed_in(stage.status(machine), user), details)

    machine.run(FILL)
    rotate(2)
    status = stage.status(machine)
    stage.check(
        "on a full partition the reserve suffices: the rotations are durable", is_signed_in(status, user) and status["storage"]["durable"],
        json.dumps(status),
    )
    stage.check_token(machine, "on a full partition an app gets a token")
    machine.cut()
    details = boot()
    stage.check("after a power cut with the full partition the user is signed in", is_signed_in(stage.status(machine), user), details)
    rotate(2)

    def fill_again(status):
        machine.run(FILL)
        return not status["storage"]["durable"]

    status, _ = stage.await_status(machine, fill_again, "not durable", 60)
    stage.check(
        "without the last block, the state says durable: false, and the user is signed in", is_signed_in(status, user), json.dumps(status)
    )
    rotate(2)
    stage.check_token(machine, "an app gets a token from memory")
    machine.run("systemctl restart junctiond.service")
    code, output = machine.try_run("timeout 60 junctionctl wait --for fresh", 80)
    status = stage.status(machine)
    stage.check("a restart of the daemon loses nothing", code == 0 and is_signed_in(status, user), f"{output}\n{json.dumps(status)}")
    machine.run(f"rm {STATE}/ballast.*")
    status, took = stage.await_status(machine, lambda status: status["storage"]["durable"], "durable", 90)
    stage.check(f"the session is durable {took:.0f} s after there is space", is_signed_in(status, user), json.dumps(status))
    machine.cut()
    details = boot()
    stage.check("after a power cut the user is signed in", is_signed_in(stage.status(machine), user), details)
    stage.check_token(machine, "an app gets a token that the provider takes")
    counters = stage.provider.request("/sandbox/counters")
    stage.check(
        "one sign-in, and no login was ended", (counters["exchanges"], counters["familyRevocations"]) == (1, 0), json.dumps(counters)
    )
