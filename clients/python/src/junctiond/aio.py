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
from ._goals import Goal, check, reached
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
from .renewal import HandlerResult, RenewalRequest, UnableToRetrieveAuthToken, decision

__all__ = ["AsyncClient", "AsyncSessionHandler", "AsyncWatch"]

#: The function of an asynchronous session handler.
HandlerFunction = Callable[[RenewalRequest], Union[HandlerResult, Awaitable[HandlerResult]]]


class AsyncClient:
    """The session of this device, for asyncio.

    It has the same calls as `Client`. One client serves any number of tasks over one connection. If a task is
    cancelled, the daemon still completes the request.

    Args:
        socket: the daemon's socket, as in `Client`.
        instance: the name of one of several installations on this machine, as in `Client`.
        timeout: the default timeout of a call in seconds; `math.inf` means none.
    """

    def __init__(
        self, socket: Optional[str] = None, *, instance: Optional[str] = None, timeout: float = TIMEOUT
    ) -> None:
        self._path = socket_path(socket, instance)
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
        """Closes the connection. Calls in progress raise `Cancelled`. Watches and handlers are closed separately."""
        self._is_closed = True
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    # The session.

    async def status(self, *, timeout: Optional[float] = None) -> Snapshot:
        """Returns the current state of the session."""
        return await self._perform(_calls.status(), timeout)

    def watch(self) -> AsyncWatch:
        """Returns the states of the session from now on: see `Client.watch`."""
        return AsyncWatch(self._path)

    def states(self) -> AsyncWatch:
        """The same with a snapshot only for each change of the state: see `Client.states`."""
        return AsyncWatch(self._path, only_states=True)

    async def wait(
        self, goal: Union[Goal, Callable[[Snapshot], bool]], *, timeout: Optional[float] = None
    ) -> Snapshot:
        """Waits until the session reaches the goal: see `Client.wait`."""
        check(goal)
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
        """Signs in the user with this id of the app; `None` signs out: see `Client.identify`."""
        call = _calls.identify(external_user_id)

        def ask(connection: TaskConnection, deadline: Deadline, again: Repetition) -> Awaitable[IdentifyResult]:
            return connection.perform(call, deadline, external_user_id, credential, again.daemon_asked)

        return await self._repeating(call, ask, timeout)

    async def reconcile(self, user_id: Optional[str], *, timeout: Optional[float] = None) -> ReconcileResult:
        """Compares the signed-in user with the expected one, and changes nothing; `None` expects no user."""
        return await self._perform(_calls.reconcile(user_id), timeout)

    async def authorization_page(
        self, redirect_uri: str, state: str, code_challenge: str, *, timeout: Optional[float] = None
    ) -> str:
        """OAuth: returns the address of the sign-in page, to be opened in a browser (RFC 8252)."""
        return await self._perform(_calls.authorization_page(redirect_uri, state, code_challenge), timeout)

    # Tokens and the provider's API.

    async def token(
        self, *, minimum_validity: float = 0.0, patience: float = 0.0, timeout: Optional[float] = None
    ) -> AccessToken:
        """Returns an access token of the signed-in user: see `Client.token`."""
        return await self._perform(_calls.token(minimum_validity), timeout, patience)

    async def renew(self, *, patience: float = 0.0, timeout: Optional[float] = None) -> RenewResult:
        """Renews the access token now, despite a postponement or a backoff: see `Client.renew`."""
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
        """A decorator: the function, `async` or not, decides how tokens are renewed, while the handler runs.

        ```python
        @client.session_handler
        async def handler(request):
            return await backend.token_for(request.user_id)

        async with handler:
            ...
        ```
        """
        return AsyncSessionHandler(self._path, function)

    # The daemon.

    async def info(self, *, timeout: Optional[float] = None) -> DaemonInfo:
        """Returns the version of the daemon and its start time."""
        return await self._perform(_calls.info(), timeout)

    async def whoami(self, *, timeout: Optional[float] = None) -> Caller:
        """Returns how the daemon sees this program. Needs no capability."""
        return await self._perform(_calls.whoami(), timeout)

    async def reload(self, *, timeout: Optional[float] = None) -> tuple[str, ...]:
        """Makes the daemon read its configuration again. If it rejects the new one, the old one stays in force. Needs `manage`.

        Returns the keys of changed settings that need a restart of the daemon.
        """
        return await self._perform(_calls.reload(), timeout)

    async def metrics(self, *, timeout: Optional[float] = None) -> str:
        """Returns the daemon's counters in Prometheus text format."""
        return await self._perform(_calls.metrics(), timeout)

    async def diagnose(self, *, timeout: Optional[float] = None) -> list[Check]:
        """Checks the installation."""
        return await self._perform(_calls.diagnose(), timeout)

    # Implementation.

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
    """The states of the session from now on, for `async for`. It ends with an error that a new connection would not fix."""

    def __init__(self, path: str, *, only_states: bool = False) -> None:
        """@private"""
        self._changes = Changes(only_states)
        self._loop = TaskLoop(path, self._changes.feed)

    async def next(self, *, timeout: Optional[float] = None) -> Snapshot:
        """Returns the current snapshot first, and then each snapshot that differs.

        After `TimedOut` it can be called again, and no snapshot is lost. If another task waits on this watch, it raises
        `Busy` at once.
        """
        return await self._loop.next(self._changes.take, Deadline(timeout))

    async def __anext__(self) -> Snapshot:
        try:
            return await self.next()
        except Cancelled:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Closes the watch."""
        self._loop.close()

    async def __aenter__(self) -> AsyncWatch:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.aclose()


class AsyncSessionHandler:
    """A session handler: the result of `AsyncClient.session_handler`.

    The function is cancelled when its answer is no longer needed: at the deadline, when the connection is lost, and
    when the daemon asks the next question. If it raises, or if its answer cannot be sent, the answer is *unable*, and the
    exception is logged. `SystemExit` and `KeyboardInterrupt` also end the event loop, as in every task.
    """

    def __init__(self, path: str, function: HandlerFunction) -> None:
        """@private"""
        self._registered: Optional[asyncio.Event] = None
        self._loop = TaskLoop(path, RenewalFeed, self._note_registration)
        self._function = function
        self._task: Optional[asyncio.Task[None]] = None
        self._question: Optional[RenewalQuestion] = None
        self._answering: Optional[asyncio.Task[None]] = None

    def __call__(self, request: RenewalRequest) -> Union[HandlerResult, Awaitable[HandlerResult]]:
        return self._function(request)

    async def run(self) -> None:
        """Answers until the task is cancelled. Raises an error that a new connection would not fix."""
        try:
            while True:
                question = await self._loop.next(RenewalFeed.take, Deadline(None), self._cancel)
                self._cancel()
                self._question = question
                self._answering = asyncio.ensure_future(self._answer(question))
        except Cancelled:
            # An answer in progress is completed.
            if self._answering is not None:
                await asyncio.wait([self._answering])
        finally:
            self._cancel()
            self._loop.close()

    async def __aenter__(self) -> AsyncSessionHandler:
        """Returns after the registration with the daemon, or raises an error that a new connection would not fix."""
        self._registered = asyncio.Event()
        self._task = asyncio.ensure_future(self.run())
        self._task.add_done_callback(self._note_registration)
        try:
            await self._registered.wait()
        except BaseException:
            # The task was cancelled: the block is not entered, so that nothing would stop the handler.
            self._task.cancel()
            raise
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
        if self._question is not None:
            self._question.is_over = True
        if self._answering is not None:
            self._answering.cancel()
            self._answering = None

    async def _answer(self, question: RenewalQuestion) -> None:
        deciding = asyncio.ensure_future(self._result(question))
        try:
            question.answer(decision(await asyncio.wait_for(deciding, min(question.request.time_left, 86_400.0))))
        except (KeyboardInterrupt, SystemExit):
            # The task of the function has ended the event loop with it.
            return
        except GeneratorExit:
            raise
        except BaseException:
            if question.is_over:
                raise
            log.exception("The session handler was unable to decide renewal %s", question.request.renewal_id)
            question.answer(UnableToRetrieveAuthToken())
        self._loop.wake()

    async def _result(self, question: RenewalQuestion) -> HandlerResult:
        try:
            result = self._function(question.request)
            return await result if inspect.isawaitable(result) else result
        except (KeyboardInterrupt, SystemExit):
            # The event loop ends with these, so that nothing can answer later.
            question.answer(UnableToRetrieveAuthToken())
            raise
