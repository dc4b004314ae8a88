"""The common part of the cases: the stage, the daemon under test, and the checks."""

from .checks import Checks
from .daemon import Daemon, Refused
from .stage import Stage, await_that, case, cases, is_healthy, is_refused_without_a_word, needs_sign_in
