"""The reference's encoder-decoder and Transformer, proven by nn.Transformer and by loops that share no code with it."""

import math

import pytest
import torch
from torch import nn

from attnconf.adapters.contract import EncoderDecoderConfig
from attnconf.conformance.engine.mutant import Mutant, apply
from attnconf.reference import transformer as chapter
from attnconf.reference.encoder import Style
from attnconf.reference.transformer import encoder_decoder, place, transformer

torch.set_num_threads(1)
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")

B, S, L, E, H, F, V = 3, 6, 5, 8, 2, 7, 11
AHEAD = torch.ones(L, L, dtype=torch.bool).triu(1)
PARTS = {"linear1": "ff.up", "linear2": "ff.down", "out_proj": "out", "multihead_attn": "cross"}


def module(norm_first, final=True):
    """Return nn.Transformer with random parameters, and without last norms where they are not wanted."""
    model = nn.Transformer(E, H, 2, 3, F, 0.0, norm_first=norm_first, batch_first=True, dtype=torch.float64)
    if not final:
        model.encoder.norm = model.decoder.norm = None
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5, generator=generator)
    return model


def renamed(tensors):
    """Return what belongs to the parameters of nn.Transformer by our names of these."""
    ours = {}
    for name, tensor in tensors.items():
        for theirs, part in {**PARTS, "self_attn": "attn" if name.startswith("encoder") else "self"}.items():
            name = name.replace(theirs, part)
        if "in_proj_" in name:
            thirds = zip("qkv", tensor.detach().chunk(3), strict=True)
            ours |= {name.replace("in_proj_", f"{part}."): third.clone() for part, third in thirds}
        else:
            ours[name] = tensor.detach().clone()
    return ours


def weights_of(model):
    return renamed(dict(model.named_parameters()))


def random(*shape, seed=1):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def first(*counts, of):
    return torch.arange(of) < torch.tensor(counts)[:, None]


def agree(got, want):
    torch.testing.assert_close(got, want, rtol=0, atol=1e-11)


# -- vectors in, vectors out


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("final", [False, True])
def test_the_encoder_decoder_is_torchs(norm_first, final):
    model, source, target = module(norm_first, final), random(B, S, E), random(B, L, E, seed=2)
    real, kept = first(6, 4, 1, of=S), first(5, 5, 3, of=L)
    style, weights = Style(H, norm_first), weights_of(model)
    agree(encoder_decoder(source, target, weights, style), model(source, target, tgt_mask=AHEAD))
    masks = {"src_key_padding_mask": ~real, "memory_key_padding_mask": ~real, "tgt_key_padding_mask": ~kept}
    want = model(source, target, tgt_mask=AHEAD, **masks)
    agree(encoder_decoder(source, target, weights, style, real, kept)[kept], want[kept])


@pytest.mark.parametrize("norm_first", [False, True])
def test_its_gradients_are_torchs(norm_first):
    model, source, target = module(norm_first), random(B, S, E), random(B, L, E, seed=2)
    cotangent = random(B, L, E, seed=3)
    weights = {name: w.requires_grad_() for name, w in weights_of(model).items()}
    (model(source, target, tgt_mask=AHEAD) * cotangent).sum().backward()
    (encoder_decoder(source, target, weights, Style(H, norm_first)) * cotangent).sum().backward()
    for name, want in renamed({name: p.grad for name, p in model.named_parameters()}).items():
        agree(weights[name].grad, want)


def test_the_encoder_is_run_once_however_many_layers_read_the_memory():
    runs = []

    def counted(source, weights, style, mask):
        runs.append(len(source))
        return chapter.encode(source, weights, style, mask)

    mutant = Mutant("TRF-counted", "", set(), "", replace={chapter.encode: counted})
    config = EncoderDecoderConfig(E, H, F, num_decoder_layers=3)
    forward = apply([mutant]).components["encoder_decoder"](config, weights_of(module(False, final=False)))
    forward(random(B, S, E), random(B, L, E))
    assert runs == [B]


# -- ids in, logits out


def tables(*names):
    return {f"{name}.weight": random(V, E, seed=10 + i) for i, name in enumerate(names)}


def ids(length, seed):
    return torch.randint(V, (B, length), generator=torch.Generator().manual_seed(seed))


