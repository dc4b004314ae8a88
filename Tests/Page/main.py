"""Checks the page in a browser. See run."""

import json
import os
import subprocess
import sys
import traceback
from urllib.parse import quote

from browser import Browser, Gone
from stage import Stage

LOGIN = "document.querySelector('.login[data-vendor=junction]')"
STORY = f"[...{LOGIN}.querySelectorAll('.timeline li')].map((entry) => entry.dataset.kind)"
NAMES = ["<script>document.title='taken'</script>", "\"><img src=x onerror=document.title='taken'>"]


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, text: str, holds: bool, instead=None):
        print(f"{'ok    ' if holds else 'not ok'} {text}" + ("" if holds or instead is None else f": {instead}"), flush=True)
        self.passed += holds
        self.failed += not holds

    def run(self, case, *arguments):
        try:
            case(self, *arguments)
        except Gone:
            raise
        except Exception:  # A failed case does not stop the others.
            self(f"{case.__name__} runs to its end", False, traceback.format_exc(limit=3))


def survives_an_outage(check: Checks, stage: Stage, page: Browser):
    page.write("#new-name", "anna")
    page.click("#new-button")
    page.wait("document.querySelector('#user-list [data-vendor=junction] .who')?.textContent === 'anna'")
    check("an added user appears in the list without a reload", True)

    page.click("#user-list summary")
    page.click("[aria-label='anna: Sign-In Token']")
    page.wait("document.querySelector('#last-answer').textContent.includes('signInToken')")
    command = page.evaluate("document.querySelector('#last-command').textContent")
    check("a button shows the equivalent command", command.startswith(f"curl -s -X POST {stage.origin}/sandbox/users/"), command)
    token = json.loads(page.evaluate("document.querySelector('#last-answer').textContent"))["signInToken"]

    configuration = page.evaluate("document.querySelector('#configurations [data-key=junction] code').textContent")
    stage.start_daemon(configuration)
    check("a daemon starts with the configuration that the page shows", True)
    stage.ctl("sign-in", given=token)
    page.wait(f"{LOGIN}?.querySelector('.badge').dataset.standing === 'alive'")
    check("the page shows the login with its first refresh token", page.evaluate(STORY) == ["opened"], page.evaluate(STORY))

    # The answer to a renewal is lost: the token was replaced, and the daemon does not have the next one.
    page.click("[data-fault='{\"drop\":\"after\"}']")
    page.wait("document.querySelectorAll('#pending li').length === 1")
    check("a fault waits for its request", "drop" in page.evaluate("document.querySelector('#pending').textContent"))
    stage.ctl("renew", may_fail=True)
    page.wait(f"{STORY}[0] === 'replayed'")
    check("the daemon sends the refresh token again within the grace", page.evaluate(STORY) == ["replayed", "rotated", "opened"], page.evaluate(STORY))
    check("the page shows the end of the grace", page.evaluate(f"{LOGIN}.querySelectorAll('.grace[data-open=true]').length") == 2)
    check("the fault is used up", page.evaluate("document.querySelectorAll('#pending li').length") == 0)
    stage.ctl("wait", "--for", "fresh", "--timeout", "60")
    check("the user is still signed in", stage.session().get("state") == "established", stage.session())

    # The network fails and recovers.
    page.choose("#times", "until cleared")
    page.click("[data-fault='{\"drop\":\"before\"}']")
    page.wait("document.querySelectorAll('#pending li').length === 1")
    failed = stage.ctl("renew", may_fail=True)
    check("without a network a renewal fails", failed.returncode != 0, failed.stdout)
    page.wait("Number(document.querySelector('[data-counter=dropped] dd').textContent) >= 2")
    check("the page counts the lost requests", True)
    page.click("[data-call='DELETE /sandbox/faults']")
    page.wait("document.querySelectorAll('#pending li').length === 0")
    page.wait(f"{STORY}[0] === 'rotated'", seconds=60)
    check("the daemon renews when the network is back", True)
    check("a renewal ends every earlier grace",
          page.evaluate(f"{LOGIN}.querySelectorAll('.grace[data-open=true]').length") == 1)
    stage.ctl("wait", "--for", "fresh", "--timeout", "60")
    check("no family was revoked", stage.get("/sandbox/counters")["familyRevocations"] == 0)


