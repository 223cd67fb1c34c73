"""Which files a process may read: the neighbours of what it must not, one by one."""

import pytest

from attnconf.conformance.worker import landlock, reach


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder of packages in which this one is installed as a wheel."""
    parts = {"attnconf": "attnconf", **{f"attnconf.{part}": f"attnconf/{part}" for part in reach.PARTS}}
    for place in (*parts.values(), "attnconf/conformance/source", "attnconf/conformance/worker", "other"):
        (tmp_path / place).mkdir()
    monkeypatch.setattr(reach, "packages", lambda: {name: str(tmp_path / place) for name, place in parts.items()})
    reach.of_installed.cache_clear()
    yield tmp_path
    reach.of_installed.cache_clear()


def allowed(folder, **grant):
    """Return what may be read, and only listed, in a folder, relative to it."""
    rules = list(reach.rules("/nowhere", reach.Grant(**grant), True, True))
    return tuple(
        {
            path.removeprefix(str(folder)).strip("/")
            for path, how in rules
            if path.startswith(str(folder)) and how & mask
        }
        for mask in (landlock.READS & ~landlock.SEES, landlock.SEES)
    )


def test_of_this_package_bindings_read_what_they_run(installed):
    read, listed = allowed(installed, path=[str(installed)])
    assert {"other", "attnconf/adapters", "attnconf/conformance/worker", "attnconf/spec/nearest.py"} <= read
    assert not {"", "attnconf", "attnconf/reference", "attnconf/conformance", "attnconf/spec"} & read
    assert {"", "attnconf"} <= listed


def test_the_reference_and_what_binds_read_all_of_it(installed):
    assert "" in allowed(installed, path=[str(installed)], reference=True)[0]


def test_what_is_hidden_in_a_folder_that_is_given_stays_so(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "mine.py").touch()
    read, listed = allowed(tmp_path, reads=[str(tmp_path)])
    assert (read, listed) == ({"mine.py"}, {"", "mine.py"})


def test_of_somebodys_home_only_files_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(reach, "home", lambda: str(tmp_path))
    (tmp_path / "letters").mkdir()
    (tmp_path / "mine.py").touch()
    assert allowed(tmp_path, reads=[str(tmp_path)])[0] == {"mine.py"}


def test_a_grant_is_sent_as_text():
    grant = reach.Grant(["/a b"], ["/c"], True)
    assert reach.Grant.of(grant.text) == grant
