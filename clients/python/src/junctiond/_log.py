"""What the application has to hear of that it did not ask for. Never a secret."""

import logging

log = logging.getLogger("junctiond")
log.addHandler(logging.NullHandler())
