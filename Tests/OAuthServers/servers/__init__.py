"""Two authorization servers of other projects, run on loopback for the duration of a test."""

from .glewlwyd import Glewlwyd
from .toolkit import Toolkit

KINDS = {"glewlwyd": Glewlwyd, "toolkit": Toolkit}
