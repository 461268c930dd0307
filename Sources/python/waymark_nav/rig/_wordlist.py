"""Names that a test may write."""

from __future__ import annotations

from waymark_nav import messages as m
from waymark_nav._kinds import camel

#: Why a session ends.
END_REASONS = tuple(camel(reason.name) for reason in m.SessionEndReason if reason)
#: How a request ends.
OUTCOMES = tuple(camel(outcome.name) for outcome in m.Outcome if outcome)
