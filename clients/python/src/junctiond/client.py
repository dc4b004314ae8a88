"""The synchronous client."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Callable, Optional, Union

from . import _calls
from ._again import NO_ROOM, Repetition
from ._calls import Call, T
from ._channel import Channel
from ._errors import Cancelled, JunctionError
from ._feeds import Changes, RenewalFeed
from ._goals import Goal, reached
from ._log import log
from ._place import socket_path
from ._threads import Loop, SharedConnection
from ._values import (
    AccessToken,
    ApiAnswer,
    Caller,
    Check,
    DaemonInfo,
    IdentifyResult,
    ReconcileResult,
    RenewResult,
    Snapshot,
)
from ._waiting import TIMEOUT, Deadline, closed_error
from .credentials import Credential
from .renewal import HandlerResult, RenewalAnswer, RenewalRequest, UnableToRetrieveAuthToken, decision

__all__ = ["Client", "SessionHandler", "Watch"]


class Client:
    """The one signed-in user of this device, as the daemon keeps it.

    It connects when something is asked first, and again after the daemon was restarted. One client serves any number of
    threads over one connection, and starts none of its own.

    Args:
        socket: where the daemon listens. By default `$JUNCTIOND_SOCKET`, then
            `$XDG_RUNTIME_DIR/junctiond/junctiond.sock` if it exists, then `/run/junctiond/junctiond.sock`.
        timeout: how many seconds a call may take where it says nothing else; `math.inf` is for ever. A handler that
            renews may think for 60 seconds, and an API body on a slow line takes as long as it takes.
    """

    def __init__(self, socket: Optional[str] = None, *, timeout: float = TIMEOUT) -> None:
        self._path = socket_path(socket)
        self._timeout = timeout
        self._lock = threading.Lock()
        self._connection: Optional[SharedConnection] = None
        self._closed = threading.Event()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection. Whoever waits, in any thread, gets `Cancelled`.

        Watches and handlers have their own ends.
        """
        with self._lock:
            connection, self._connection = self._connection, None
            self._closed.set()
        if connection is not None:
            connection.close()

    # Who is signed in.

    def status(self, *, timeout: Optional[float] = None) -> Snapshot:
        """The present state of the session."""
        return self._perform(_calls.status(), timeout)

    def watch(self) -> Watch:
        """The state of the session from now on: the present snapshot first, then one for each change.

        It goes on over restarts of the daemon; a daemon that is not there yet is waited for. Whoever is slow gets the
        newest snapshot only.
        """
        return Watch(self._path)

    def states(self) -> Watch:
        """The same as `watch`, but with a snapshot only for each change of the state.

        Neither a renewal nor a switch of users is one. The other members are as they were at that change; `status` has the present ones.

        ```python
        for snapshot in client.states():
            if snapshot.state == State.ESTABLISHED:
                show_main_screen()
        ```
        """
        return Watch(self._path, only_states=True)

    def wait(self, goal: Union[Goal, Callable[[Snapshot], bool]], *, timeout: Optional[float] = None) -> Snapshot:
        """Waits until it is so, also for a daemon that is not there yet; without a `timeout` as long as it takes.

        Args:
            goal: `"signed-in"`, `"signed-out"`, `"fresh"` (signed in with a living token), or what looks at a snapshot.
        """
        deadline = Deadline(timeout)
        with self.watch() as watch:
            while True:
                snapshot = watch.next(timeout=deadline.left)
                if reached(goal, snapshot):
                    return snapshot

    def sign_in(self, credential: Credential, *, timeout: Optional[float] = None) -> Snapshot:
        """Signs a user in. The signed-in user again is a success; somebody else is `AlreadySignedIn`.

        With `credentials.Device()` the answer comes as soon as there are codes for a person to approve it with: they
        are in `Snapshot.authorization`, and `watch` tells when it is over.
        """
        return self._perform(_calls.sign_in(credential), timeout)

    def sign_out(self, *, timeout: Optional[float] = None) -> Snapshot:
        """Signs the user out, from any state and without the network.

        When the answer says `storage.durable == False`, the user is signed out now, but would be back after a restart.
        """
        return self._perform(_calls.sign_out(), timeout)

    def identify(
        self,
        external_user_id: Optional[str],
        credential: Optional[Callable[[str], Credential]] = None,
        *,
        timeout: Optional[float] = None,
    ) -> IdentifyResult:
        """Makes the user that the app knows by this id the signed-in one; `None` signs out.

        Args:
            credential: asked for a credential for that id, and only if one is needed, in the calling thread. When it
                raises, nothing changes, and what it raised is raised here. A daemon that is restarted before it has
                asked is told again; after that a lost connection is `ConnectionLost`, because the credential may have
                been used. A credential that comes after the `timeout` is not used: the daemon's question is refused
                when the call ends.
        """
        call = _calls.identify(external_user_id)

        def ask(connection: SharedConnection, deadline: Deadline, repetition: Repetition) -> IdentifyResult:
            return connection.perform(call, deadline, external_user_id, credential, repetition.daemon_asked)

        return self._repeating(call, ask, timeout)

    def reconcile(self, user_id: Optional[str], *, timeout: Optional[float] = None) -> ReconcileResult:
        """Compares the signed-in user with the one that the app expects, and changes nothing; `None` expects nobody."""
        return self._perform(_calls.reconcile(user_id), timeout)

    def authorization_page(
        self, redirect_uri: str, state: str, code_challenge: str, *, timeout: Optional[float] = None
    ) -> str:
        """OAuth: the address of the page on which a person signs in, to be opened in a browser (RFC 8252)."""
        return self._perform(_calls.authorization_page(redirect_uri, state, code_challenge), timeout)

    # What the signed-in user may do.

    def token(
        self, *, minimum_validity: float = 0.0, patience: float = 0.0, timeout: Optional[float] = None
    ) -> AccessToken:
        """An access token of the signed-in user, which the daemon renews first if it has to.

        Ask each time a token is needed and keep none: a living one costs microseconds.

        Args:
            minimum_validity: how many seconds the token has to live from now on.
            patience: for how many seconds an error that says `retry_after` is waited out and the call made again.
        """
        return self._perform(_calls.token(minimum_validity), timeout, patience)

    def renew(self, *, patience: float = 0.0, timeout: Optional[float] = None) -> RenewResult:
        """Renews the access token now, past a postponement or a backoff. `patience`: as in `token`.

        `RenewResult.snapshot` is there for a caller with the capability `status`.
        """
        return self._perform(_calls.renew(), timeout, patience)

    def api(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, str]] = None,
        headers: Optional[Mapping[str, str]] = None,
        body: Union[str, bytes, None] = None,
        timeout: Optional[float] = None,
    ) -> ApiAnswer:
        """Calls the provider's API as the signed-in user; the daemon adds the credential.

        An answer with a status of 400 or more is an answer, not an error.
        """
        return self._perform(_calls.api(method, path, query, headers, body), timeout)

    def session_handler(self, function: Callable[[RenewalRequest], HandlerResult]) -> SessionHandler:
        """A decorator: the function decides how tokens are renewed, once the handler is `run` or started.

        ```python
        @client.session_handler
        def handler(request):
            return backend.token_for(request.user_id)

        with handler:
            ...
        ```
        """
        return SessionHandler(self._path, function)

    # The daemon itself.

    def info(self, *, timeout: Optional[float] = None) -> DaemonInfo:
        """Which daemon this is, and since when it runs."""
        return self._perform(_calls.info(), timeout)

    def whoami(self, *, timeout: Optional[float] = None) -> Caller:
        """Who this program is to the daemon, and what it may do; needs no capability."""
        return self._perform(_calls.whoami(), timeout)

    def reload(self, *, timeout: Optional[float] = None) -> tuple[str, ...]:
        """Has the daemon read its configuration again; if it refuses the new one, the old one stays in force. Needs `manage`.

        Returns the settings that were changed and wait for a restart of the daemon, by their key.
        """
        return self._perform(_calls.reload(), timeout)

    def metrics(self, *, timeout: Optional[float] = None) -> str:
        """The daemon's counters, in Prometheus text format."""
        return self._perform(_calls.metrics(), timeout)

    def diagnose(self, *, timeout: Optional[float] = None) -> list[Check]:
        """Looks the installation over."""
        return self._perform(_calls.diagnose(), timeout)

    # How.

    def _perform(self, call: Call[T], timeout: Optional[float], patience: float = 0.0) -> T:
        def ask(connection: SharedConnection, deadline: Deadline, _: Repetition) -> T:
            return connection.perform(call, deadline)

        return self._repeating(call, ask, timeout, patience)

    def _repeating(
        self,
        call: Call[T],
        ask: Callable[[SharedConnection, Deadline, Repetition], T],
        timeout: Optional[float],
        patience: float = 0.0,
    ) -> T:
        deadline = Deadline(self._timeout if timeout is None else timeout)
        repetition = Repetition(call, patience)
        while True:
            try:
                return ask(self._usable_connection(deadline), deadline, repetition)
            except JunctionError as error:
                pause = repetition.pause(error)
                if pause is None:
                    raise
            self._closed.wait(deadline.pause(pause))

    def _usable_connection(self, deadline: Deadline) -> SharedConnection:
        while True:
            with self._lock:
                if self._closed.is_set():
                    raise closed_error()
                if self._connection is not None and self._connection.is_usable:
                    return self._connection
                channel = Channel.connect(self._path)
                if channel is not None:
                    if self._connection is not None:
                        self._connection.retire()
                    self._connection = SharedConnection(channel)
                    return self._connection
            self._closed.wait(deadline.pause(NO_ROOM))


