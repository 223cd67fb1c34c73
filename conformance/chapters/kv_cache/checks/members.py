"""Checks of the chapter spec/kv_cache.md: chunks give what one gives, whatever of the family is inside."""

from attnconf.conformance.chapters.attention_family.checks.shared import kinds
from attnconf.conformance.chapters.kv_cache import stimuli
from attnconf.conformance.chapters.kv_cache.checks.chunks import Evidence, in_chunks_as_in_one
from attnconf.conformance.chapters.kv_cache.stimuli import changed, cuts, layer
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

CAP = 1.5


def members_in_chunks(subject: Subject, case: Case, convention: str, entry: str) -> Evidence:
    """Compare chunks with one chunk for every kind of a part that the subject is asked for."""
    for kind in kinds(subject, convention):
        call = layer(subject, case, False, **{entry: kind})
        yield from in_chunks_as_in_one(subject, call, cuts(case), f" ({kind})")


@requirement("CACHE-GROUP-1", stimuli.ONE)
def shared_heads_are_shared_in_each_step(subject: Subject, case: Case) -> Evidence:
    yield from in_chunks_as_in_one(subject, layer(subject, case, grouped=True), cuts(case), " with shared heads")


@requirement("CACHE-CAP-1", stimuli.ONE)
def scores_are_capped_in_each_step(subject: Subject, case: Case) -> Evidence:
    call = changed(layer(subject, case), softcap=CAP)
    yield from in_chunks_as_in_one(subject, call, cuts(case), " with a soft cap")


@requirement("CACHE-WINDOW-1", stimuli.ONE, stimuli.LONG)
def a_window_moves_on_with_the_tokens(subject: Subject, case: Case) -> Evidence:
    for left in (1, 2, 4):
        call = changed(layer(subject, case), window=(left, 0))
        yield from in_chunks_as_in_one(subject, call, cuts(case), f" in a window of {left} keys before the query's own")


@requirement("CACHE-NORM-1", stimuli.ONE)
def queries_and_keys_are_normalized_once(subject: Subject, case: Case) -> Evidence:
    yield from members_in_chunks(subject, case, "qk-norm", "qk_norm")


@requirement("CACHE-SINK-1", stimuli.ONE)
def each_step_has_the_sink_once(subject: Subject, case: Case) -> Evidence:
    yield from members_in_chunks(subject, case, "sinks", "sinks")


@requirement("CACHE-ROTARY-1", stimuli.STEPS)
def rotation_goes_on_where_the_cache_ends(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case, positions="rotary")
    yield from in_chunks_as_in_one(subject, call, cuts(case), " with a rotation inside")


@requirement("CACHE-SLOPE-1", stimuli.STEPS)
def slopes_go_on_where_the_cache_ends(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case, positions="alibi")
    yield from in_chunks_as_in_one(subject, call, cuts(case), " with ALiBi inside")


@requirement("CACHE-RELATIVE-1", stimuli.STEPS)
def buckets_go_on_where_the_cache_ends(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case, positions="relative-bias")
    yield from in_chunks_as_in_one(subject, call, cuts(case), " with a relative bias inside")


@requirement("CACHE-SHAW-1", stimuli.STEPS)
def offsets_go_on_where_the_cache_ends(subject: Subject, case: Case) -> Evidence:
    values = "yes" if subject.offers("relative-values") else "no"
    call = layer(subject, case, positions="shaw", relative_values=values)
    yield from in_chunks_as_in_one(subject, call, cuts(case), " with vectors of offsets inside")
