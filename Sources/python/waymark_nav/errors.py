"""What calls raise. The text of each says what happened and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waymark_nav._generated.connection import CloseCode, Error, ErrorCode
    from waymark_nav._generated.session import SessionEndReason


def _limit(limit: str, value: int) -> str:
    return f" ({limit} is {value})" if limit else ""


class WaymarkError(Exception):
    """The base of all errors of this package."""


class Rejection(WaymarkError, ValueError):
    """A message is not allowed: found before it was sent, or by the gateway. Nothing of it is used."""

    def __init__(
        self, code: int, field: str, reason: str, *, limit: str = "", limit_value: int = 0, retry_after: float | None = None
    ) -> None:
        super().__init__(code, field, reason)
        self.code_number = code
        #: The path of the field, e.g. ``maneuvers[3].id``; empty: the message as a whole.
        self.field = field
        #: A sentence.
        self.reason = reason
        #: The gateway's limit that the message is beyond, as Docs/protocol.md names it, e.g. ``sessions_max``; empty: that is not why.
        self.limit = limit
        #: The value of that limit.
        self.limit_value = limit_value
        #: Seconds after which the same message may be accepted; None: not known.
        self.retry_after = retry_after

    @classmethod
    def of(cls, error: Error) -> Rejection:
        """What an Error of the gateway says."""
        retry_after = error.retry_after_milliseconds / 1_000 if error.retry_after_milliseconds else None
        return cls(error.code, error.field, error.reason, limit=error.limit, limit_value=error.limit_value, retry_after=retry_after)

    @property
    def code(self) -> ErrorCode:
        """The code of the protocol."""
        from waymark_nav._generated.connection import ErrorCode

        return ErrorCode(self.code_number)

    def inside(self, outer: str) -> Rejection:
        """The same rejection, seen from one level further out."""
        field = f"{outer}.{self.field}" if self.field else outer
        return Rejection(self.code_number, field, self.reason, limit=self.limit, limit_value=self.limit_value, retry_after=self.retry_after)

    def __str__(self) -> str:
        return (f"{self.field}: {self.reason}" if self.field else self.reason) + _limit(self.limit, self.limit_value)


class ConnectionFailedError(WaymarkError):
    """There is no gateway, or the connection could not be opened."""


class RefusedError(WaymarkError):
    """The gateway ended the connection, and the peer does not connect again."""

    def __init__(self, code: CloseCode, reason: str, *, limit: str = "", limit_value: int = 0, retry_after: float | None = None) -> None:
        super().__init__(f"the gateway refused the connection: {reason or code.name}{_limit(limit, limit_value)}")
        self.code = code
        self.reason = reason
        #: The gateway's limit that the peer was beyond, as Docs/protocol.md names it, e.g. ``connections_max``; empty: that is not why.
        self.limit = limit
        #: The value of that limit.
        self.limit_value = limit_value
        #: Seconds after which the same peer may be accepted; None: never, or not known.
        self.retry_after = retry_after


class ClosedError(WaymarkError):
    """The connection was closed by this program."""

    def __init__(self) -> None:
        super().__init__("the connection was closed by this program")


class VehicleRefusedError(WaymarkError):
    """Every vehicle that was named for a session refuses it. Open the session again when the vehicle is free."""

    def __init__(self, code: ErrorCode, reason: str) -> None:
        super().__init__(f"no vehicle takes the session: {reason or code.name}")
        self.code = code
        self.reason = reason


class SessionEndedError(WaymarkError):
    """The session has ended. Open another one."""

    def __init__(self, reason: SessionEndReason) -> None:
        super().__init__(f"the session is over: {reason.name}")
        self.reason = reason


class OutcomeUnknownError(WaymarkError):
    """The connection was lost before the outcome was known. Ask again if it still matters."""
