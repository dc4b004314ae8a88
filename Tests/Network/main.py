"""main.py BINARIES [CASE...]: runs the cases, each in its own namespaces. `run` starts it."""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
here = pathlib.Path(__file__).resolve().parent
# The daemon under test and the counting of checks are those of the OAuthServers suite.
sys.path[:0] = [str(here), str(here.parent / "OAuthServers")]

import cases as _
from suite.checks import Checks
from world import Stage, cases


def play(binaries, name, counts):
    """Runs one case in this process, which has its own namespaces."""
    checks = Checks()
    checks.case = name
    checks.passed, checks.failed = map(int, counts.read_text().split())
    failed = checks.failed
    with tempfile.TemporaryDirectory(prefix="net.") as folder:
        stage = None
        try:
            stage = Stage(binaries, folder, checks.check)
            dict(cases)[name](stage)
        except Exception as error:
            checks.ended_early(error)
        finally:
            if stage:
                stage.close()
        if checks.failed > failed and stage:
            print("    what the daemon said:")
            for line in stage.log():
                print(f"    : {line[:300]}", flush=True)
    counts.write_text(f"{checks.passed} {checks.failed}")


def run(binaries, wanted):
    with tempfile.TemporaryDirectory(prefix="net.") as folder:
        counts = pathlib.Path(folder) / "counts"
        counts.write_text("0 0")
        broken = 0
        for name, _ in cases:
            if wanted and not any(part in name for part in wanted):
                continue
            one = subprocess.run(
                ["unshare", "--net", "--mount", "--propagation", "private", "--", sys.executable, __file__, binaries,
                 "--here", name, counts]
            )
            if one.returncode != 0:
                print(f"not ok      {name}: its process ended with {one.returncode}", flush=True)
                broken += 1
        passed, failed = map(int, counts.read_text().split())
    print(f"Network: {passed} passed, {failed + broken} failed")
    return failed + broken > 0 or passed == 0


binaries, *arguments = sys.argv[1:]
if arguments[:1] == ["--here"]:
    play(binaries, arguments[1], pathlib.Path(arguments[2]))
    sys.stdout.flush()
    # Do not wait for threads that still block in a server's accept.
    os._exit(0)
sys.exit(run(binaries, arguments))
