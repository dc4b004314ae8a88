"""The client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Mapping
from types import TracebackType
from typing import Callable, Optional, Union

from . import _calls
from ._again import NO_ROOM, Repetition
from ._calls import Call, T
from ._channel import Channel
from ._errors import Cancelled, JunctionError
from ._feeds import Changes, RenewalFeed, RenewalQuestion
from ._goals import Goal, reached
from ._log import log
from ._place import socket_path
from ._tasks import TaskConnection, TaskLoop
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

__all__ = ["AsyncClient", "AsyncSessionHandler", "AsyncWatch"]

#: What an asynchronous session handler may be made of.
HandlerFunction = Callable[[RenewalRequest], Union[HandlerResult, Awaitable[HandlerResult]]]


class AsyncClient:
    """The one signed-in user of this device, as the daemon keeps it, for asyncio.

    It does what `Client` does, in the same words; one client serves any number of tasks over one connection. A
    cancelled task stops waiting, though the daemon goes on.

    Args:
        socket: where the daemon listens, as in `Client`.
        timeout: how many seconds a call may take where it says nothing else; `math.inf` is for ever.
    """

    def __init__(self, socket: Optional[str] = None, *, timeout: float = TIMEOUT) -> None:
        self._path = socket_path(socket)
        self._timeout = timeout
        self._connection: Optional[TaskConnection] = None
        self._is_closed = False

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the connection. Whoever waits gets `Cancelled`; watches and handlers have their own ends."""
        self._is_closed = True
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    # Who is signed in.

    async def status(self, *, timeout: Optional[float] = None) -> Snapshot:
        """The present state of the session."""
        return await self._perform(_calls.status(), timeout)

    def watch(self) -> AsyncWatch:
        """The state of the session from now on, over restarts of the daemon: see `Client.watch`."""
        return AsyncWatch(self._path)

    def states(self) -> AsyncWatch:
        """The same with a snapshot only for each change of the state: see `Client.states`."""
        return AsyncWatch(self._path, only_states=True)

    async def wait(
        self, goal: Union[Goal, Callable[[Snapshot], bool]], *, timeout: Optional[float] = None
    ) -> Snapshot:
        """Waits until it is so: see `Client.wait`."""
        deadline = Deadline(timeout)
        async with self.watch() as watch:
            while True:
                snapshot = await watch.next(timeout=deadline.left)
                if reached(goal, snapshot):
                    return snapshot

    async def sign_in(self, credential: Credential, *, timeout: Optional[float] = None) -> Snapshot:
        """Signs a user in: see `Client.sign_in`."""
        return await self._perform(_calls.sign_in(credential), timeout)

    async def sign_out(self, *, timeout: Optional[float] = None) -> Snapshot:
        """Signs the user out, from any state and without the network: see `Client.sign_out`."""
        return await self._perform(_calls.sign_out(), timeout)

    async def identify(
        self,
        external_user_id: Optional[str],
        credential: Optional[Callable[[str], Awaitable[Credential]]] = None,
        *,
        timeout: Optional[float] = None,
    ) -> IdentifyResult:
        """Makes the user that the app knows by this id the signed-in one; `None` signs out: see `Client.identify`."""
        call = _calls.identify(external_user_id)

        def ask(connection: TaskConnection, deadline: Deadline, again: Repetition) -> Awaitable[IdentifyResult]:
            return connection.perform(call, deadline, external_user_id, credential, again.daemon_asked)

        return await self._repeating(call, ask, timeout)

    async def reconcile(self, user_id: Optional[str], *, timeout: Optional[float] = None) -> ReconcileResult:
        """Compares the signed-in user with the one that the app expects, and changes nothing; `None` expects nobody."""
        return await self._perform(_calls.reconcile(user_id), timeout)

    async def authorization_page(
        self, redirect_uri: str, state: str, code_challenge: str, *, timeout: Optional[float] = None
    ) -> str:
        """OAuth: the address of the page on which a person signs in, to be opened in a browser (RFC 8252)."""
        return await self._perform(_calls.authorization_page(redirect_uri, state, code_challenge), timeout)

    # What the signed-in user may do.

    async def token(
        self, *, minimum_validity: float = 0.0, patience: float = 0.0, timeout: Optional[float] = None
    ) -> AccessToken:
        """An access token of the signed-in user, which the daemon renews first if it has to: see `Client.token`."""
        return await self._perform(_calls.token(minimum_validity), timeout, patience)

    async def renew(self, *, patience: float = 0.0, timeout: Optional[float] = None) -> RenewResult:
        """Renews the access token now, past a postponement or a backoff: see `Client.renew`."""
        return await self._perform(_calls.renew(), timeout, patience)

    async def api(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, str]] = None,
        headers: Optional[Mapping[str, str]] = None,
        body: Union[str, bytes, None] = None,
        timeout: Optional[float] = None,
    ) -> ApiAnswer:
        """Calls the provider's API as the signed-in user: see `Client.api`."""
        return await self._perform(_calls.api(method, path, query, headers, body), timeout)

    def session_handler(self, function: HandlerFunction) -> AsyncSessionHandler:
        """A decorator: the function, `async` or not, decides how tokens are renewed, once the handler is run.

        ```python
        @client.session_handler
        async def handler(request):
            return await backend.token_for(request.user_id)

        async with handler:
            ...
        ```
        """
        return AsyncSessionHandler(self._path, function)

    # The daemon itself.

    async def info(self, *, timeout: Optional[float] = None) -> DaemonInfo:
        """Which daemon this is, and since when it runs."""
        return await self._perform(_calls.info(), timeout)

    async def whoami(self, *, timeout: Optional[float] = None) -> Caller:
        """Who this program is to the daemon, and what it may do; needs no capability."""
        return await self._perform(_calls.whoami(), timeout)

    async def reload(self, *, timeout: Optional[float] = None) -> tuple[str, ...]:
        """Has the daemon read its configuration again; if it refuses the new one, the old one stays in force. Needs `manage`.

        Returns the settings that were changed and wait for a restart of the daemon, by their key.
        """
        return await self._perform(_calls.reload(), timeout)

    async def metrics(self, *, timeout: Optional[float] = None) -> str:
        """The daemon's counters, in Prometheus text format."""
        return await self._perform(_calls.metrics(), timeout)

    async def diagnose(self, *, timeout: Optional[float] = None) -> list[Check]:
        """Looks the installation over."""
        return await self._perform(_calls.diagnose(), timeout)

    # How.

    async def _perform(self, call: Call[T], timeout: Optional[float], patience: float = 0.0) -> T:
        def ask(connection: TaskConnection, deadline: Deadline, _: Repetition) -> Awaitable[T]:
            return connection.perform(call, deadline)

        return await self._repeating(call, ask, timeout, patience)

    async def _repeating(
        self,
        call: Call[T],
        ask: Callable[[TaskConnection, Deadline, Repetition], Awaitable[T]],
        timeout: Optional[float],
        patience: float = 0.0,
    ) -> T:
        deadline = Deadline(self._timeout if timeout is None else timeout)
        repetition = Repetition(call, patience)
        while True:
            try:
                return await ask(await self._usable_connection(deadline), deadline, repetition)
            except JunctionError as error:
                pause = repetition.pause(error)
                if pause is None:
                    raise
            await asyncio.sleep(deadline.pause(pause))

    async def _usable_connection(self, deadline: Deadline) -> TaskConnection:
        loop = asyncio.get_running_loop()
        while True:
            if self._is_closed:
                raise closed_error()
            if self._connection is not None and self._connection.is_usable and self._connection.loop is loop:
                return self._connection
            channel = Channel.connect(self._path)
            if channel is not None:
                if self._connection is not None:
                    self._connection.retire()
                self._connection = TaskConnection(channel, loop)
                return self._connection
            await asyncio.sleep(deadline.pause(NO_ROOM))


