"""The ids and the chance of the agent's own modules: stand-ins for what :mod:`uuid`, :mod:`random`
and :mod:`secrets` have.

Of a choice its place is kept, and not what was chosen: objects stay the agent's own. The real
functions draw as they would without a session, also after ``random.seed``. Generators of the
agent's own (``random.Random``) are left alone: they give the same for the same seed anyway.
"""

from __future__ import annotations

import random as _random
import secrets as _secrets
import uuid as _uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.seam.ambient_reads import Ambient, looking_like

if TYPE_CHECKING:
    from workbench.seam.pins import Pins, Reading


def _from_seed(pins: Pins, asked: Reading) -> _random.Random:
    """What draws beyond the recording: it depends on the trace's seed and on the reading."""
    return _random.Random(int.from_bytes(pins.derived(asked), "big"))  # noqa: S311 - as the agent's


def _plain(name: str) -> Callable[..., Any]:
    """A draw whose result is a number or bytes."""
    ambient = Ambient(f"random.{name}", "random")

    def draw(*args: Any, **kwargs: Any) -> Any:
        getattr(_TRIAL, name)(*args, **kwargs)  # what cannot be drawn is refused, and no reading
        return ambient.read(
            lambda: getattr(_random, name)(*args, **kwargs),
            lambda pins, asked: getattr(_from_seed(pins, asked), name)(*args, **kwargs),
        )

    return looking_like(draw, getattr(_random, name))


_TRIAL = _random.Random(0)  # noqa: S311 - nobody gets what it draws


_CHOICE = Ambient("random.choice", "random")
_CHOICES = Ambient("random.choices", "random")
_SAMPLE = Ambient("random.sample", "random")
_SHUFFLE = Ambient("random.shuffle", "random")


def choice(seq: Any) -> Any:
    """One of a sequence."""
    _TRIAL.choice(seq)
    places = range(len(seq))
    return seq[
        _CHOICE.read(
            lambda: _random.choice(places),  # noqa: S311 - as the agent asks
            lambda pins, asked: _from_seed(pins, asked).choice(places),
            lambda told: isinstance(told, int) and told < len(seq),
        )
    ]


def choices(
    population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
) -> list[Any]:
    """Some of a sequence, one maybe several times."""
    _TRIAL.choices(population, weights, cum_weights=cum_weights, k=k)
    places = range(len(population))
    told = _CHOICES.read(
        lambda: _random.choices(places, weights, cum_weights=cum_weights, k=k),  # noqa: S311
        lambda pins, asked: _from_seed(pins, asked).choices(
            places, weights, cum_weights=cum_weights, k=k
        ),
        lambda told: _are_places(told, len(population), k),
    )
    return [population[place] for place in told]


def sample(population: Any, k: int, *, counts: Any = None) -> list[Any]:
    """Some of a sequence, each once."""
    _TRIAL.sample(population, k, counts=counts)
    places = range(len(population))
    told = _SAMPLE.read(
        lambda: _random.sample(places, k, counts=counts),
        lambda pins, asked: _from_seed(pins, asked).sample(places, k, counts=counts),
        lambda told: _are_places(told, len(population), k),
    )
    return [population[place] for place in told]


def shuffle(x: Any) -> None:
    """Put a list into another order."""

    def order(generator: Any) -> list[int]:
        places = list(range(len(x)))
        generator.shuffle(places)
        return places

    told = _SHUFFLE.read(
        lambda: order(_random),
        lambda pins, asked: order(_from_seed(pins, asked)),
        lambda told: _are_places(told, len(x), len(x)),
    )
    for number, item in enumerate([x[place] for place in told]):
        x[number] = item


def _are_places(told: Any, size: int, count: int) -> bool:
    return isinstance(told, Sequence) and len(told) == count and all(each < size for each in told)


_PLAIN = (
    "random", "uniform", "triangular", "randint", "randrange", "getrandbits", "randbytes",
    "betavariate", "binomialvariate", "expovariate", "gammavariate", "gauss", "lognormvariate",
    "normalvariate", "paretovariate", "vonmisesvariate", "weibullvariate",
)  # fmt: skip

RANDOM: dict[str, Any] = {
    **{name: _plain(name) for name in _PLAIN if hasattr(_random, name)},
    "choice": looking_like(choice, _random.choice),
    "choices": looking_like(choices, _random.choices),
    "sample": looking_like(sample, _random.sample),
    "shuffle": looking_like(shuffle, _random.shuffle),
}
"""What stands in for functions of :mod:`random`, by name."""


def _id(name: str, version: int) -> Callable[..., Any]:
    ambient = Ambient(f"uuid.{name}", "id")

    def made(*args: Any, **kwargs: Any) -> Any:
        return ambient.read(
            lambda: getattr(_uuid, name)(*args, **kwargs),
            lambda pins, asked: _uuid.UUID(bytes=pins.derived(asked), version=version),
        )

    return looking_like(made, getattr(_uuid, name))


UUID: dict[str, Any] = {
    name: _id(name, version)
    for name, version in (("uuid1", 1), ("uuid4", 4), ("uuid6", 6), ("uuid7", 7))
    if hasattr(_uuid, name)
}
"""What stands in for functions of :mod:`uuid`, by name."""


def _token(name: str, made: Callable[[bytes], Any]) -> Callable[..., Any]:
    ambient = Ambient(f"secrets.{name}", "random")

    def token(nbytes: int | None = None) -> Any:
        size = _secrets.DEFAULT_ENTROPY if nbytes is None else nbytes
        return ambient.read(
            lambda: getattr(_secrets, name)(nbytes),
            lambda pins, asked: made(_from_seed(pins, asked).randbytes(size)),
        )

    return looking_like(token, getattr(_secrets, name))


def _urlsafe(data: bytes) -> str:
    import base64

    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


_BELOW = Ambient("secrets.randbelow", "random")
_BITS = Ambient("secrets.randbits", "random")
_PICKED = Ambient("secrets.choice", "random")


def randbelow(exclusive_upper_bound: int) -> Any:
    """A whole number from 0."""
    bound = exclusive_upper_bound
    if bound <= 0:
        return _secrets.randbelow(bound)  # which says so
    return _BELOW.read(
        lambda: _secrets.randbelow(bound),
        lambda pins, asked: _from_seed(pins, asked).randrange(bound),
        lambda told: isinstance(told, int) and told < bound,
    )


def randbits(k: int) -> Any:
    """A whole number of so many bits."""
    return _BITS.read(
        lambda: _secrets.randbits(k), lambda pins, asked: _from_seed(pins, asked).getrandbits(k)
    )


def secret_choice(seq: Any) -> Any:
    """One of a sequence."""
    _TRIAL.choice(seq)
    size = len(seq)
    return seq[
        _PICKED.read(
            lambda: _secrets.randbelow(size),
            lambda pins, asked: _from_seed(pins, asked).randrange(size),
            lambda told: isinstance(told, int) and told < size,
        )
    ]


SECRETS: dict[str, Any] = {
    "token_bytes": _token("token_bytes", bytes),
    "token_hex": _token("token_hex", bytes.hex),
    "token_urlsafe": _token("token_urlsafe", _urlsafe),
    "randbelow": looking_like(randbelow, _secrets.randbelow),
    "randbits": looking_like(randbits, _secrets.randbits),
    "choice": looking_like(secret_choice, _secrets.choice),
}
"""What stands in for functions of :mod:`secrets`, by name."""
