"""Plays the client's side of a transcript of clients/conformance with this library.

    conformance_runner.py [sync|async] [TRANSCRIPT...]
"""

import asyncio
import base64
import dataclasses
import json
import pathlib
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime

import junctiond
from junctiond import AsyncClient, Client, JunctionError, Secret, credentials, renewal
from junctiond._waiting import wait

SUITE = pathlib.Path(__file__).resolve().parents[2] / "conformance"
TRANSCRIPTS = sorted((SUITE / "transcripts").glob("*.json"))


class Failed(Exception):
    """The client did something else than the transcript describes."""


# ---- results of the library in wire format ----


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def snake(name):
    return re.sub("[A-Z]", lambda match: "_" + match[0].lower(), name)


def wire(value):
    if isinstance(value, junctiond.AccessToken):
        return {"accessToken": wire(value.token)} | members(value)
    if isinstance(value, junctiond.RenewResult) and value.snapshot is not None:
        return wire(value.snapshot)
    if isinstance(value, junctiond.ApiAnswer):
        body = {"bodyBase64": base64.b64encode(value.body).decode()}
        try:
            body["body"] = value.body.decode()
        except UnicodeDecodeError:
            pass
        return {"status": value.status, "headers": dict(value.headers)} | body
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds" if value.microsecond else "seconds").replace("+00:00", "Z")
    if dataclasses.is_dataclass(value):
        return members(value)
    if isinstance(value, (list, tuple)):
        return [each if isinstance(each, str) else wire(each) for each in value]
    return {"text": value} if isinstance(value, str) else value


def members(value):
    found = {}
    for field in dataclasses.fields(value):
        member = getattr(value, field.name)
        found[camel(field.name)] = member if isinstance(member, (str, dict)) else wire(member)
    return found


def error_members(error):
    if isinstance(error, (Raised, Interrupted, asyncio.CancelledError)):
        return {"kind": "raised" if isinstance(error, Raised) else "cancelled"}
    if not isinstance(error, JunctionError):
        raise error
    names = ("kind", "message", "code", "retry_after", "user_id", "capability", "maximum", "termination")
    found = {camel(name): getattr(error, name) for name in names}
    if error.termination is not None:
        found["termination"] = wire(error.termination)
    return found


def expand(value):
    if isinstance(value, dict):
        if set(value) == {"$repeat"}:
            text, count = value["$repeat"]
            return text * count
        return {key: expand(each) for key, each in value.items()}
    return [expand(each) for each in value] if isinstance(value, list) else value


def fits(expected, found):
    """Whether all expected members are present; `null` means absent."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(fits(value, found.get(key)) for key, value in expected.items())
    if isinstance(expected, list) or expected is None or isinstance(expected, bool) or isinstance(found, bool):
        return type(expected) is type(found) and expected == found
    return expected == found


def check(expected, found, what):
    expected = expand(expected)
    if "error" in expected and "error" in found and isinstance(expected["error"].get("kind"), list):
        expected = {"error": {**expected["error"], "kind": found["error"]["kind"]}} if (
            found["error"]["kind"] in expected["error"]["kind"]
        ) else expected
    if not fits(expected, found):
        raise Failed(f"{what}: expected {brief(expected)}, found {brief(found)}")


def brief(value):
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 600 else f"{text[:600]}… ({len(text)} characters)"


def credential(wired):
    cls = getattr(credentials, wired["scheme"][0].upper() + wired["scheme"][1:])
    return cls(**arguments({key: value for key, value in wired.items() if key != "scheme"}))


def answer(wired):
    cls = getattr(renewal, wired["action"][0].upper() + wired["action"][1:])
    return cls(**arguments({key: value for key, value in wired.items() if key != "action"}))


def arguments(params):
    return {snake(key): int(value) if key == "sequence" else value for key, value in params.items()}


def timeout_of(step):
    return step["timeout"] / 1000 if "timeout" in step else float("inf")


def check_asked(step, asked):
    if "asked" in step:
        check({"asked": [step["identify"]] * step["asked"]}, {"asked": asked}, "identify")


def call_of(client, step):
    """The library's own call for a step."""
    params = expand(step.get("params", {}))
    timeout = timeout_of(step)
    name = step["call"]
    if name == "signIn":
        return lambda: client.sign_in(credential(params), timeout=timeout)
    if name == "reconcile":
        return lambda: client.reconcile(params["userId"], timeout=timeout)
    if name == "api":
        body = params.get("body", base64.b64decode(params["bodyBase64"]) if "bodyBase64" in params else None)
        return lambda: client.api(
            params["method"], params["path"], query=params.get("query"), headers=params.get("headers"), body=body,
            timeout=timeout,
        )
    return lambda: getattr(client, snake(name))(**arguments(params), timeout=timeout)