def vectors(tokens, table):
    """Return √E · row + position, number by number."""
    rows = []
    for sample in tokens.tolist():
        rows.append([])
        for p, token in enumerate(sample):
            angles = [p / 10000 ** (2 * (i // 2) / E) for i in range(E)]
            positions = [math.sin(angle) if i % 2 == 0 else math.cos(angle) for i, angle in enumerate(angles)]
            row = table[token].tolist()
            rows[-1].append([math.sqrt(E) * row[i] + positions[i] for i in range(E)])
    return torch.tensor(rows, dtype=torch.float64)


def test_the_transformer_is_loops_around_torchs():
    model, own, source, target = module(False), tables("source", "target", "head"), ids(S, 1), ids(L, 2)
    x, y = vectors(source, own["source.weight"]), vectors(target, own["target.weight"])
    h = model(x, y, tgt_mask=AHEAD)
    want = [[[float((token * row).sum()) for row in own["head.weight"]] for token in sample] for sample in h.detach()]
    got = transformer(source, target, {**weights_of(model), **own}, Style(H))
    assert got.shape == (B, L, V)
    agree(got, torch.tensor(want, dtype=torch.float64))


def test_step_after_step_says_what_one_pass_says():
    weights, source = {**weights_of(module(True)), **tables("source", "target", "head")}, ids(S, 1)
    style, real = Style(H, norm_first=True), first(6, 4, 1, of=S)
    said = torch.zeros(B, 1, dtype=torch.int64)
    steps = []
    for _ in range(6):
        steps.append(transformer(source, said, weights, style, real)[:, -1])
        said = torch.cat([said, steps[-1].argmax(dim=-1, keepdim=True)], dim=1)
    agree(torch.stack(steps, dim=1), transformer(source, said[:, :-1], weights, style, real))


@pytest.mark.parametrize("names", [("source", "target"), ("target",)])
def test_a_tied_table_gets_the_gradients_of_all_its_uses(names):
    layers, source, target = weights_of(module(False)), ids(S, 1), ids(L, 2)
    tied = {name: w.requires_grad_() for name, w in tables(*names).items()}
    apart = {
        name: tied.get(name, tied["target.weight"]).detach().clone() for name in tables("source", "target", "head")
    }
    apart = {name: w.requires_grad_() for name, w in apart.items()}
    one, three = (transformer(source, target, {**layers, **own}, Style(H)) for own in (tied, apart))
    agree(one, three)
    cotangent = random(B, L, V, seed=3)
    (one * cotangent).sum().backward()
    (three * cotangent).sum().backward()
    shared = [w.grad for name, w in apart.items() if name not in tied]
    agree(tied["target.weight"].grad, apart["target.weight"].grad + sum(shared))


def test_logits_are_no_probabilities():
    out = transformer(ids(S, 1), ids(L, 2), {**weights_of(module(False)), **tables("target")}, Style(H))
    assert (out < 0).any()
    assert (out > 1).any()


def test_half_of_the_vectors_is_dropped_with_their_positions():
    table = random(V, E)
    out = place(ids(400, 1), table, 0.5)
    kept = out != 0
    assert abs(float(kept.double().mean()) - 0.5) < 0.03
    agree(out[kept], 2 * place(ids(400, 1), table, 0.0)[kept])
    assert not place(ids(S, 1), table, 1.0).any()


# -- misfits


@pytest.mark.parametrize("wrong", [V, -1])
@pytest.mark.parametrize("side", [0, 1])
def test_ids_without_a_row_are_refused(wrong, side):
    given = [ids(S, 1), ids(L, 2)]
    given[side][1, 2] = wrong
    with pytest.raises(IndexError):
        transformer(*given, {**weights_of(module(False)), **tables("target")}, Style(H))


def test_vectors_for_ids_are_refused():
    with pytest.raises(TypeError):
        transformer(random(B, S), ids(L, 2), {**weights_of(module(False)), **tables("target")}, Style(H))


def test_another_width_is_refused():
    with pytest.raises((RuntimeError, ValueError)):
        encoder_decoder(random(B, S, E), random(B, L, E + 1), weights_of(module(False)), Style(H))


def test_a_missing_weight_is_missed():
    weights = weights_of(module(False))
    del weights["decoder.layers.2.cross.k.weight"]
    with pytest.raises(KeyError):
        encoder_decoder(random(B, S, E), random(B, L, E), weights, Style(H))
