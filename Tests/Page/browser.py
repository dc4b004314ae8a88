"""A headless Chromium, controlled by the DevTools protocol over two pipes."""

import base64
import fcntl
import itertools
import json
import os
import queue
import subprocess
import tempfile
import threading


class Failure(Exception):
    pass


class Gone(Exception):
    """The browser has ended unexpectedly. The text is the end of its log."""

    def __init__(self, text: str, was_there: bool):
        super().__init__(text)
        self.was_there = was_there


class Browser:
    """One browser with one page and a temporary profile."""

    def __init__(self, program: str):
        self.profile = tempfile.TemporaryDirectory(prefix="page-profile-", ignore_cleanup_errors=True)
        to_browser, self._out = _pipe()
        self._in, from_browser = _pipe()
        arguments = [
            program, "--headless", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "--no-first-run",
            "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
            "--force-device-scale-factor=1", "--hide-scrollbars",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # Chromium's own sandbox does not work as root.
        self._log = open(os.path.join(self.profile.name, "log"), "wb")
        self._has_answered = False
        # The browser reads from descriptor 3 and writes to descriptor 4.
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", *arguments],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            env={**os.environ, "HOME": self.profile.name},
        )
        os.close(to_browser)
        os.close(from_browser)
        self._numbers = itertools.count(1)
        self._answers: dict[int, queue.Queue] = {}
        self._lock = threading.Lock()
        self.events: list[dict] = []
        threading.Thread(target=self._read, daemon=True).start()

        try:
            self._open_page()
        except BaseException:
            self.close()
            raise

    def _open_page(self):
        target = self.call("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        self._session = None
        attached = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", {"enabled": True})

    def _read(self):
        rest = b""
        while chunk := os.read(self._in, 1 << 16):
            *messages, rest = (rest + chunk).split(b"\0")
            for text in messages:
                message = json.loads(text)
                if "id" in message:
                    self._answers[message["id"]].put(message)
                else:
                    self.events.append(message)
        for waiting in list(self._answers.values()):
            waiting.put(None)

    def call(self, method: str, parameters: dict | None = None, session: str | None = "page") -> dict:
        """Returns the result of one command. Fails if no answer arrives within a minute."""
        message = {"id": next(self._numbers), "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = self._session
        answer = self._answers[message["id"]] = queue.Queue()
        try:
            with self._lock:
                _write(self._out, json.dumps(message).encode() + b"\0")
            said = answer.get(timeout=60)
        except BrokenPipeError:
            said = None
        except queue.Empty:
            if not self._has_answered:
                raise Gone("not a word in a minute", was_there=False) from None
            raise Failure(f"the browser does not answer {method}") from None
        del self._answers[message["id"]]
        if said is None:
            raise Gone(open(self._log.name, errors="replace").read()[-2000:], was_there=self._has_answered)
        self._has_answered = True
        if "error" in said:
            raise Failure(f"{method}: {said['error']['message']}")
        return said["result"]

    # ---- the page ----

    def open(self, url: str):
        self.call("Page.navigate", {"url": url})
        self.wait("document.body?.dataset.connection === 'live'")

    def evaluate(self, expression: str):
        result = self.call("Runtime.evaluate", {
            "expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": True,
        })
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(f"{expression[:200]}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def wait(self, condition: str, seconds: int = 45):
        """Waits until an expression holds. Evaluates it now and at every change of the page."""
        held = self.evaluate(f"""new Promise((resolve) => {{
            const holds = () => {{ try {{ return ({condition}); }} catch {{ return false; }} }};
            if (holds()) return resolve(true);
            const observer = new MutationObserver(() => {{
                if (holds()) {{ observer.disconnect(); clearTimeout(limit); resolve(true); }}
            }});
            const limit = setTimeout(() => {{ observer.disconnect(); resolve(false); }}, {seconds * 1000});
            observer.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
        }})""")
        if not held:
            raise Failure(f"it never came to be: {condition}")

    def click(self, selector: str):
        """Clicks with the mouse in the middle of an element."""
        spot = self.evaluate(f"""(() => {{
            const found = document.querySelector({json.dumps(selector)});
            found.scrollIntoView({{ block: "center", behavior: "instant" }});
            const box = found.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {
                "type": kind, "x": spot[0], "y": spot[1], "button": "left", "clickCount": 1,
            })

    def press(self, key: str):
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(key, "")
        event = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": codes[key]}
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event, **({"text": text} if text else {})})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def write(self, selector: str, text: str):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
        self.call("Input.insertText", {"text": text})

    def choose(self, selector: str, label: str):
        self.evaluate(f"""(() => {{
            const list = document.querySelector({json.dumps(selector)});
            list.value = [...list.options].find((option) => option.text === {json.dumps(label)}).value;
            list.dispatchEvent(new Event("change", {{ bubbles: true }}));
        }})()""")

    def look(self, **features: str):
        """Emulates media features of the user's machine, such as prefers-color-scheme."""
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", {"features": named})

    def size(self, width: int, height: int):
        self.call("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False,
        })

    def picture(self, path: str):
        data = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        self._log.close()
        self.profile.cleanup()


def _pipe() -> tuple[int, int]:
    """Returns a pipe whose descriptors are 10 or higher, so that they differ from the browser's 3 and 4."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return moved


def _write(descriptor: int, data: bytes):
    while data:
        data = data[os.write(descriptor, data):]
