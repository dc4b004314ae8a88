"""Saying what holds."""

import traceback


class Checks:
    """One line for each check, and at the end how many held."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.case = ""

    def check(self, text, holds, seen=None):
        """`seen`: what was there instead, for whoever has to find out why."""
        self._verdict(bool(holds), text)
        if not holds and seen is not None:
            print(f"    | {str(seen)[:1500]}", flush=True)
        return bool(holds)

    def ended_early(self, error):
        self._verdict(False, "ran to its end")
        for line in "".join(traceback.format_exception(error)[-4:]).splitlines()[-16:]:
            print(f"    | {line[:400]}", flush=True)

    def _verdict(self, holds, text):
        self.passed += holds
        self.failed += not holds
        number = self.passed + self.failed
        print(f"{'ok' if holds else 'not ok':6} {number:3}  {self.case}: {text}", flush=True)
