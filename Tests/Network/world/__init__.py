"""What the cases are played in: a machine in namespaces of its own, and an Internet of threads around it."""

from .authority import Authority
from .machine import HOLE, HOLE6
from .names import NameServer
from .proxy import Proxy
from .stage import Stage, case, cases
from .web import Web, answer, close, drip, endless, forward, hold
