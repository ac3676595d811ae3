"""The four packages must be ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.errors import BadInstall
from conformance.install import PACKAGES, check_install


def test_our_own_packages_are_accepted() -> None:
    check_install()


@pytest.mark.parametrize("name", [name for name in PACKAGES if name != "conformance"])
def test_a_stranger_of_the_same_name_is_told_with_both_paths(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = tmp_path / name
    stranger.mkdir()
    (stranger / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadInstall) as caught:
        check_install()
    ours = Path(__file__).resolve().parent.parent / name
    assert str(ours) in str(caught.value)
    assert str(stranger.resolve()) in str(caught.value)


def test_the_command_says_so_and_ends_with_3(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "__init__.py").touch()
    home = Path(__file__).resolve().parent.parent
    program = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(home)!r}]\n"
        "from conformance.cli import main; sys.exit(main(['--version']))"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert ended.stderr.startswith("memory-conformance: the package 'reports'")
    assert len(ended.stderr.splitlines()) == 1
