"""Who is to blame is in the type of the exception.

``TargetFault``: the provider under test (a verdict FAIL). ``SuiteFault``: we are (SUITE_ERROR, exit 3). ``BadInput`` and its
kinds: the person who called the command (one sentence, exit 3). A broken rule is no exception of this module: it is a
``CheckFailed`` of the bench.
"""

from __future__ import annotations

import unittest


class SuiteFault(Exception):
    """The suite itself is wrong: it sent an invalid request that no check meant, or its code broke an own promise."""


class TargetFault(Exception):
    """The provider broke the harness contract (harness.md): no answer in time, no JSON, a dead process, an answer of no shape."""


class NoAnswer(TargetFault, unittest.SkipTest):
    """No answer came within the deadline, or nobody is there to give one.

    It is a ``SkipTest`` only so that hypothesis passes it through at once: shrinking would wait for the deadline again and again.
    """


class CannotTravel(unittest.SkipTest):
    """A request cannot be carried over this transport at all: none such reaches the provider, what asks for it is not applicable.

    It is a ``SkipTest`` only so that hypothesis passes it through at once.
    """


class NotInContract(unittest.SkipTest):
    """The contract of this run has no such operation or error code: what asks for it is not applicable.

    A ``SkipTest`` as the one above is.
    """


class NotOffered(Exception):
    """The target is an adapter that offers no memory family (harness.md, ``as_memory``): no rule is applicable to it."""


class BadInput(Exception):
    """What a person gave us cannot be used. The text is one sentence: what was wrong, where, what to do."""


class BadTarget(BadInput):
    """A target string, a target file or what it names cannot be used (harness.md, Target strings)."""


class BadBundle(BadInput):
    """A schema bundle is broken. The sentence names the file and a JSON pointer."""


class BadUsage(BadInput):
    """An argument of the command is wrong: an unknown rule, profile or report format."""


class BadInstall(BadInput):
    """One of the four top-level packages is not ours (architecture.md, Top level). The sentence names both paths."""


def blame(error: BaseException) -> str:
    """Say ``error`` in one line: its type and the first line of its text."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
