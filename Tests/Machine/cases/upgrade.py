"""An upgrade of the package while apps ask for tokens all the time: no call fails."""

import re
import subprocess
import tarfile

from stage import second_disk

VERSION = "99.1-1"
APP = """
while [[ ! -e /run/enough ]]; do
    status=0
    answer=$(junctionctl token 2>&1) || status=$?
    ((status == 0)) || echo "exit code $status: ${answer:0:200}" >>/run/failed
    echo >>/run/answers
done
"""


def play(stage):
    stage.provider.reset(accessTokenLifetime=5, rotationGrace=120)
    folder = stage.folder / "next"
    subprocess.run(["dpkg-deb", "-R", stage.package, folder], check=True)
    control = folder / "DEBIAN/control"
    control.write_text(re.sub("(?m)^Version: .*", f"Version: {VERSION}", control.read_text()))
    package = stage.folder / "next.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", folder, package], check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(stage.folder / "next.tar", "w") as archive:
        archive.add(package, "next.deb")
    machine = stage.machine()
    machine.boot(extra=second_disk(stage.folder / "next.tar"))
    user = stage.sign_in(machine)
    machine.run(f"tar -xf /dev/vda -C /run && cat >/run/app.sh <<'END'\n{APP}\nEND\n: >/run/answers >/run/failed")
    machine.run("for n in 1 2 3; do systemd-run -q bash /run/app.sh; done")
    machine.run("timeout 60 bash -c 'until [[ -s /run/answers ]]; do sleep 0.1; done'", 90)
    old = machine.run("systemctl show --property=MainPID --value junctiond.service")
    output = machine.run("dpkg --force-confdef --force-confold -i /run/next.deb 2>&1", 240)
    count = int(machine.run("wc -l </run/answers"))
    machine.run(f"timeout 60 bash -c 'until (($(wc -l </run/answers) > {count} + 5)); do sleep 0.1; done'; touch /run/enough", 90)
    stage.check("the new version is installed", machine.run("dpkg-query -W -f '${Version}' junctiond") == VERSION, output)
    new = machine.run("systemctl show --property=MainPID --value junctiond.service")
    stage.check("the daemon was restarted", new not in (old, "0"), f"{old} {new}")
    failed = machine.run("cat /run/failed")
    stage.check(f"three apps asked {machine.run('wc -l </run/answers')} times, and no call failed", failed == "", failed)
    machine.try_run("timeout 60 junctionctl wait --for fresh", 80)
    stage.check_signed_in(machine, user, "the user is signed in")
    stage.check_token(machine, "an app gets a token that the provider takes")
    machine.power_off()
    machine.boot()
    machine.try_run("timeout 60 junctionctl wait --for fresh", 80)
    stage.check_signed_in(machine, user, "after a boot the user is signed in")
    stage.check("there was one sign-in", stage.provider.counter("exchanges") == 1)
