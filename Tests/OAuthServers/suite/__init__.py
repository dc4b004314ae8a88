"""What the cases share: the stage on which they play, the daemon under test, and how they say what holds."""

from .checks import Checks
from .daemon import Daemon, Refused
from .stage import Stage, await_that, case, cases, is_healthy, is_refused_without_a_word, needs_sign_in
