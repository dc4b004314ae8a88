"""The synchronous client."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from queue import SimpleQueue
from types import TracebackType
from typing import Callable, Optional, Union

from . import _calls
from ._again import NO_ROOM, Repetition
from ._calls import Call, T
from ._channel import Channel
from ._errors import Cancelled, JunctionError
from ._feeds import Changes, RenewalFeed, RenewalQuestion
from ._goals import Goal, check, reached
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
from ._waiting import TIMEOUT, Deadline, Wake, closed_error, doze
from .credentials import Credential
from .renewal import HandlerResult, RenewalRequest, UnableToRetrieveAuthToken, decision

__all__ = ["Client", "SessionHandler", "Watch"]


class Client:
    """The session of this device.

    The client connects with the first call, and again after a restart of the daemon. One client serves any number of
    threads over one connection, and starts no thread.

    Args:
        socket: the daemon's socket. By default that of `instance`, then `$JUNCTIOND_SOCKET`, then that of
            `$JUNCTIOND_INSTANCE`, then that of the instance `junctiond`.
        instance: the name of one of several installations on this machine. Its socket is
            `$XDG_RUNTIME_DIR/junctiond/NAME.sock` if that exists, else `/run/junctiond/NAME.sock`.
        timeout: the default timeout of a call in seconds; `math.inf` means none. A session handler may take 60 seconds
            for a renewal, and a large API body on a slow line may take longer.
    """

    def __init__(
        self, socket: Optional[str] = None, *, instance: Optional[str] = None, timeout: float = TIMEOUT
    ) -> None:
        self._path = socket_path(socket, instance)
        self._timeout = timeout
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._connection: Optional[SharedConnection] = None
        self._is_closed = False
        # Ends the pauses between the attempts of a call.
        self._closing: Wake = SimpleQueue()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection. Calls in progress, in any thread, raise `Cancelled`.

        Watches and handlers are closed separately.
        """
        self._leave_parent()
        with self._lock:
            connection, self._connection = self._connection, None
            self._is_closed = True
        self._closing.put(None)
        if connection is not None:
            connection.close()

    # The session.

    def status(self, *, timeout: Optional[float] = None) -> Snapshot:
        """Returns the current state of the session."""
        return self._perform(_calls.status(), timeout)

    def watch(self) -> Watch:
        """Returns the states of the session from now on: the current snapshot first, then one for each change.

        The watch continues across restarts of the daemon, and waits for a daemon that is not there yet. A slow reader
        receives only the newest snapshot.
        """
        return Watch(self._path)

    def states(self) -> Watch:
        """The same as `watch`, but with a snapshot only for each change of the state.

        A renewal or a switch of users is not such a change. The other members have their values at that change;
        `status` has the current ones.

        ```python
        for snapshot in client.states():
            if snapshot.state == State.ESTABLISHED:
                show_main_screen()
        ```
        """
        return Watch(self._path, only_states=True)

    def wait(self, goal: Union[Goal, Callable[[Snapshot], bool]], *, timeout: Optional[float] = None) -> Snapshot:
        """Waits until the session reaches the goal, also for a daemon that is not there yet. The default is no timeout.

        `"fresh"` raises `SessionTerminated`, `ReauthenticationRequired` or `StorageUnavailable` if the session does not become
        fresh by waiting.

        Args:
            goal: `"signed-in"`, `"signed-out"`, `"fresh"` (signed in with a valid token), or a predicate on snapshots.
        """
        check(goal)
        deadline = Deadline(timeout)
        with self.watch() as watch:
            while True:
                snapshot = watch.next(timeout=deadline.left)
                if reached(goal, snapshot):
                    return snapshot

    def sign_in(self, credential: Credential, *, timeout: Optional[float] = None) -> Snapshot:
        """Signs a user in. It succeeds if this user is already signed in; for another user it raises `AlreadySignedIn`.

        With `credentials.Device()` it returns as soon as there are codes with which a person approves the sign-in. The
        codes are in `Snapshot.authorization`, and `watch` reports the end of the sign-in.
        """
        return self._perform(_calls.sign_in(credential), timeout)

    def sign_out(self, *, timeout: Optional[float] = None) -> Snapshot:
        """Signs the user out, from any state and without the network.

        If the result has `storage.durable == False`, a restart of the daemon would restore the session.
        """
        return self._perform(_calls.sign_out(), timeout)

    def identify(
        self,
        external_user_id: Optional[str],
        credential: Optional[Callable[[str], Credential]] = None,
        *,
        timeout: Optional[float] = None,
    ) -> IdentifyResult:
        """Signs in the user with this id of the app; `None` signs out.

        Args:
            credential: returns a credential for that id. The client calls it in the calling thread, and only if a
                credential is needed. If it raises, nothing changes, and the exception is raised here. If the connection
                is lost before the daemon has asked for a credential, the client repeats the call; after that it raises
                `ConnectionLost`, because the credential may have been used. A credential that comes after the `timeout`
                is not used: the client refuses the daemon's question when the call ends.
        """
        call = _calls.identify(external_user_id)

        def ask(connection: SharedConnection, deadline: Deadline, repetition: Repetition) -> IdentifyResult:
            return connection.perform(call, deadline, external_user_id, credential, repetition.daemon_asked)

        return self._repeating(call, ask, timeout)

    def reconcile(self, user_id: Optional[str], *, timeout: Optional[float] = None) -> ReconcileResult:
        """Compares the signed-in user with the expected one, and changes nothing; `None` expects no user."""
        return self._perform(_calls.reconcile(user_id), timeout)

    def authorization_page(
        self, redirect_uri: str, state: str, code_challenge: str, *, timeout: Optional[float] = None
    ) -> str:
        """OAuth: returns the address of the sign-in page, to be opened in a browser (RFC 8252)."""
        return self._perform(_calls.authorization_page(redirect_uri, state, code_challenge), timeout)

    # Tokens and the provider's API.

    def token(
        self, *, minimum_validity: float = 0.0, patience: float = 0.0, timeout: Optional[float] = None
    ) -> AccessToken:
        """Returns an access token of the signed-in user. The daemon renews it first if necessary.

        Call this each time a token is needed and do not store it: a valid token costs microseconds.

        Args:
            minimum_validity: how many seconds the token must be valid from now on.
            patience: for how many seconds the client waits and repeats the call after errors with `retry_after`.
        """
        return self._perform(_calls.token(minimum_validity), timeout, patience)

    def renew(self, *, patience: float = 0.0, timeout: Optional[float] = None) -> RenewResult:
        """Renews the access token now, despite a postponement or a backoff. `patience`: as in `token`.

        Only a caller with the capability `status` receives `RenewResult.snapshot`.
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
        """Calls the provider's API as the signed-in user. The daemon adds the credential.

        A status of 400 or more is an answer, not an error.
        """
        return self._perform(_calls.api(method, path, query, headers, body), timeout)

    def session_handler(self, function: Callable[[RenewalRequest], HandlerResult]) -> SessionHandler:
        """A decorator: the function decides how tokens are renewed, while the handler runs (`run`, `start` or `with`).

        ```python
        @client.session_handler
        def handler(request):
            return backend.token_for(request.user_id)

        with handler:
            ...
        ```
        """
        return SessionHandler(self._path, function)

    # The daemon.

    def info(self, *, timeout: Optional[float] = None) -> DaemonInfo:
        """Returns the version of the daemon and its start time."""
        return self._perform(_calls.info(), timeout)

    def whoami(self, *, timeout: Optional[float] = None) -> Caller:
        """Returns how the daemon sees this program. Needs no capability."""
        return self._perform(_calls.whoami(), timeout)

    def reload(self, *, timeout: Optional[float] = None) -> tuple[str, ...]:
        """Makes the daemon read its configuration again. If it rejects the new one, the old one stays in force. Needs `manage`.

        Returns the keys of changed settings that need a restart of the daemon.
        """
        return self._perform(_calls.reload(), timeout)

    def metrics(self, *, timeout: Optional[float] = None) -> str:
        """Returns the daemon's counters in Prometheus text format."""
        return self._perform(_calls.metrics(), timeout)

    def diagnose(self, *, timeout: Optional[float] = None) -> list[Check]:
        """Checks the installation."""
        return self._perform(_calls.diagnose(), timeout)

    # Implementation.

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
            self._pause(deadline.pause(pause))

    def _usable_connection(self, deadline: Deadline) -> SharedConnection:
        self._leave_parent()
        while True:
            with self._lock:
                if self._is_closed:
                    raise closed_error()
                if self._connection is not None and self._connection.is_usable:
                    return self._connection
                channel = Channel.connect(self._path)
                if channel is not None:
                    if self._connection is not None:
                        self._connection.retire()
                    self._connection = SharedConnection(channel)
                    return self._connection
            self._pause(deadline.pause(NO_ROOM))

    def _leave_parent(self) -> None:
        """Starts anew in a child of `os.fork`: a thread of the parent may have held the lock during the fork."""
        if self._process != os.getpid():
            self._lock = threading.Lock()
            # Its destructor closes the child's copy of the socket.
            self._connection = None
            self._process = os.getpid()

    def _pause(self, seconds: float) -> None:
        """Waits for so many seconds, or until the client is closed."""
        doze(self._closing, seconds)
        if self._is_closed:
            # For the next thread that waits.
            self._closing.put(None)


