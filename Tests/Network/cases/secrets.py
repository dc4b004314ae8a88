"""The credentials of a proxy are a secret."""

import pathlib
import re

from world import Proxy, case

ADDRESS = "203.0.113.80"
PASSWORD = "hunter2-of-the-proxy"


def memory(process):
    """Returns the writable memory of a process."""
    found = []
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", 0) as content:
        for line in maps:
            start, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
            if rights.startswith("rw"):
                try:
                    content.seek(int(start, 16))
                    found.append((line.strip(), content.read(int(end, 16) - int(start, 16))))
                except OSError:
                    pass
    return found


def children(process):
    # A child belongs to the thread that started it.
    threads = pathlib.Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text().split()]


@case("secrets: a proxy's credentials")
def _(stage):
    proxy = stage.opened(Proxy(ADDRESS, dict(stage.zone), credentials=f"kiosk:{PASSWORD}"))
    url = f"http://kiosk:{PASSWORD}@{ADDRESS}:3128"
    daemon = stage.start(network={"proxy": url}, log={"level": "trace"})
    stage.works()
    courier, = children(daemon.process.pid)

    proxy.credentials = "another:one"
    said = [str(daemon.refusal("session.renew").message), str(daemon.refused_api().message)]
    said += [str(daemon.call(method)) for method in ("daemon.diagnose", "session.status", "daemon.info", "daemon.metrics")]
    checked = daemon.check_configuration()
    said += [checked.stdout, checked.stderr]
    for bad in (f"{url}/path", url.replace("http:", "ftp:"), [url]):
        daemon.configure(network={"proxy": bad})
        wrong = daemon.check_configuration()
        stage.check(f"--check-config refuses {str(bad).replace(PASSWORD, '…')}",
                    wrong.returncode == 78 and "network.proxy" in wrong.stderr, wrong.stderr)
        said += [wrong.stdout, wrong.stderr]
    daemon.configure()
    for name in ("HTTPS_PROXY", "ALL_PROXY"):
        daemon.variables = {name: f"{url}/path"}
        wrong = daemon.check_configuration()
        stage.check(f"--check-config names {name}", wrong.returncode == 78 and name in wrong.stderr, wrong.stderr)
        said += [wrong.stdout, wrong.stderr]
    said.append(daemon.log.read_text(errors="replace"))
    leaks = [text for text in said if PASSWORD in text]
    stage.check("the credentials are in no output", not leaks, leaks)
    stage.check("nor in the command line of the network helper", PASSWORD.encode() not in
                pathlib.Path(f"/proc/{courier}/cmdline").read_bytes() + pathlib.Path(f"/proc/{courier}/environ").read_bytes())

    # The daemon holds the URL in a secret: one copy of each part and no other.
    copies = sum(content.count(PASSWORD.encode()) for _, content in memory(daemon.process.pid))
    stage.check("the daemon has one copy of them", copies == 1, copies)
    for process, name in ((daemon.process.pid, "daemon"), (courier, "network helper")):
        limits = pathlib.Path(f"/proc/{process}/limits").read_text()
        core = re.search(r"Max core file size +(\S+) +(\S+)", limits).groups()
        stage.check(f"the {name} leaves no core", core == ("0", "0"), core)