def ends_a_login(check: Checks, stage: Stage, page: Browser):
    page.click("[aria-label='anna: Require a new sign-in']")
    page.wait(f"{LOGIN}.querySelector('.badge').dataset.standing === 'ended'")
    stage.ctl("renew", may_fail=True)
    page.wait(f"{STORY}[0] === 'refused'")
    check("the page shows the end of a login and the later refusal", page.evaluate(STORY)[:2] == ["refused", "ended"], page.evaluate(STORY))
    check("the daemon reports the pending reauthentication", "pendingReauthentication" in stage.session()["flags"], stage.session())


def shows_every_vendor(check: Checks, stage: Stage, page: Browser):
    stage.post("/sandbox/social/users", {"name": "bert"})
    stage.post("/sandbox/oauth/users", {"name": "dora"})
    tokens = stage.post("/sandbox/oauth/users/dora/tokens")
    page.wait("document.querySelector('.login[data-vendor=oauth]')")
    request = f"grant_type=refresh_token&client_id=sandbox-public&refresh_token={tokens['refreshToken']}"
    refresh = f"""fetch("/oauth/token", {{ method: "POST", body: new URLSearchParams("{request}") }}).then((answer) => answer.status)"""
    page.evaluate(refresh)
    page.wait("document.querySelector('.login[data-vendor=oauth] [data-kind=rotated] .grace')?.dataset.open === 'true'")
    page.click("[data-body='{\"advanceSeconds\":60}']")
    page.wait("document.querySelector('.login[data-vendor=oauth] [data-kind=rotated] .grace').dataset.open === 'false'")
    check("an advanced clock ends the grace", True)
    page.evaluate(refresh)
    page.wait("document.querySelector('.login[data-vendor=oauth] [data-kind=reused]')")
    check("a token used after its grace revokes its family",
          page.evaluate("document.querySelector('.login[data-vendor=oauth] .badge').textContent") == "ended")
    check("the page announces the revocation", "revoked" in page.evaluate("document.querySelector('#news').textContent"))
    vendors = page.evaluate("[...new Set([...document.querySelectorAll('#user-list > li')].map((user) => user.dataset.vendor))]")
    check("the page shows the users of all vendors", sorted(vendors) == ["junction", "oauth", "social"], vendors)


def shows_names_as_they_are(check: Checks, stage: Stage, page: Browser):
    for name in NAMES:
        stage.post("/sandbox/users", {"name": name})
        stage.post("/sandbox/social/users", {"name": name[:50]})
        stage.post("/sandbox/oauth/users", {"name": name})
        stage.post(f"/sandbox/oauth/users/{quote(name, safe='')}/tokens")
    page.wait("document.querySelectorAll('#user-list > li').length >= 9")
    page.wait("document.querySelectorAll('.login[data-vendor=oauth]').length >= 3")
    shown = page.evaluate("[...document.querySelectorAll('.who')].map((who) => who.textContent)")
    check("a name with markup is shown as text", all(shown.count(name) >= 2 for name in NAMES), shown)
    strange = page.evaluate("document.querySelectorAll('main script, main img, [onerror]').length")
    check("a name with markup creates no element", strange == 0, strange)
    check("a name with markup runs no script", page.evaluate("document.title") == "junction-sandbox")
    blocked = page.evaluate("""new Promise((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), { once: true });
        const script = document.createElement("script");
        script.textContent = "document.title = 'taken'; document.dispatchEvent(new Event('securitypolicyviolation'))";
        document.body.append(script);
    })""")
    check("the policy blocks an inline script", blocked == "script-src-elem", blocked)


