"""The cases, in their order."""

from . import names, families, limits, certificates, authorities, clients, proxies, secrets, portals, answers
