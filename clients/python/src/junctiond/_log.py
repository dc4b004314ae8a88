"""The log of the library. Never contains a secret."""

import logging

log = logging.getLogger("junctiond")
log.addHandler(logging.NullHandler())
