"""The environment of the cases: a machine in its own namespaces, and a simulated Internet made of threads."""

from suite.stage import case, cases

from .authority import Authority
from .machine import HOLE, HOLE6
from .names import NameServer
from .proxy import Proxy
from .stage import Stage
from .web import Web, answer, close, drip, endless, forward, hold