class AsyncWatch(AsyncIterator[Snapshot]):
    """The state of the session from now on, for `async for`; it ends with what a new connection would not change."""

    def __init__(self, path: str, *, only_states: bool = False) -> None:
        """@private"""
        self._changes = Changes(only_states)
        self._loop = TaskLoop(path, self._changes.feed)

    async def next(self, *, timeout: Optional[float] = None) -> Snapshot:
        """The present snapshot at first, and after that each one that differs.

        After `TimedOut` it can be called again, and nothing is missed.
        """
        return await self._loop.next(self._changes.take, Deadline(timeout))

    async def __anext__(self) -> Snapshot:
        try:
            return await self.next()
        except Cancelled:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Ends the loop."""
        self._loop.close()

    async def __aenter__(self) -> AsyncWatch:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.aclose()


class AsyncSessionHandler:
    """A function that decides how tokens are renewed: what `AsyncClient.session_handler` makes of it.

    It is cancelled when nobody waits for its answer any more: at the deadline, when the daemon has gone, and when it
    asks the next thing. What it raises is *unable*, and logged.
    """

    def __init__(self, path: str, function: HandlerFunction) -> None:
        """@private"""
        self._registered: Optional[asyncio.Event] = None
        self._loop = TaskLoop(path, RenewalFeed, self._note_registration)
        self._function = function
        self._task: Optional[asyncio.Task[None]] = None
        self._answering: Optional[asyncio.Task[None]] = None

    def __call__(self, request: RenewalRequest) -> Union[HandlerResult, Awaitable[HandlerResult]]:
        return self._function(request)

    async def run(self) -> None:
        """Answers until the task is cancelled; raises what a new connection would not change."""
        try:
            while True:
                question = await self._loop.next(RenewalFeed.take, Deadline(None), self._cancel)
                self._cancel()
                self._answering = asyncio.ensure_future(self._answer(question))
        except Cancelled:
            # Whoever is just answering may do so.
            if self._answering is not None:
                await self._answering
        finally:
            self._cancel()
            self._loop.close()

    async def __aenter__(self) -> AsyncSessionHandler:
        """Returns as soon as the daemon knows of it, or raises what a new connection would not change."""
        self._registered = asyncio.Event()
        self._task = asyncio.ensure_future(self.run())
        self._task.add_done_callback(self._note_registration)
        await self._registered.wait()
        if self._task.done():
            await self._task
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._loop.end()
        if self._task is not None:
            await self._task

    def _note_registration(self, _: object = None) -> None:
        if self._registered is not None:
            self._registered.set()

    def _cancel(self) -> None:
        if self._answering is not None:
            self._answering.cancel()
            self._answering = None

    async def _answer(self, question: RenewalQuestion) -> None:
        question.answer(await self._decision(question.request))

    async def _decision(self, request: RenewalRequest) -> RenewalAnswer:
        try:
            return decision(await asyncio.wait_for(self._result(request), min(request.time_left, 86_400.0)))
        except Exception:
            log.exception("The session handler was unable to decide renewal %s", request.renewal_id)
            return UnableToRetrieveAuthToken()

    async def _result(self, request: RenewalRequest) -> HandlerResult:
        result = self._function(request)
        return await result if inspect.isawaitable(result) else result
