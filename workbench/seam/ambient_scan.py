"""What of the agent's modules an ambient session cannot see: references to clocks and chance that
were taken before it began."""

from __future__ import annotations

import dis
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from workbench.seam.ambient_stands import MODULES, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def unseen(module: ModuleType) -> Iterator[str]:
    """A sentence for each function of a module that imports for itself, and for each default and
    attribute that holds a clock or a draw.

    What is imported while the session is open has no such places.
    """
    for function in _functions(module):
        for name, line in _imports(function.__code__):
            where = f"{Path(function.__code__.co_filename).name}:{line}"
            yield (
                f"{where} imports {name} inside a function, so what it reads of it is not part of "
                "the session: import it at the top of the module"
            )
        held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        for name in filter(None, map(name_of, held)):
            yield _kept(f"{module.__name__}.{function.__qualname__}", name)
    for owner in _classes(module):
        for each, value in _fields(owner):
            known = name_of(value)
            if known is not None:
                yield _kept(f"{module.__name__}.{owner.__qualname__}.{each}", known)


def _kept(place: str, name: str) -> str:
    return (
        f"{place} holds {name} itself, so what it reads is not part of the session: let it be a "
        f"function that calls {name}()"
    )


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    owners: list[Any] = [module, *_classes(module)]
    for owner in owners:
        for value in list(vars(owner).values()):
            found: Any = value.fget if isinstance(value, property) else value
            found = getattr(found, "__func__", found)
            while hasattr(found, "__wrapped__"):
                found = found.__wrapped__
            if isinstance(found, FunctionType) and found.__module__ == module.__name__:
                yield found


def _classes(module: ModuleType) -> list[type]:
    values = list(vars(module).values())
    return [each for each in values if _is_own(each, module)]


def _is_own(value: Any, module: ModuleType) -> bool:
    return isinstance(value, type) and value.__module__ == module.__name__


def _fields(owner: type) -> Iterator[tuple[str, Any]]:
    """A class's attributes, and what makes the default of a field: of a dataclass, of a model."""
    yield from list(vars(owner).items())
    for kind in ("__dataclass_fields__", "__pydantic_fields__"):
        for name, each in (vars(owner).get(kind) or {}).items():
            yield name, getattr(each, "default_factory", None)


def _imports(code: CodeType) -> Iterator[tuple[str, int]]:
    """The modules that some code imports for itself, and the lines."""
    if MODULES.keys() & set(code.co_names):
        line = code.co_firstlineno
        for step in dis.get_instructions(code):
            line = step.starts_line if type(step.starts_line) is int else line
            if step.opname == "IMPORT_NAME" and step.argval in MODULES:
                yield step.argval, line
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _imports(inner)
