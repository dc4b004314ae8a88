"""main.py FOLDER IMAGE DEBS [OPTION...] [CASE...]: plays the cases.

`run` starts it in namespaces of its own, and describes the options. FOLDER is a tmpfs, IMAGE the folder of the bare Debian.
"""

import argparse
import pathlib
import secrets
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
here = pathlib.Path(__file__).resolve().parent
# The counting of checks is that of the OAuthServers suite.
sys.path += [str(here / "cases"), str(here.parent / "OAuthServers")]

import stage as stages
from machine import Failed

CASES = ("first_boot", "power_cuts", "lost_tpm", "late_tpm", "suspend", "wrong_clock", "storage", "upgrade")


def play(name, options, folder, disk, authority, sandbox, checks):
    checks.case = name
    failed_before = checks.failed
    began = time.monotonic()
    stage = stages.Stage(
        folder / name, options.image, stages.find_package(options.debs, "junctiond"), disk, authority, sandbox, checks,
        f"{options.seed} {name}", options.cuts,
    )
    try:
        __import__(name).play(stage)
    except (Failed, OSError, subprocess.SubprocessError, LookupError, TypeError) as error:
        checks.check("runs to its end", False, traceback.format_exc() if not isinstance(error, Failed) else error)
    if checks.failed > failed_before:
        stage.keep_evidence(name)
    stage.end()
    verdict = "passed" if checks.failed == failed_before else "failed"
    print(f"-- {name}: {verdict}, in {time.monotonic() - began:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("image", type=pathlib.Path)
    parser.add_argument("debs", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--keep")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_intermixed_args()
    wanted = [name for name in CASES if not options.cases or any(part in name for part in options.cases)]
    if not wanted or options.cuts < 1:
        parser.error("there is no such case" if not wanted else "--cuts has to be 1 or more")

    checks = stages.Checks(options.keep)
    print(f"seed {options.seed}", flush=True)
    began = time.monotonic()
    sandbox = stages.unpack_sandbox(options.debs, options.folder / "sandbox")
    disk, authority = stages.install(options.image, options.debs, options.folder)
    print(f"-- installed disk: in {time.monotonic() - began:.0f} s", flush=True)
    for name in wanted:
        play(name, options, options.folder, disk, authority, sandbox, checks)
    print(f"Machine: {checks.passed} passed, {checks.failed} failed")
    return checks.failed > 0


sys.exit(main())