def works_by_keyboard(check: Checks, stage: Stage, page: Browser):
    page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges(); scrollTo(0, 0)")
    page.call("Page.reload")
    page.wait("document.body?.dataset.connection === 'live' && document.querySelectorAll('#user-list > li').length > 0")
    page.press("Tab")
    first = page.evaluate("[document.activeElement.className, document.activeElement.getBoundingClientRect().top >= 0]")
    check("the first tab stop is a visible link that skips the navigation", first == ["skip", True], first)
    page.press("Enter")
    page.wait("document.activeElement.id === 'main'")
    for _ in range(12):
        page.press("Tab")
        if page.evaluate("document.activeElement.dataset.fault") == '{"drop":"after"}':
            break
    check("a fault button is a few tab stops further", page.evaluate("document.activeElement.dataset.fault") == '{"drop":"after"}')
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    check("the focus is visible", outline == "solid", outline)
    page.press("Enter")
    page.wait("document.querySelectorAll('#pending li').length === 1")
    page.press(" ")
    page.wait("document.querySelectorAll('#pending li').length === 2")
    check("the keyboard activates the button as a click does, repeatedly",
          page.evaluate("document.activeElement.dataset.fault") == '{"drop":"after"}')
    page.evaluate("document.querySelector('#user-list summary').focus()")
    stage.post("/sandbox/users", {"name": "newest"})
    page.wait("[...document.querySelectorAll('.who')].some((who) => who.textContent === 'newest')")
    check("an update does not take the focus", page.evaluate("document.activeElement.tagName") == "SUMMARY")
    page.click("[data-call='DELETE /sandbox/faults']")
    page.wait("document.querySelectorAll('#pending li').length === 0")


def speaks_to_screen_readers(check: Checks, stage: Stage, page: Browser):
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    seen = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node.get("ignored")]
    roles = {role for role, _ in seen}
    check("the page has landmarks", {"banner", "navigation", "main", "region", "status"} <= roles, sorted(roles))
    controls = {"button", "link", "textbox", "combobox", "checkbox", "spinbutton", "region", "list", "article", "navigation", "DisclosureTriangle"}
    nameless = [role for role, name in seen if role in controls - {"list"} and not name.strip()]
    check("every control has a name", not nameless, nameless)
    check("the announcements are a polite live region", page.evaluate("document.querySelector('#news').ariaLive") == "polite")
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((title) => Number(title.tagName[1]))")
    check("no heading level is skipped", levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels)


def looks_right(check: Checks, stage: Stage, page: Browser):
    measured = {}
    for scheme in ("light", "dark"):
        page.look(prefers_color_scheme=scheme)
        measured[scheme] = page.evaluate("""(() => {
            const light = (text) => {
                const [r, g, b] = text.match(/[\\d.]+/g).map((value) => {
                    const part = value / 255;
                    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ground = (element) => {
                for (let at = element; at; at = at.parentElement) {
                    const colour = getComputedStyle(at).backgroundColor;
                    if (colour !== "rgba(0, 0, 0, 0)") return light(colour);
                }
                return 1;
            };
            const weak = [];
            for (const element of document.querySelectorAll("body *")) {
                const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
                if (!says || !element.checkVisibility()) continue;
                const [one, other] = [light(getComputedStyle(element).color), ground(element)].sort((a, b) => b - a);
                if ((one + 0.05) / (other + 0.05) < 4.5) weak.push(element.outerHTML.slice(0, 120));
            }
            return { ground: ground(document.body), weak };
        })()""")
        check(f"every text stands out, {scheme}", not measured[scheme]["weak"], measured[scheme]["weak"][:3])
    check("each colour scheme has its background", measured["dark"]["ground"] < 0.1 < 0.8 < measured["light"]["ground"])
    page.look(prefers_color_scheme="light")
    page.size(360, 740)
    wide = page.evaluate("document.documentElement.scrollWidth")
    check("the page fits a narrow screen", wide <= 360, wide)
    page.size(1280, 900)


