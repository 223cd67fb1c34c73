"""``attnconf rubric``, as a user types it."""

from command_line import in_process

from attnconf.conformance.grading import rubric_text


def test_shipped_rubrics_are_listed(tmp_path):
    done = in_process("rubric", "list", cwd=tmp_path)
    assert done.returncode == 0
    assert "first-attention       100 points  A first multi-head attention (query, key, value, mask)\n" in done.stdout
    assert all(name in done.stdout for name in rubric_text.shipped())


def test_a_new_rubric_is_written_once_and_checked(tmp_path):
    new = ("rubric", "new", "--component", "rotary")
    printed = in_process(*new, cwd=tmp_path).stdout
    done = in_process(*new, "-o", "hw.toml", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "hw.toml").read_text(encoding="utf-8")) == (0, printed)
    again = in_process(*new, "-o", "hw.toml", cwd=tmp_path)
    assert (again.returncode, again.stderr) == (
        2, "ERROR: hw.toml is there already, and may have been edited: --force overwrites it\n",
    )  # fmt: skip
    assert in_process(*new, "-o", "hw.toml", "--force", cwd=tmp_path).returncode == 0
    checked = in_process("rubric", "check", "hw.toml", cwd=tmp_path)
    assert checked.returncode == 0
    assert checked.stdout.startswith("Rotary (core-3)\n\npoints  requirements  item\n")


def test_mistakes_are_told_in_one_line(tmp_path):
    (tmp_path / "hw.toml").write_text('title = "T"\ncomponents = ["rotery"]\n', encoding="utf-8")
    for arguments, said in [
        (("check", "hw.toml"), "hw.toml:2: no component 'rotery'; nearest: rotary"),
        (("check", "none.toml"), "no rubric 'none.toml': there is no such file, and "),
        (("new", "--component", "rotery"), "no component 'rotery'; nearest: rotary"),
        (("new", "--component", "rotary", "-o", "no/hw.toml"), "cannot write 'no/hw.toml': there is no folder"),
        (
            ("chekc", "hw.toml"),
            "attnconf rubric: argument list | new | check | platforms | course: invalid choice: 'chekc'",
        ),
    ]:
        done = in_process("rubric", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"ERROR: {said}")
        assert done.stderr.count("\n") == 1
