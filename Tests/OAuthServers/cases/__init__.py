"""The cases, in the order in which they run."""

from . import sign_in, renewing, crashes, reuse, users, client, outage, sign_out
