"""Checks and their output."""

import traceback


class Checks:
    """Prints one line for each check, and at the end the number of passed checks."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.case = ""

    def check(self, text, holds, seen=None):
        """`seen`: the actual value, for the investigation of a failure."""
        self._verdict(bool(holds), text)
        if not holds and seen is not None:
            self._show(str(seen).splitlines()[-30:])
        return bool(holds)

    def ended_early(self, error):
        self._verdict(False, "ran to its end")
        self._show("".join(traceback.format_exception(error)[-4:]).splitlines()[-16:])

    def _show(self, lines):
        for line in lines:
            print(f"    | {line[:1500]}", flush=True)

    def _verdict(self, holds, text):
        self.passed += holds
        self.failed += not holds
        number = self.passed + self.failed
        print(f"{'ok' if holds else 'not ok':6} {number:3}  {self.case}: {text}", flush=True)
