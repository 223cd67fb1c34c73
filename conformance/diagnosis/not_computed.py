"""An output that is not computed from the input: memory as it was found, or numbers drawn anew.

Whatever the parameters of a file mean, and however it is read, that is a mistake, and nothing else that is seen of it
says anything: that the mode matters, say, or that samples are mixed.
"""

from collections.abc import Sequence

from attnconf.conformance.diagnosis.mistakes import Diagnosis, diagnosis_of
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.worker.performing import CUT

NOT_COMPUTED = Mutant(
    "CALL-not-computed",
    story="the output is not computed from the input: two equal calls differ, and no gradient reaches it",
    breaks=set(),
    hint="what torch.empty returns is memory as it was found: return what was computed",
    replace={},
)


def not_computed(judged: Sequence[Judged], failed: Judged) -> Diagnosis | None:
    """Return what is behind a failure where no output of a component has to do with its input; None where one has."""
    failures = {one.requirement.id: failure for one in judged if (failure := one.failure)}
    again = [failures[name].reason for name in ("CALL-REPEAT-1", "CALL-MODE-1") if name in failures]
    cut = any(failure.message == CUT for failure in failures.values())
    differs = any(reason != "raised" for reason in again)  # the same memory may be found twice, but hardly always
    return diagnosis_of(failed, [NOT_COMPUTED]) if cut and differs else None
