"""Load implementations whose code is run, while they are judged, in a process of its own.

An adapter is imported in that process alone. A file without one is bound in a second process, the binder, which tells
in words how it is called; the binding's text is run in the first one. In this process no file is run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine import answers
from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.conformance.engine.child import BINDING, SECONDS, Away, Child
from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.engine.warm import BINDER
from attnconf.conformance.loading import resolve
from attnconf.conformance.loading.adapter import implementation_of
from attnconf.conformance.loading.find import LoadError, Name, demand_file, in_working_folder, located, needs, without
from attnconf.conformance.loading.required_conventions import held_to
from attnconf.conformance.source import reader
from attnconf.conformance.source.neighbours import above_it
from attnconf.conformance.worker import confinement
from attnconf.conformance.worker.fences import OF_THE_REFERENCE
from attnconf.conformance.worker.refused import Refused
from attnconf.conformance.worker.survey import Offer, Survey
from attnconf.conformance.worker.wire import Malformed
from attnconf.spec import courses

Known = Survey | Unjudgeable | LoadError
JUDGED = "isolation    judged in a child process"


@dataclass(frozen=True)
class Terms:
    """What a process is held to."""

    seconds: float = SECONDS  # for one call
    loading: float | None = None  # to import a file; None: the usual time
    binding: float | None = None  # to find out how a file without an adapter is called; likewise
    device: str = "cpu"  # on which its calls compute
    reads: Sequence[Path] | None = None  # what a file may read; None: all that it could import from around it

    def child(self, place: Path | str) -> Child:
        """Return a process for a file or module."""
        return self._child(place, self.seconds, place in OF_THE_REFERENCE)

    def binder(self, place: Path | str) -> Child:
        course = courses.used()
        return self._child(place, self.patience, True, [str(course.folder)] if course else [], runs=BINDER)

    def _child(
        self, place: Path | str, seconds: float, reference: bool, besides: Sequence[str] = (), **what: str
    ) -> Child:
        reads = [*self.granted(place), *besides]
        return Child(seconds, reference, reads=reads, device=self.device, loading=self.loading, **what)

    @property
    def patience(self) -> float:
        """The seconds to find out how a file is called."""
        return BINDING if self.binding is None else self.binding

    def granted(self, place: Path | str) -> list[str]:
        """Return the files and folders that belong to a file or module."""
        if isinstance(place, Path):
            file = place.absolute()
            around = [file, file.parent, *above_it(file.parent)] if self.reads is None else [file, *self.reads]
            return [str(other) for other in around]
        spec = find_spec(place.partition(".")[0])
        if spec is None or spec.name == "attnconf":
            return []
        found = [
            *(spec.submodule_search_locations or ()),
            *([spec.origin] if spec.has_location and spec.origin else []),
        ]
        beside = [str(Path(each).parent) for each in found[:1] if "site-packages" not in Path(each).parts]
        return [*found, *beside]


def load(
    typed: str, prescribed: Mapping[str, str] | None = None, terms: Terms | None = None
) -> list[Implementation | Unjudgeable]:
    """Return the implementations of a name, as ``resolve.load`` does."""
    return [held_to(i, prescribed or {}) for i in _load(typed, prescribed or {}, terms or Terms())]


def _load(typed: str, prescribed: Mapping[str, str], terms: Terms) -> list[Implementation | Unjudgeable]:
    name = Name.of(typed)
    shipped = f"attnconf.adapters.{name.target}"
    if name.target in adapter_names():
        there = Place(name, shipped, terms)
        known = there.survey()
        library = name.chosen is not None and find_spec(name.target) is not None
        if not (library and isinstance(known, Survey) and name.chosen not in (known.variants or {})):
            return there.adapter(known)
        there.child.end()
    points = entry_points(group="attnconf.adapters", name=name.target)
    if points and not in_working_folder(name.target):
        there = Place(name, next(iter(points)).value, terms)
        return there.adapter(there.survey())
    return _elsewhere(name, prescribed, terms)


def _elsewhere(name: Name, prescribed: Mapping[str, str], terms: Terms) -> list[Implementation | Unjudgeable]:
    """Return the implementations of a file, or of a module that is no adapter of ours. Raises LoadError."""
    found, place = located(name)
    if isinstance(place, Path):
        demand_file(place)
    there = Place(found, place, terms)
    known = there.survey()
    if isinstance(known, Unjudgeable):
        return [replace(known, name=name.typed)]
    if isinstance(known, LoadError):
        raise known
    if found is not name and found.chosen not in known.callables:
        raise LoadError(without(name, known.callables))
    is_variant = found.chosen is None or found.chosen in (known.variants or {})
    if known.adapter and (is_variant or found.chosen not in known.callables):
        return there.adapter(known)
    return [there.bound(i, n) for n, i in enumerate(there.found(prescribed))]


@dataclass(frozen=True)
class Place:
    """A file or module."""

    name: Name
    place: Path | str  # a file, or the dotted name of a module
    terms: Terms

    @cached_property
    def child(self) -> Child:
        """The process that holds it."""
        return self.terms.child(self.place)

    def survey(self) -> Known:
        """Return what the module offers, or why that cannot be known."""
        wanted = [self.name.chosen] if self.name.chosen else []
        request = {"do": "load", **self._asked, "wanted": wanted}
        try:
            return self.child.prepare(request, self._understood)
        except Refused as refused:
            return self._unjudgeable(f"importing it {refused.message}")

    @property
    def _asked(self) -> dict[str, Any]:
        """The place in a request, to a process that works in another folder."""
        place = self.place.absolute() if isinstance(self.place, Path) else self.place
        return {"place": str(place), "file": isinstance(self.place, Path)}

    def _understood(self, answer: Mapping[str, Any], _: object) -> Known:
        if "failed" not in answer:
            return replace(answers.survey_of(answer), path=self._path)
        why, package = answers.words(answer["failed"]), answers.words(answer.get("lacks"))
        if answer.get("there") is not True:
            return LoadError(why)
        lacking = isinstance(self.place, str) and self.place.startswith("attnconf.adapters.") and package != ""
        if lacking and package != "attnconf":
            return replace(self._unjudgeable(needs(package)), lacking=True)
        return self._unjudgeable(why)

    @property
    def _path(self) -> str:
        """The file, whatever its code says that it is: known deviations are looked for beside it."""
        if isinstance(self.place, Path):
            return str(self.place.absolute())
        spec = find_spec(self.place)
        return str(spec.origin) if spec is not None and spec.has_location else self.place

    def _unjudgeable(self, why: str) -> Unjudgeable:
        return Unjudgeable(str(self.place), str(self.place), why)

    def adapter(self, known: Known) -> list[Implementation | Unjudgeable]:
        """Return the implementations of an adapter. Raises LoadError."""
        if isinstance(known, Unjudgeable):
            return [replace(known, name=self.name.typed)]
        if isinstance(known, LoadError):
            raise known

        def made(label: str, variant: str | None, offer: Offer, path: str) -> Implementation | Unjudgeable:
            away = Away(self.child, "" if variant is None else f":{variant}")
            found = implementation_of(label, path, offer, dict.fromkeys(COMPONENTS, elsewhere), away)
            return found if isinstance(found, Unjudgeable) else replace(found, notes=(*found.notes, self._said))

        return resolve.offered(self.name, known, made)

    @property
    def _said(self) -> str:
        reference = ", which imports the reference: it is this adapter" if self.child.reference else ""
        return f"{JUDGED}{reference}{self._lacking}"

    @property
    def _lacking(self) -> str:
        """Words on the layers of isolation that cannot be had here, to be put behind others."""
        lacking = [layer for layer in confinement.LAYERS if layer not in self.child.layers]
        return f"; not to be had here: {', '.join(lacking)}" if lacking else ""

    def found(self, prescribed: Mapping[str, str]) -> list[Implementation | Unjudgeable]:
        """Return what a process that runs the file beside the reference finds in it. Raises LoadError."""
        if isinstance(self.place, Path):
            reader.keep_text(self.place)
        binder = self.terms.binder(self.place)
        request = {"do": "bind", **self._asked, "name": vars(self.name), "prescribed": dict(prescribed)}
        try:
            return binder.ask(request, (), self._read, self.terms.patience)
        except Refused as refused:
            return [replace(self._unjudgeable(f"finding out how it is called {refused.message}"), name=self.name.typed)]
        finally:
            binder.end()

    def _read(self, answer: Mapping[str, Any], _: object) -> list[Implementation | Unjudgeable]:
        if "failed" in answer:
            raise LoadError(answers.words(answer["failed"]))
        if "refused" in answer:  # code of the file has broken what found it out
            raise Refused("protocol", "could not be told: code of the file has ended or changed what finds it out")
        told = answer.get("bound")
        if not isinstance(told, list) or not told:
            raise Malformed("its reply has nothing that was found")
        return [answers.found_in(one, self.name.typed, self._path) for one in told]

    def bound(self, found: Implementation | Unjudgeable, number: int) -> Implementation | Unjudgeable:
        """Return a binding that was found in one process as one that is run in the other."""
        if isinstance(found, Unjudgeable) or found.binding is None:
            return found
        key = f"bound {number}"
        request = {
            "do": "define", "key": key, "text": found.binding.text, "name": found.binding.file, "source": found.source,
            "lent_by": found.binding.lent_by, "components": list(found.components),
        }  # fmt: skip
        try:
            self.child.prepare(request, _done)
        except Refused as refused:
            return Unjudgeable(found.name, found.source, f"its binding cannot be run apart: it {refused.message}")
        notes = (*found.notes, f"{JUDGED}, bound in another{self._lacking}")
        components = dict.fromkeys(found.components, elsewhere)
        return replace(found, components=components, apart=Away(self.child, key), notes=notes)


def _done(answer: Mapping[str, Any], _: object) -> None:
    if "refused" in answer:
        raise Refused("protocol", answers.words(answer["refused"].get("message")))
    if answer != {"done": True}:
        raise Malformed("its reply has not the form asked for")


def elsewhere(config: Any, weights: Any) -> Callable[..., Any]:
    """Stand for a function of an implementation that runs in another process."""
    raise AssertionError("its code is not in this process")
