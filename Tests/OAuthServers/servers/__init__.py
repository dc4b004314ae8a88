"""Two authorization servers that others wrote, run on loopback for as long as a test needs them."""

from .glewlwyd import Glewlwyd
from .toolkit import Toolkit

KINDS = {"glewlwyd": Glewlwyd, "toolkit": Toolkit}
