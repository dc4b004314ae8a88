"""The clock is wrong by a year at boot, in both directions, and is set later, as NTP does it: the user stays signed in.

Each direction is played twice: the provider has a certificate that is valid at the wrong time, too, so that the daemon renews by the wrong
clock; and one of three months, so that the provider is out of reach until the clock is right.
"""

import json
import time

from stage import is_signed_in

YEAR = 365 * 86400
LIFETIME = 20


def play(stage):
    stage.provider.reset(accessTokenLifetime=LIFETIME, rotationGrace=120)
    machine = stage.machine()
    machine.boot()
    user = stage.sign_in(machine)
    machine.power_off()
    for direction, years in (("behind", -1), ("ahead", 1)):
        for certificate, reach in ((stage.provider.long, "provider in reach"), (stage.provider.ordinary, "certificate not valid then")):
            play_boot(stage, machine, user, f"a year {direction}, {reach}", years, certificate, reach == "provider in reach")
            machine.power_off()
    stage.provider.present(stage.provider.long)
    counters = stage.provider.request("/sandbox/counters")
    stage.check(
        "there was one sign-in, and the provider ended no login", (counters["exchanges"], counters["familyRevocations"]) == (1, 0),
        json.dumps(counters),
    )


def play_boot(stage, machine, user, when, years, certificate, is_in_reach):
    stage.provider.present(certificate)
    machine.boot(clock=time.time() + years * YEAR)
    machine.run("timeout 120 systemctl start junctiond.service", 150)
    offset = round((float(machine.run("date +%s")) - time.time()) / YEAR, 1)
    # systemd sets a clock that shows a time before its own release to that release.
    stage.check(f"{when}: the clock is wrong, by {offset} years", min(0, years) <= offset <= max(0, years) and abs(offset) > 0.2)
    if is_in_reach:
        code, output = machine.try_run("timeout 60 junctionctl wait --for fresh", 80)
        stage.check(f"{when}: the session becomes fresh", code == 0, output)
        stage.check_token(machine, f"{when}: an app gets a token that the provider takes")
        stage.check_signed_in(machine, user, f"{when}: the user is signed in")
    else:
        code, output, kind = stage.token(machine)
        stage.check(f"{when}: no app gets a dead token", kind in ("none", "accessToken"), f"{code} {output}")
        status = stage.status(machine)
        stage.check(
            f"{when}: the user stays signed in, and no sign-in is demanded",
            status["userId"] == user and status["state"] in ("established", "tokenExpired") and "signedIn" in status["flags"]
            and "pendingReauthentication" not in status["flags"], json.dumps(status),
        )
        stage.note(f"{when}: the last error is {json.dumps(status['renewal']['lastError'])}")

    machine.run(f"date -s @{time.time():.3f}")
    began = time.monotonic()
    code, output, kind = stage.token(machine, 90)
    while kind != "accessToken" and time.monotonic() < began + 60:
        code, output, kind = stage.token(machine, 90)
    took = time.monotonic() - began
    stage.check(
        f"{when}: {took:.1f} s after the clock is set, an app gets a token that the provider takes", kind == "accessToken",
        f"{code} {kind} {output}",
    )
    status, _ = stage.await_status(machine, lambda status: is_signed_in(status, user), "signed in", 30)
    # Two more tokens: the renewals follow the right clock.
    for _ in range(2):
        before = stage.provider.counter("refreshes")
        comes = stage.provider.await_counter("refreshes", before + 1, LIFETIME)
        stage.check(f"{when}: the next token comes in time", comes, json.dumps(stage.status(machine)))
        stage.check_token(machine, f"{when}: an app gets it")
