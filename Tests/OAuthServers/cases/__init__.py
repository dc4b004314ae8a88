"""The cases, in their order."""

from . import sign_in, renewing, crashes, reuse, users, client, outage, sign_out
