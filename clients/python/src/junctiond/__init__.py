"""The client library of junctiond: the one signed-in user of this device, for a local app.

```python
from junctiond import Client

client = Client()                       # ready to use; connects when something is asked first
client = Client()                       # connects with the first call
print(client.status().state)
token = client.token()                  # the daemon renews a token before it expires
for snapshot in client.watch():         # the current state first, then every change, across restarts of the daemon
    print(snapshot.state, snapshot.user_id)
```

`AsyncClient` does the same for asyncio. Every error is a `JunctionError`.
"""

from . import credentials, renewal
from ._errors import (
    AlreadySignedIn,
    Busy,
    Cancelled,
    ConnectionLost,
    DaemonFailed,
    DaemonUnreachable,
    IncompatibleCredential,
    InvalidCredential,
    InvalidParams,
    InvalidSocketPath,
    JunctionError,
    LocalFailure,
    MethodNotFound,
    Misconfigured,
    NotSignedIn,
    PermissionDenied,
    ProtocolViolated,
    ProviderUnavailable,
    ReauthenticationRequired,
    RequestTooLarge,
    SessionTerminated,
    StorageUnavailable,
    TimedOut,
    TokenExpired,
    UnreadableAnswer,
    Unsupported,
)
from ._secret import Secret
from ._values import (
    AccessEntry,
    AccessToken,
    ApiAnswer,
    Authorization,
    Caller,
    Check,
    DaemonInfo,
    Flag,
    IdentifyResult,
    Phase,
    ReconcileResult,
    Renewal,
    RenewResult,
    Snapshot,
    State,
    Storage,
    Termination,
    TokenLife,
)
from .aio import AsyncClient, AsyncSessionHandler, AsyncWatch
from .client import Client, SessionHandler, Watch

__version__ = "0.1.0"

__all__ = [
    "AccessEntry",
    "AccessToken",
    "AlreadySignedIn",
    "ApiAnswer",
    "AsyncClient",
    "AsyncSessionHandler",
    "AsyncWatch",
    "Authorization",
    "Busy",
    "Caller",
    "Cancelled",
    "Check",
    "Client",
    "ConnectionLost",
    "DaemonFailed",
    "DaemonInfo",
    "DaemonUnreachable",
    "Flag",
    "IdentifyResult",
    "IncompatibleCredential",
    "InvalidCredential",
    "InvalidParams",
    "InvalidSocketPath",
    "JunctionError",
    "LocalFailure",
    "MethodNotFound",
    "Misconfigured",
    "NotSignedIn",
    "PermissionDenied",
    "Phase",
    "ProtocolViolated",
    "ProviderUnavailable",
    "ReauthenticationRequired",
    "ReconcileResult",
    "RenewResult",
    "Renewal",
    "RequestTooLarge",
    "Secret",
    "SessionHandler",
    "SessionTerminated",
    "Snapshot",
    "State",
    "Storage",
    "StorageUnavailable",
    "Termination",
    "TimedOut",
    "TokenExpired",
    "TokenLife",
    "UnreadableAnswer",
    "Unsupported",
    "Watch",
    "credentials",
    "renewal",
]
