"""Suspend to RAM for longer than a token lives: after the wake-up there is one renewal, and no app is served a dead token."""

import time

LIFETIME = 40
SUSPENDED = 50

# An app that asks for a token and uses it, over and over. Each line: the seconds since the boot, with those of the suspend, at the
# question, at the answer and after the use; the exit status; and the status of the provider's API.
APP = """
while [[ ! -e /run/enough ]]; do
    read -r asked _ </proc/uptime
    status=0
    header=$(junctionctl token --header 2>/run/app.$1.error) || status=$?
    read -r answered _ </proc/uptime
    code=$(curl -s -o /dev/null -m 10 -w '%{http_code}' --cacert /etc/ssl/provider.pem -H "$header" https://provider.test:8443/v2/providers)
    read -r used _ </proc/uptime
    echo "$asked $answered $used $status $code"
done >>/run/app.$1
"""


def play(stage):
    stage.provider.reset(accessTokenLifetime=LIFETIME)
    machine = stage.machine()
    machine.boot()
    user = stage.sign_in(machine)
    modes = machine.run("cat /sys/power/mem_sleep")
    stage.check("the machine suspends to RAM", "[deep]" in modes, modes)
    machine.run(f"cat >/run/app.sh <<'END'\n{APP}\nEND\nfor n in 1 2; do systemd-run -q bash /run/app.sh $n; done")
    # The token is young at the suspend, so that the next renewal is not due before.
    stage.provider.await_counter("refreshes", 1, 60)

    machine.run("systemctl --no-block start suspend.target")
    machine.await_event("SUSPEND", 60)
    before = stage.provider.counter("refreshes")
    time.sleep(SUSPENDED)
    stage.check("no renewal left during the suspend", stage.provider.counter("refreshes") == before)
    machine.qmp("system_wakeup")
    woken = time.monotonic()
    machine.await_event("WAKEUP", 60)
    renewed = stage.provider.await_counter("refreshes", before + 1, 60)
    took = time.monotonic() - woken
    stage.check(f"the token is renewed within seconds of the wake-up ({took:.1f} s)", renewed and took < 20)
    stage.check_token(machine, "an app gets a token that the provider takes")
    stage.check_signed_in(machine, user, "the user is signed in")
    # The next renewal is due after half of a token's life at the earliest.
    time.sleep(max(0, woken + took + 15 - time.monotonic()))
    after = stage.provider.counter("refreshes") - before
    stage.check("there is one renewal", after == 1, f"{after} renewals\n{stage.provider.request('/sandbox/requests?path=/v1/token')}")
    machine.run("touch /run/enough")

    uses = [line.split() for line in machine.run("cat /run/app.1 /run/app.2; rm -f /run/app.1 /run/app.2").splitlines()]
    uses = [(float(asked), float(answered), float(used), status, code) for asked, answered, used, status, code in uses]
    # The machine was suspended between the answer and the use of a few: the app itself kept these too long.
    across = [use for use in uses if use[2] - use[1] > SUSPENDED / 2]
    waited = [use for use in uses if use[1] - use[0] > SUSPENDED / 2]
    dead = [use for use in uses if use not in across and not (use[3] == "0" and use[4] == "200")]
    stage.check(f"two apps got {len(uses)} tokens, and the provider took each", not dead and len(uses) > 20, dead)
    stage.note(f"{len(waited)} calls waited for the daemon, and {len(across)} for the provider, while the machine was suspended")
    journal = machine.run("journalctl -q -b -u junctiond.service -o cat | tail -n 30")
    restarts = machine.run("systemctl show --property=NRestarts --value junctiond.service")
    stage.check("the daemon was not restarted", restarts == "0", journal)
    stage.check("no login was ended", stage.provider.counter("familyRevocations") == 0)