class Raised(Exception):
    """The exception of the program's callback."""


class Interrupted(Exception):
    """The exception of a signal handler during a call, as of ^C."""


# ---- the daemon's side ----


class Daemon:
    def __init__(self, transcript, folder):
        self.path = f"{folder}/d.sock"
        self.process = subprocess.Popen(
            [sys.executable, str(SUITE / "scripted-daemon"), str(transcript), self.path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        if self.process.stdout.readline() != "listening\n":
            raise Failed(f"the scripted daemon does not listen: {self.process.stderr.read()}")

    def tell(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def hear(self):
        if not self.process.stdout.readline():
            raise Failed("the scripted daemon has ended without `told`")

    def finish(self):
        """Returns the error report of the scripted daemon, if there is one."""
        with self.process:
            _, wrong = self.process.communicate(timeout=90)
        return wrong.strip() or (self.process.returncode and f"it ended with {self.process.returncode}")

    def kill(self):
        self.process.kill()
        self.process.communicate()


class Growing:
    """The revisions of one loop, which only increase on one connection."""

    def __init__(self):
        self.last = None

    def note(self, snapshot):
        if self.last is not None and snapshot.revision <= self.last:
            raise Failed(f"revision {snapshot.revision} came after {self.last}")
        self.last = snapshot.revision


# ---- threads ----


class Threads:
    def __init__(self, daemon):
        self.daemon = daemon
        self.client = Client(daemon.path)
        self.watches = {}

    def play(self, steps):
        try:
            for step in steps:
                self.step(step)
        finally:
            for watch in self.watches.values():
                watch.close()
            self.client.close()

    def step(self, step):
        if "call" in step and step.get("cancelWhenHeard"):
            self.cancelled(step)
        elif "call" in step:
            check(step["expect"], self.outcome(call_of(self.client, step)), step["call"])
        elif "together" in step:
            self.together(step["together"])
        elif "identify" in step:
            self.identify(step)
        elif "watch" in step:
            self.watch(step)
        elif "end" in step:
            self.watches.pop(step["end"]).close()
        elif "handle" in step:
            self.handle(step)
        elif "tell" in step:
            self.daemon.tell()
        else:
            assert step == {"hear": True}, step
            self.daemon.hear()

    def outcome(self, function):
        try:
            return {"result": wire(function())}
        except Exception as error:
            return {"error": error_members(error)}

    def together(self, steps):
        outcomes = [None] * len(steps)

        def run(index, step):
            outcomes[index] = self.outcome(call_of(self.client, step))

        threads = [threading.Thread(target=run, args=each) for each in enumerate(steps)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for step, outcome in zip(steps, outcomes):
            check(step["expect"], outcome, step["call"])

    def cancelled(self, step):
        """Cancels a call with a signal handler that raises, as ^C does."""

        def interrupt(*_):
            raise Interrupted

        before = signal.signal(signal.SIGUSR1, interrupt)
        main = threading.get_ident()

        def when_heard():
            self.daemon.hear()
            # The daemon may have the request before the call waits. An interrupt at another place would end the connection, too.
            while sys._current_frames()[main].f_code is not wait.__code__:
                time.sleep(0.001)
            signal.pthread_kill(main, signal.SIGUSR1)

        thread = threading.Thread(target=when_heard)
        thread.start()
        try:
            outcome = self.outcome(call_of(self.client, step))
        finally:
            thread.join()
            signal.signal(signal.SIGUSR1, before)
        check(step["expect"], outcome, step["call"])

    def identify(self, step):
        asked = []

        def callback(user):
            asked.append(user)
            if step["credential"] == "raises":
                raise Raised
            if step.get("late"):
                # The timeout of the call started before this sleep, so it has passed after it.
                time.sleep(timeout_of(step))
            return credential(step["credential"])

        outcome = self.outcome(lambda: self.client.identify(step["identify"], callback, timeout=timeout_of(step)))
        check(step["expect"], outcome, "identify")
        check_asked(step, asked)

    def watch(self, step):
        if step["watch"] not in self.watches:
            self.watches[step["watch"]] = self.client.states() if "states" in step else self.client.watch()
        watch = self.watches[step["watch"]]
        if "error" in step:
            check({"error": step["error"]}, self.outcome(watch.next), "watch")
        for expected in step.get("next", []):
            check({"result": expected}, {"result": wire(next(watch))}, "watch")
        if "until" in step:
            growing = Growing()
            for snapshot in watch:
                growing.note(snapshot)
                if fits(step["until"], wire(snapshot)):
                    break

    def handle(self, step):
        expected = list(step["handle"])
        wrong = queue.Queue()

        @self.client.session_handler
        def handler(request):
            now = expected.pop(0)
            try:
                check(now["request"], wire(request), "handle")
            except Failed as failed:
                wrong.put(failed)
            if not expected:
                wrong.put(None)
            if now["answer"] == "raises":
                raise Raised
            return answer(now["answer"])

        if "error" in step:
            check({"error": step["error"]}, self.outcome(handler.run), "handle")
            return
        with handler:
            found = wrong.get()
        if found is not None:
            raise found


# ---- tasks ----


class Tasks:
    def __init__(self, daemon):
        self.daemon = daemon
        self.watches = {}

    def play(self, steps):
        asyncio.run(self.run(steps))

    async def run(self, steps):
        async with AsyncClient(self.daemon.path) as self.client:
            try:
                for step in steps:
                    await self.step(step)
            finally:
                for watch in self.watches.values():
                    await watch.aclose()

    async def elsewhere(self, function):
        return await asyncio.get_running_loop().run_in_executor(None, function)

    async def step(self, step):
        if "call" in step:
            task = asyncio.ensure_future(self.outcome(call_of(self.client, step)))
            if step.get("cancelWhenHeard"):
                await self.elsewhere(self.daemon.hear)
                task.cancel()
            check(step["expect"], await task, step["call"])
        elif "together" in step:
            outcomes = await asyncio.gather(*(self.outcome(call_of(self.client, each)) for each in step["together"]))
            for each, outcome in zip(step["together"], outcomes):
                check(each["expect"], outcome, each["call"])
        elif "identify" in step:
            await self.identify(step)
        elif "watch" in step:
            await self.watch(step)
        elif "end" in step:
            await self.watches.pop(step["end"]).aclose()
        elif "handle" in step:
            await self.handle(step)
        elif "tell" in step:
            self.daemon.tell()
        else:
            assert step == {"hear": True}, step
            await self.elsewhere(self.daemon.hear)

    async def outcome(self, function):
        try:
            return {"result": wire(await function())}
        except (Exception, asyncio.CancelledError) as error:
            return {"error": error_members(error)}

    async def identify(self, step):
        asked = []

        async def callback(user):
            await asyncio.sleep(0)
            asked.append(user)
            if step["credential"] == "raises":
                raise Raised
            if step.get("late"):
                await asyncio.sleep(timeout_of(step))
            return credential(step["credential"])

        outcome = await self.outcome(lambda: self.client.identify(step["identify"], callback, timeout=timeout_of(step)))
        check(step["expect"], outcome, "identify")
        check_asked(step, asked)

    async def watch(self, step):
        if step["watch"] not in self.watches:
            self.watches[step["watch"]] = self.client.states() if "states" in step else self.client.watch()
        watch = self.watches[step["watch"]]
        if "error" in step:
            check({"error": step["error"]}, await self.outcome(watch.next), "watch")
        for expected in step.get("next", []):
            check({"result": expected}, {"result": wire(await watch.next())}, "watch")
        if "until" in step:
            growing = Growing()
            async for snapshot in watch:
                growing.note(snapshot)
                if fits(step["until"], wire(snapshot)):
                    break

    async def handle(self, step):
        expected = list(step["handle"])
        wrong = asyncio.Queue()

        @self.client.session_handler
        async def handler(request):
            await asyncio.sleep(0)
            now = expected.pop(0)
            try:
                check(now["request"], wire(request), "handle")
            except Failed as failed:
                await wrong.put(failed)
            if not expected:
                await wrong.put(None)
            if now["answer"] == "raises":
                raise Raised
            return answer(now["answer"])

        if "error" in step:
            check({"error": step["error"]}, await self.outcome(handler.run), "handle")
            return
        async with handler:
            found = await wrong.get()
        if found is not None:
            raise found


FLAVOURS = {"sync": Threads, "async": Tasks}


def play(transcript, flavour):
    """Returns the error, or a false value."""
    story = json.loads(transcript.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="jd-") as folder:
        daemon = Daemon(transcript, folder)
        try:
            FLAVOURS[flavour](daemon).play(story["do"])
            return daemon.finish()
        except Failed as failed:
            daemon.process.poll()
            return str(failed)
        finally:
            daemon.kill()


def main(words):
    flavours = [word for word in words if word in FLAVOURS] or list(FLAVOURS)
    named = [SUITE / "transcripts" / f"{word}.json" for word in words if word not in FLAVOURS]
    failures = 0
    for transcript in named or TRANSCRIPTS:
        for flavour in flavours:
            wrong = play(transcript, flavour)
            failures += bool(wrong)
            verdict = f"FAILED  {transcript.stem}, {flavour}: {wrong}" if wrong else f"passed  {transcript.stem}, {flavour}"
            print(verdict, flush=True)
    print(f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
