"""The fixtures. JUNCTION_BINARIES names the folder with the built daemon and sandbox."""

import os
import pathlib
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from junctiond import Client, credentials  # noqa: E402
from scripted import ScriptedDaemon  # noqa: E402
from stage import Daemon, Sandbox, junction_configuration  # noqa: E402


@pytest.fixture(scope="session")
def binaries():
    folder = os.environ.get("JUNCTION_BINARIES")
    if not folder:
        pytest.fail("JUNCTION_BINARIES is not set: use run-tests")
    return pathlib.Path(folder)


@pytest.fixture(scope="session")
def the_sandbox(binaries):
    sandbox = Sandbox(binaries)
    yield sandbox
    sandbox.close()


@pytest.fixture
def sandbox(the_sandbox):
    the_sandbox.reset()
    return the_sandbox


@pytest.fixture
def folder():
    # Not pytest's folder: the path of a socket has a short limit.
    with tempfile.TemporaryDirectory(prefix="jd-") as folder:
        yield folder


@pytest.fixture
def daemon(binaries, folder, sandbox):
    daemon = Daemon(binaries, folder, junction_configuration(sandbox)).start()
    yield daemon
    daemon.kill()


@pytest.fixture
def client(daemon):
    with Client(daemon.socket) as client:
        yield client


@pytest.fixture
def anna(client, sandbox):
    """The signed-in user."""
    user = sandbox.new_user("anna")
    client.sign_in(credentials.SignInToken(sandbox.sign_in_token(user)))
    return user


@pytest.fixture
def asking(binaries, folder, sandbox):
    """A daemon with social.plus, which asks a session handler for every auth token."""
    configuration = (
        f'provider = "social"\n[social]\napiUrl = "{sandbox.url}"\nregion = "eu"\napiKeyFile = "{folder}/key"\n'
        '[renewal]\nmode = "handler"\nhandlerTimeout = 30\n'
    )
    key = pathlib.Path(folder, "key")
    key.touch(mode=0o600)
    key.write_text("sandbox-api-key")
    daemon = Daemon(binaries, folder, configuration).start()
    yield daemon
    daemon.kill()


@pytest.fixture
def scripted(folder):
    """Starts a daemon in this process that answers each line with a function. Returns its socket."""
    daemons = []

    def start(*roles):
        daemons.append(ScriptedDaemon(f"{folder}/scripted", *roles))
        return daemons[-1].path

    yield start
    for daemon in daemons:
        daemon.close()


def pytest_sessionfinish(session, exitstatus):
    """Fails a CI run with skipped tests."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") == "true" and reporter and reporter.stats.get("skipped") and exitstatus == 0:
        print("In CI no test may be skipped")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure(config):
    """Prints the last line, which scripts evaluate."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    count = {word: len(reporter.stats.get(word, [])) for word in ("passed", "failed", "error", "skipped")}
    for report in reporter.stats.get("skipped", []):
        print(f"skipped: {report.nodeid}: {report.longrepr[-1]}")
    print(f"Python: {count['passed']} passed, {count['failed'] + count['error']} failed")