class Watch(Iterator[Snapshot]):
    """The states of the session from now on, for `for`. It ends with an error that a new connection would not fix.

    After a `break` the garbage collector closes the watch; `with` or `close` closes it at once.
    """

    def __init__(self, path: str, *, only_states: bool = False) -> None:
        """@private"""
        self._changes = Changes(only_states)
        self._loop = Loop(path, self._changes.feed)

    def next(self, *, timeout: Optional[float] = None) -> Snapshot:
        """Returns the current snapshot first, and then each snapshot that differs.

        After `TimedOut` it can be called again, and no snapshot is lost. If another thread waits on this watch, it raises
        `Busy` at once.
        """
        return self._loop.hold(lambda: self._loop.next(self._changes.take, Deadline(timeout)))

    def __next__(self) -> Snapshot:
        try:
            return self.next()
        except Cancelled:
            raise StopIteration from None

    def close(self) -> None:
        """Closes the watch, from any thread."""
        self._loop.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class SessionHandler:
    """A session handler: the result of `Client.session_handler`.

    `run` answers in the calling thread; `with handler:` answers in a new thread. The handler continues across restarts
    of the daemon. If the function raises, or if its answer cannot be sent, the answer is *unable*, and the exception is
    logged. `SystemExit` and `KeyboardInterrupt` also end `run`, but not the thread of `with`. Of several handlers the daemon
    asks the latest one first.
    """

    def __init__(self, path: str, function: Callable[[RenewalRequest], HandlerResult]) -> None:
        """@private"""
        # For `start`: the daemon has answered the registration, or the thread has ended.
        self._registered: Wake = SimpleQueue()
        self._loop = Loop(path, RenewalFeed, lambda: self._registered.put(None))
        self._function = function
        self._thread: Optional[threading.Thread] = None
        self._failure: Optional[JunctionError] = None

    def __call__(self, request: RenewalRequest) -> HandlerResult:
        return self._function(request)

    def run(self) -> None:
        """Answers until another thread calls `stop`. Raises an error that a new connection would not fix."""
        self._loop.hold(self._serve)

    def start(self) -> SessionHandler:
        """Answers in a new thread until `stop`. Returns after the registration with the daemon.

        It waits for a daemon that is not there yet, and raises an error that a new connection would not fix.
        """
        self._registered = SimpleQueue()
        self._thread = threading.Thread(target=self._run_to_the_end, name="junctiond session handler", daemon=True)
        try:
            self._thread.start()
            self._registered.get()
        except BaseException:
            # An interrupt: no caller knows that the handler runs, and nothing would stop it.
            self._loop.close()
            raise
        if self._failure is not None:
            self.stop()
        return self

    def stop(self) -> None:
        """Ends the handler, from any thread. Raises the error that ended it before, if there is one."""
        self._loop.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    # Not a function that calls `start`, in which an interrupt after the call would leave the handler running.
    __enter__ = start

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()

    def _serve(self) -> None:
        try:
            while True:
                self._answer(self._loop.next(RenewalFeed.take, Deadline(None)))
        except Cancelled:
            pass
        finally:
            # The daemon would wait for the answers of a handler that does not run.
            self._loop.hang_up()

    def _answer(self, question: RenewalQuestion) -> None:
        try:
            question.answer(decision(self._function(question.request)))
        except BaseException as error:
            log.exception("The session handler was unable to decide renewal %s", question.request.renewal_id)
            question.answer(UnableToRetrieveAuthToken())
            if not isinstance(error, Exception) and self._thread is not threading.current_thread():
                raise

    def _run_to_the_end(self) -> None:
        try:
            self.run()
        except JunctionError as error:
            log.error("The session handler has ended: %s", error)
            self._failure = error
        finally:
            self._registered.put(None)
