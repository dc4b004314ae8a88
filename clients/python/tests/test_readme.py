"""The examples of the README."""

import os
import pathlib
import re
import subprocess
import sys

import junctiond

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run(code, daemon, **more):
    environment = {**os.environ, "JUNCTIOND_SOCKET": daemon.socket, **more}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_block_runs_as_printed(daemon):
    printed = run(BLOCKS[0], daemon)
    assert printed.startswith("The session is notLoggedIn\n") and printed.endswith("notLoggedIn nobody\n")


def test_the_first_block_runs_as_printed_with_a_signed_in_user(daemon, anna):
    printed = run(BLOCKS[0], daemon)
    assert f"A token of {anna} until " in printed and printed.endswith(f"established {anna}\n")


def test_the_second_block_runs_as_printed(daemon):
    assert run(BLOCKS[1], daemon) == "notLoggedIn\n" * 2


def test_the_api_examples_run_as_printed(daemon, anna, sandbox):
    names = f"API = {sandbox.url!r}\nUSER_ID = {anna!r}\n"
    assert "providers" in run(names + BLOCKS[2], daemon)
    assert anna in run(names + "from junctiond import Client\n" + BLOCKS[3], daemon)


def test_the_backend_example_runs_as_printed(daemon, sandbox):
    user = sandbox.new_user("anna")
    token = sandbox.sign_in_token(user)
    stand_in = (
        f"class backend:\n    sign_in_token = staticmethod(lambda user=None: {token!r})\n"
        "def serve_the_app():\n    print(junction.status().external_user_id)\n"
    )
    assert run(stand_in + BLOCKS[4], daemon) == "anna@example.com\n"


def test_every_error_is_named():
    for name in junctiond.__all__:
        value = getattr(junctiond, name)
        if isinstance(value, type) and issubclass(value, junctiond.JunctionError):
            assert f"`{name}`" in README
