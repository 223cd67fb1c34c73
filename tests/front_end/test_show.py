"""``attnconf show``: no difference where all is right, in any convention, and a visible one where it is not."""

import math
import sys
import zlib
from xml.etree import ElementTree

import pytest
import torch

from attnconf import cli
from attnconf.attention_maps import in_shades, shade
from attnconf.conformance.engine.mutant import Mutant, apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run.implementations import load
from attnconf.reference import alibi, attention, fourier, learned, relative_bias, rotary, sinusoidal
from attnconf.show import ENCODINGS, compare, tiled

ROUNDING = 2e-5  # tables in float32, angles up to 100 radians


def implementation(encoding, function, **declares):
    return Implementation("homework", {encoding: function}, {k.replace("_", "-"): v for k, v in declares.items()})


# -- right implementations in other conventions, with tables in float32


def sinusoidal_halves(config, weights):
    half = config.dim // 2
    frequency = torch.exp(torch.arange(half) * -(math.log(config.base) / (half - 1)))
    angle = torch.arange(config.max_len)[:, None] * frequency
    table = torch.cat([angle.sin(), angle.cos()], dim=1)
    return lambda x: x * config.dim**0.5 + table[: x.shape[1]]


def grid_by_rows(config, weights):
    def axis(n):
        angle = torch.arange(n)[:, None] / config.base ** (torch.arange(0, config.dim // 2, 2) / (config.dim // 2))
        table = torch.empty(n, config.dim // 2)
        table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
        return table

    def forward(height, width):
        rows, columns = axis(height)[:, None], axis(width)[None]
        return torch.cat([rows.expand(-1, width, -1), columns.expand(height, -1, -1)], dim=2)

    return forward


def learned_from_row_two(config, weights):
    return lambda x: torch.nn.functional.embedding(torch.arange(x.shape[1])[None] + 2, weights["table.weight"])


def rotary_halves(config, weights):
    inverse = 1.0 / config.base ** (torch.arange(0, config.head_dim, 2).float() / config.head_dim)

    def forward(x):
        angle = torch.outer(torch.arange(x.shape[2]).float(), inverse).repeat(1, 2)
        first, second = x.chunk(2, dim=-1)
        return x * angle.cos() + torch.cat([-second, first], dim=-1) * angle.sin()

    return forward


def alibi_by_key(config, weights):
    def forward(query_length, key_length):
        slopes = torch.tensor([2 ** (-8 * (h + 1) / config.num_heads) for h in range(config.num_heads)])
        bias = (slopes[:, None, None] * torch.arange(key_length)).repeat(1, query_length, 1)
        return bias.masked_fill(torch.ones(query_length, key_length, dtype=torch.bool).triu(1), float("-inf"))

    return forward


def fourier_by_frequency(config, weights):
    def forward(x):
        return torch.cat([x, *(f(math.pi * w * x) for w in config.frequencies for f in (torch.sin, torch.cos))], dim=-1)

    return forward


def random_fourier_sines_first(config, weights):
    def forward(x):
        angle = 2 * math.pi * x @ weights["projection"].T
        return torch.cat([angle.sin(), angle.cos()], dim=-1)

    return forward


def attention_by_a_mask(config, weights):
    def forward(query, key, value, *, attn_mask=None):
        if config.causal:
            raise NotImplementedError("causality")
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        return (scores if attn_mask is None else scores.masked_fill(~attn_mask, -math.inf)).softmax(-1) @ value

    return forward


def always_causal_heads(config, weights):
    def forward(query, key, value):
        q, k, v = (torch.nn.functional.linear(query, weights[f"{name}.weight"]) for name in "qkv")
        q, k, v = (x.unflatten(-1, (config.num_heads, -1)).transpose(1, 2) for x in (q, k, v))
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return torch.nn.functional.linear(out.transpose(1, 2).flatten(2), weights["out.weight"])

    return forward


RIGHT = {
    "attention": implementation("attention", attention_by_a_mask),
    "multi_head_attention": implementation(
        "multi_head_attention", always_causal_heads, inputs="self", causality="always"
    ),
    "sinusoidal": implementation(
        "sinusoidal", sinusoidal_halves, sinusoidal_output="scaled-add", sinusoidal_layout="halves",
        sinusoidal_frequencies="endpoint",
    ),
    "sinusoidal_2d": implementation(
        "sinusoidal_2d", grid_by_rows, grid_axes="height-first", grid_layout="interleaved"
    ),
    "learned": implementation("learned", learned_from_row_two, learned_output="table", learned_offset="2"),
    "rotary": implementation("rotary", rotary_halves, rope_pairing="half"),
    "alibi": implementation("alibi", alibi_by_key),
    "fourier": implementation(
        "fourier", fourier_by_frequency, fourier_factor="pi", fourier_input="kept", fourier_order="frequency"
    ),
    "random_fourier": implementation(
        "random_fourier", random_fourier_sines_first, random_fourier_order="sin-first"
    ),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_reference_does_not_differ_from_itself(encoding):
    picture = compare(encoding, load("reference")[0])
    assert picture.largest == 0.0
    assert picture.want.nan_to_num().unique().numel() > 30
    assert len(picture.names) == len(picture.got)


@pytest.mark.parametrize("encoding", RIGHT)
def test_another_convention_is_no_difference(encoding):
    assert 0.0 <= compare(encoding, RIGHT[encoding]).largest < ROUNDING


def test_a_convention_that_is_not_declared_is_a_difference():
    others = {"learned", "fourier", "alibi", "attention", "multi_head_attention"}
    for encoding in RIGHT.keys() - others:  # whose shapes differ, and where none is declared
        undeclared = Implementation("homework", RIGHT[encoding].components)
        assert compare(encoding, undeclared).largest > 0.5, encoding


# -- wrong ones: the reference with one function replaced, and where the difference is


def every_frequency_too_high(dim, base):
    return base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / (2 * dim))


def cosines_first(positions, dim, base):
    return sinusoidal.halves(positions, dim, base).roll(dim // 2, dims=-1)


def counted_backwards(x):
    return torch.arange(x.shape[1]).flip(0)


def slopes_from_one(heads):
    return 2.0 ** (-8.0 * torch.arange(heads, dtype=torch.float64) / heads)


def query_less_key(queries, keys):
    return torch.arange(queries)[:, None] - torch.arange(keys)


def sines_twice(x, frequencies):
    return fourier.angles(x, frequencies).repeat(1, 1, 2).sin().flatten(-2)


WRONG = {
    "attention": (attention.score, lambda q, k, scale: q @ k.mT),
    "multi_head_attention": (attention.score, lambda q, k, scale: q @ k.mT),
    "sinusoidal": (sinusoidal.frequencies, every_frequency_too_high),
    "sinusoidal_2d": (sinusoidal.halves, cosines_first),
    "learned": (learned.count, counted_backwards),
    "rotary": (rotary.frequencies, lambda rotary_dim, base: every_frequency_too_high(rotary_dim, base)),
    "alibi": (alibi.geometric, slopes_from_one),
    "relative_bias": (relative_bias.relative, query_less_key),
    "fourier": (fourier.fourier, sines_twice),
}


def mutant(encoding):
    original, other = WRONG[encoding]
    return apply([Mutant(f"{encoding}-wrong", "", set(), "", {original: other})])


@pytest.mark.parametrize("encoding", WRONG)
def test_a_mistake_is_a_difference(encoding):
    assert compare(encoding, mutant(encoding)).largest > 0.5


def test_the_difference_is_where_the_mistake_is():
    off = compare("alibi", mutant("alibi")).difference
    assert off[:, 5, 5].tolist() == [0.0] * 8  # the query's own key
    assert off[:, 5, 6].isnan().all()  # a later key
    assert off[0, 5, 2].item() == -1.5  # -1·3 instead of -1/2·3
    assert compare("fourier", mutant("fourier")).difference[0, :5].abs().max() == 0.0  # the sines are right


def test_nan_is_a_difference():
    broken = implementation("rotary", lambda config, weights: lambda x: x * math.nan)
    assert math.isnan(compare("rotary", broken).largest)


def test_maps_lie_side_by_side_with_gaps():
    maps = torch.arange(24.0).view(4, 2, 3)
    whole = tiled(maps, 2)
    assert whole.shape == (5, 7)
    assert whole.isnan().sum() == 5 + 7 - 1
    assert torch.equal(whole[3:, 4:], maps[3])


def test_weights_are_those_of_the_softmax():
    picture = compare("attention", load("reference")[0])
    assert picture.names == ("head 0", "head 1", "head 0, causal", "head 1, causal")
    torch.testing.assert_close(picture.got.sum(-1), torch.ones(4, 16, dtype=torch.float64))
    assert (picture.got[2:].triu(1) == 0).all()
    assert (picture.got[:2].triu(1).amax(dim=(1, 2)) > 0.3).all()


def test_what_is_always_causal_has_no_other_map():
    assert compare("multi_head_attention", RIGHT["multi_head_attention"]).names == ("head 0, causal", "head 1, causal")


def test_what_takes_no_mask_is_shown_without():
    def forward(query, key, value, *, attn_mask=None):
        if attn_mask is not None:
            raise NotImplementedError("masks")
        return torch.nn.functional.scaled_dot_product_attention(query, key, value)

    def build(config, weights):
        if config.causal:
            raise NotImplementedError("causality")
        return forward

    assert compare("attention", implementation("attention", build)).names == ("head 0", "head 1")


@pytest.mark.parametrize(("columns", "wide"), [("120", 2), ("80", 1)])
def test_weights_are_drawn_in_the_terminal_too(columns, wide, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    path = tmp_path / "seen.png"
    assert cli.main(["show", "attention", "--impl", "reference", "-o", str(path)]) == 0
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first == "a full block is 1; down: query (tokens), across: key (tokens)"
    assert last == f"{path}: reference attention, max|difference| from the reference 0"
    at = lines.index("head 0, causal")
    _, got, want, off, _ = lines[at + 2].split("│")
    assert got == want == "█" * wide + "·" * 15 * wide
    assert off == "·" * 16 * wide
    assert max(map(len, lines)) <= int(columns)
    png_size(path.read_bytes())


def test_maps_that_are_too_large_are_thinned_and_no_difference_is_lost(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    want = torch.linspace(-1.0, 3.0, 60 * 100).reshape(1, 60, 100)
    got = want.clone()
    got[0, 31, 42] += 4.0  # in a row and in a column that are not drawn
    first, _, _, heads, *lines, _ = in_shades(
        ("",), [("mine", got), ("reference", want), ("|difference|", got - want)], "row", "column"
    )
    assert first == (
        "no block is -1, a full block is 3; down: row, across: column; "
        "one of 3 rows and of 4 columns, of differences the largest"
    )
    blocks = [line.strip("│").split("│") for line in lines]
    assert [len(blocks), {len(x) for row in blocks for x in row}, max(map(len, [heads, *lines]))] == [20, {25}, 79]
    assert [(i, off.index("█")) for i, (_, _, off) in enumerate(blocks) if "█" in off] == [(10, 10)]
    assert all(mine == theirs for mine, theirs, _ in blocks)
    assert (blocks[0][1][0], blocks[-1][1][-1]) == ("·", "█")


def test_shades_tell_shares_and_what_is_no_number():
    assert "".join(shade(x, 2.0) for x in (0.0, 0.1, 0.9, 1.1, -2.0, math.nan, math.inf)) == "·░▒▓█??"


# -- the command line


def png_size(content):
    """Return (width, height) of a PNG whose parts and check sums are whole."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, kinds = 8, []
    while at < len(content):
        length = int.from_bytes(content[at : at + 4])
        part, checksum = content[at + 4 : at + 8 + length], content[at + 8 + length : at + 12 + length]
        assert zlib.crc32(part) == int.from_bytes(checksum)
        kinds.append(part[:4])
        at += 12 + length
    assert (kinds[0], kinds[-1]) == (b"IHDR", b"IEND")
    return int.from_bytes(content[16:20]), int.from_bytes(content[20:24])


@pytest.mark.parametrize("encoding", ["rotary", "alibi", "fourier"])
def test_a_picture_is_written(encoding, tmp_path, capsys):
    path = tmp_path / "seen.png"
    assert cli.main(["show", encoding, "--impl", "reference", "-o", str(path)]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last == f"{path}: reference {encoding}, max|difference| from the reference 0"
    width, height = png_size(path.read_bytes())
    assert 1000 < width < 4000
    assert 300 < height < 1500
    assert path.stat().st_size < 150_000


@pytest.mark.parametrize("name", ["seen.svg", "seen.SVG"])
def test_a_picture_may_be_svg(name, tmp_path):
    assert cli.main(["show", "alibi", "--impl", "reference", "-o", str(tmp_path / name)]) == 0
    content = (tmp_path / name).read_text(encoding="utf-8")
    assert ElementTree.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
    assert "head 0" in content
    assert len(content) < 500_000


def test_a_file_of_ones_own_can_be_shown(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "homework.py").write_text(
        "def alibi(config, weights):\n    return lambda L, S: __import__('torch').ones(config.num_heads, L, S)\n"
    )
    assert cli.main(["show", "alibi", "--impl", "homework.py"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "alibi.png: homework.py alibi, max|difference| from the reference 15.5"
    png_size((tmp_path / "alibi.png").read_bytes())


def test_every_encoding_can_be_named():
    assert tuple(ENCODINGS) == cli.SHOWN


FILES = {
    "lacking.py": "def rotary(config, weights):\n    return lambda x: x\n",
    "refusing.py": "def rotary(config, weights):\n    raise NotImplementedError('float64')\n",
    "failing.py": "def rotary(config, weights):\n    raise KeyError('inv_freq')\n",
    "broken.py": "def rotary(config, weights:\n",
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("show rotery --impl reference", "nearest: rotary"),
        ("show rotary", "the following arguments are required: --impl"),
        ("show rotary --impl refrence", "no implementation 'refrence'"),
        ("show rotary --impl torch_nn", "torch_nn has no rotary; it has"),
        ("show rotary --impl torch_sdpa", "torch_sdpa has variants, name one: torch_sdpa:"),
        ("show alibi --impl lacking.py", "lacking.py has no alibi; it has rotary"),
        ("show rotary --impl refusing.py", "refusing.py does not support what is shown of rotary: float64"),
        ("show rotary --impl failing.py", "failing.py rotary: raised KeyError"),
        ("show rotary --impl broken.py", "broken.py: line 1: SyntaxError"),
        ("show rotary --impl reference -o nowhere/x.png", "cannot write 'nowhere/x.png': there is no folder '"),
        ("show rotary --impl reference -o x.pdf", "-o x.pdf: a picture's name must end in .png or .svg"),
    ],
)
def test_bad_input_is_answered_in_one_line(arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert cli.main(arguments.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("ERROR: ")
    assert message in err
    assert not list(tmp_path.glob("*.[ps][nvd][gf]"))


def test_without_matplotlib_it_says_what_to_install(tmp_path, capsys, monkeypatch):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.colors"):
        monkeypatch.setitem(sys.modules, name, None)
    assert cli.main(["show", "rotary", "--impl", "reference", "-o", str(tmp_path / "x.png")]) == 2
    assert "pip install 'attention-conformance[plots]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