def copies(check: Checks, stage: Stage, page: Browser):
    page.call("Browser.grantPermissions",
              {"origin": stage.origin, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}, session=None)
    page.click("#configurations [data-key=oauth] summary")
    page.click("[aria-label='Copy the configuration for OAuth']")
    page.wait("document.querySelector('#news').textContent.startsWith('Copied')")
    text = page.evaluate("navigator.clipboard.readText()")
    check("a configuration can be copied", f'issuer = "{stage.origin}/oauth"' in text, text)


def comes_back(check: Checks, stage: Stage, page: Browser):
    stage.stop_sandbox()
    page.wait("document.body.dataset.connection === 'lost'")
    check("the page reports an unreachable sandbox", "not reachable" in page.evaluate("document.querySelector('#connection').textContent"))
    stage.start_sandbox(stage.origin.removeprefix("http://"))
    page.wait("document.body.dataset.connection === 'live'")
    page.wait(f"{LOGIN}")
    check("the page reconnects to a restarted sandbox and shows its logins", "opened" in page.evaluate(STORY), page.evaluate(STORY))


def asks_nobody_else(check: Checks, stage: Stage, page: Browser):
    asked = {event["params"]["request"]["url"] for event in page.events if event["method"] == "Network.requestWillBeSent"}
    strangers = [url for url in asked if not url.startswith((stage.origin + "/", "about:"))]
    check("the page sends requests only to its sandbox", asked and not strangers, strangers)
    complaints = [
        event["params"] for event in page.events
        if event["method"] == "Runtime.exceptionThrown"
        or (event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"
            and event["params"]["entry"]["source"] in ("javascript", "security")
            and "script-src" not in event["params"]["entry"]["text"])
    ]
    check("the page logs no errors", not complaints, complaints)


def pictures(stage: Stage, page: Browser, folder: str):
    os.makedirs(folder, exist_ok=True)
    page.size(1280, 900)
    page.look(prefers_color_scheme="light")
    page.evaluate("scrollTo(0, 0)")
    page.picture(os.path.join(folder, "sandbox-light.png"))


def story(check: Checks, binaries: str, program: str, screenshots: str | None):
    stage = Stage(binaries)
    page = None
    try:
        page = Browser(program)
        page.size(1280, 900)
        page.open(stage.origin + "/")
        check.run(survives_an_outage, stage, page)
        if screenshots is not None:
            pictures(stage, page, screenshots)
        for case in (ends_a_login, shows_every_vendor, shows_names_as_they_are, works_by_keyboard, speaks_to_screen_readers,
                     looks_right, copies, comes_back, asks_nobody_else):
            check.run(case, stage, page)
    finally:
        if page is not None:
            page.close()
        if check.failed and stage.daemon is not None:
            print(open(stage.log.name).read()[-3000:], file=sys.stderr)
        stage.close()


def starts_at_all(program: str) -> bool:
    """Returns whether the browser can show an empty page."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    try:
        plain = subprocess.run([program, "--headless", *sandbox, "--dump-dom", "about:blank"], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return False
    return plain.returncode == 0 and b"<html>" in plain.stdout


def main() -> int:
    binaries, program, *rest = sys.argv[1:]
    screenshots = rest[1] if rest[:1] == ["--screenshots"] else None
    # A crash of the browser counts as a defect of the page only if it happens in every attempt.
    was_there = False
    for is_last in (False, False, True):
        check = Checks()
        try:
            story(check, binaries, program, screenshots)
        except Gone as gone:
            print(f"the browser ended by itself; it said: {gone or 'nothing'}", file=sys.stderr)
            was_there = was_there or gone.was_there
            if not is_last:
                continue
            if not was_there and not starts_at_all(program):
                print(f"cannot be run: they need Chromium, and {program} does not start here")
                return 77
            check("the browser does not crash", False)
        break
    print(f"Page: {check.passed} passed, {check.failed} failed")
    return 1 if check.failed or not check.passed else 0


if __name__ == "__main__":
    sys.exit(main())