class Watch(Iterator[Snapshot]):
    """The state of the session from now on, for `for`; it ends with what a new connection would not change.

    A loop that is left with `break` ends with the watch itself; `with` or `close` end it for certain.
    """

    def __init__(self, path: str, *, only_states: bool = False) -> None:
        """@private"""
        self._changes = Changes(only_states)
        self._loop = Loop(path, self._changes.feed)

    def next(self, *, timeout: Optional[float] = None) -> Snapshot:
        """The present snapshot at first, and after that each one that differs.

        After `TimedOut` it can be called again, and nothing is missed.
        """
        with self._loop.held():
            return self._loop.next(self._changes.take, Deadline(timeout))

    def __next__(self) -> Snapshot:
        try:
            return self.next()
        except Cancelled:
            raise StopIteration from None

    def close(self) -> None:
        """Ends the loop, from any thread."""
        self._loop.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class SessionHandler:
    """A function that decides how tokens are renewed: what `Client.session_handler` makes of it.

    `run` does so in the calling thread; `with handler:` in a thread of its own. It goes on over restarts of the
    daemon. What the function raises is *unable*, and logged. Where there are several handlers, the latest is asked
    first.
    """

    def __init__(self, path: str, function: Callable[[RenewalRequest], HandlerResult]) -> None:
        """@private"""
        self._registered = threading.Event()
        self._loop = Loop(path, RenewalFeed, self._registered.set)
        self._function = function
        self._thread: Optional[threading.Thread] = None
        self._failure: Optional[JunctionError] = None

    def __call__(self, request: RenewalRequest) -> HandlerResult:
        return self._function(request)

    def run(self) -> None:
        """Answers until `stop` is called from elsewhere; raises what a new connection would not change."""
        with self._loop.held():
            while True:
                try:
                    question = self._loop.next(RenewalFeed.take, Deadline(None))
                except Cancelled:
                    return
                question.answer(self._decision(question.request))

    def start(self) -> SessionHandler:
        """Answers in a thread of its own, until `stop`; returns as soon as the daemon knows of it.

        A daemon that is not there yet is waited for; what a new connection would not change is raised.
        """
        self._thread = threading.Thread(target=self._run_to_the_end, name="junctiond session handler", daemon=True)
        self._thread.start()
        self._registered.wait()
        if self._failure is not None:
            self.stop()
        return self

    def stop(self) -> None:
        """Is a session handler no longer, from any thread; raises what ended it before that."""
        self._loop.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def __enter__(self) -> SessionHandler:
        return self.start()

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()

    def _run_to_the_end(self) -> None:
        try:
            self.run()
        except JunctionError as error:
            log.error("The session handler has ended: %s", error)
            self._failure = error
        finally:
            self._registered.set()

    def _decision(self, request: RenewalRequest) -> RenewalAnswer:
        try:
            return decision(self._function(request))
        except Exception:
            log.exception("The session handler was unable to decide renewal %s", request.renewal_id)
            return UnableToRetrieveAuthToken()
