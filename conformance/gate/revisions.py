"""The bundle that a person names: a directory, or a directory as it was at a git revision."""

from __future__ import annotations

import io
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.errors import BadUsage
from conformance.wire.bundle import Bundle, load

PACKAGED = "packaged"
_SECONDS = 60


@dataclass(frozen=True)
class Named:
    """A bundle and the directory that it was loaded from; None for the packaged one."""

    bundle: Bundle
    directory: str | None


@contextmanager
def both(old: str, new: str, within: str | None) -> Iterator[tuple[Named, Named]]:
    """Load two bundles; what was unpacked for them lasts as long as the context.

    ``within`` is the directory of the schemas in the repository, for a revision without a path of its own. Where only one of the
    two is a directory, the other may be that directory at a revision. Raises ``BadInput``.
    """
    places = [text for text in (old, new) if text != PACKAGED and Path(text).is_dir()]
    within = within or (places[0] if len(places) == 1 else None)
    with opened(old, within) as ours, opened(new, within) as theirs:
        yield ours, theirs


@contextmanager
def opened(text: str, within: str | None = None) -> Iterator[Named]:
    """Load the bundle that ``text`` names: ``packaged``, a directory, a revision, or ``REVISION:DIRECTORY``."""
    with located(text, within) as directory:
        bundle = load(directory)
        if directory is not None:
            bundle.origin = text
        yield Named(bundle, directory)


@contextmanager
def located(text: str, within: str | None = None) -> Iterator[str | None]:
    """Find the directory of a bundle, unpacked if need be; None for the packaged one. Raises ``BadUsage``."""
    if text == PACKAGED:
        yield None
    elif Path(text).is_dir():
        yield text
    else:
        revision, _, directory = text.partition(":")
        with _at(revision, directory or within, text) as unpacked:
            yield str(unpacked)


@contextmanager
def _at(revision: str, directory: str | None, text: str) -> Iterator[Path]:
    """Unpack a directory of the repository around it as it was at a revision."""
    if directory is None:
        raise BadUsage(
            f"{text} is no directory; a git revision is written as REVISION:DIRECTORY, or with --dir DIRECTORY for both."
        )
    top, inside = _repository(directory, text)
    _git(top, text, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    packed = _git(top, text, "archive", "--format=zip", f"{revision}:{inside}" if inside else revision)
    with TemporaryDirectory(prefix="schemas-") as room:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:  # tarfile cannot be told to be careful in the first 3.11
            archive.extractall(room)
        yield Path(room)


def _repository(directory: str, text: str) -> tuple[Path, str]:
    """Find the repository that a directory is in; the directory itself need not exist any longer."""
    place = Path(directory).absolute()
    around = next(parent for parent in (place, *place.parents) if parent.is_dir())
    top = Path(_git(around, text, "rev-parse", "--show-toplevel").decode().strip())
    return top, place.resolve().relative_to(top.resolve()).as_posix().removeprefix(".")


def _git(where: Path, text: str, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(where), *arguments], capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603, S607 - the person's own git
    except (OSError, subprocess.SubprocessError) as error:
        raise BadUsage(f"{text} is no directory, and git cannot be asked for it: {error}.") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise BadUsage(f"{text} is neither a directory nor a git revision of one: {said[0] if said else 'git finds none'}.")
    return done.stdout
