"""Power cuts at random instants, while tokens of five seconds rotate: the user is still signed in each time.

One half of the cuts is on a disk that keeps each acknowledged write, the other half on a disk that loses any part of what was not flushed.
One cut in five comes during a boot. The provider's grace is longer than two boots without hardware acceleration.
"""

import json
import time

from stage import is_signed_in

GRACE = 300
# A rotation takes at most four seconds, so a cut hits any moment of two of them.
LONGEST_WAIT = 8.0
BOOT_CUTS = 0.2


def play(stage):
    half = stage.cuts // 2
    for name, disk, cuts in (
        ("write-through", stage.write_through_disk, half), ("volatile-cache", stage.volatile_disk, stage.cuts - half),
    ):
        if cuts:
            play_disk(stage, name, disk(), cuts)


def play_disk(stage, name, disk, cuts):
    stage.provider.reset(accessTokenLifetime=5, rotationGrace=GRACE)
    machine = stage.machine(name, disk)
    machine.boot()
    user = stage.sign_in(machine)
    times = []
    for number in range(1, cuts + 1):
        if number > 1 and stage.random.random() < BOOT_CUTS:
            instant = stage.random.uniform(0, 20)
            text = f"{instant:.2f} s after the power came back"
            machine.cut()
            machine.start()
            time.sleep(instant)
        else:
            instant = stage.random.uniform(0, LONGEST_WAIT)
            text = f"{instant:.2f} s after the token was fresh"
            time.sleep(instant)
        machine.cut()
        lost = ""
        if hasattr(disk, "losses"):
            cached, gone = disk.losses[-1]
            lost = f", {gone} of {cached} unflushed blocks lost"
        boot = machine.boot()
        code, output = machine.try_run("timeout 120 junctionctl wait --for fresh", 150)
        fresh = time.monotonic() - machine.began
        times.append(fresh)
        status = stage.status(machine)
        if not stage.check(
            f"{name}, cut {number}, {text}{lost}: the user is signed in (boot {boot:.0f} s, fresh after {fresh:.0f} s)",
            code == 0 and is_signed_in(status, user), f"{code} {output}\n{json.dumps(status)}",
        ):
            stage.keep_evidence(f"power_cuts-{name}-{number}")
            # The next cuts need a user.
            stage.provider.reset(accessTokenLifetime=5, rotationGrace=GRACE)
            machine.try_run("junctionctl sign-out")
            user = stage.sign_in(machine)
    stage.check_token(machine, f"{name}: an app gets a token that the provider takes")
    counters = stage.provider.request("/sandbox/counters")
    stage.check(
        f"{name}: one sign-in, and the provider ended no login for a spent refresh token",
        (counters["exchanges"], counters["familyRevocations"]) == (1, 0), json.dumps(counters),
    )
    stage.note(
        f"{name}: {cuts} cuts, {counters['refreshes']} rotations, {counters['replays']} of them repeated because the cut lost the answer; "
        f"fresh after {min(times):.0f} to {max(times):.0f} s"
    )
    if hasattr(disk, "losses"):
        cached, gone = (sum(numbers) for numbers in zip(*disk.losses))
        stage.note(f"{name}: the cuts lost {gone} of {cached} unflushed blocks")
    machine.cut()
