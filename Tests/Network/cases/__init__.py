"""The cases, in the order in which they run."""

from . import names, families, limits, certificates, authorities, clients, proxies, secrets, portals, answers
