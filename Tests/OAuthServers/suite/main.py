"""main.py INSTALLED BINARIES [CASE...]: runs the cases. `run` starts it."""

import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import cases as _
from suite import Checks, Stage, cases


def in_memory():
    """A folder for the servers, which write at every request and need not survive a power failure."""
    return tempfile.TemporaryDirectory(prefix="oauth.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


installed, binaries, *wanted = sys.argv[1:]
checks = Checks()
for name, play in cases:
    if wanted and not any(part in name for part in wanted):
        continue
    checks.case = name
    failed = checks.failed
    with tempfile.TemporaryDirectory(prefix="oauth.") as folder, in_memory() as memory:
        stage = Stage(installed, binaries, folder, memory, checks)
        try:
            play(stage)
        except Exception as error:
            checks.ended_early(error)
        finally:
            stage.close()
        if checks.failed > failed:
            print("    what the daemon said:")
            for line in stage.logs():
                print(f"    : {line[:300]}")
print(f"OAuthServers: {checks.passed} passed, {checks.failed} failed")
sys.exit(checks.failed > 0 or checks.passed == 0)
