"""The door of this package: one object that cleans what goes into one trace."""

from __future__ import annotations

import secrets as randomness
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import UnencodableError, UsageError
from workbench.trace.redaction import paths
from workbench.trace.redaction.environment import secrets_of
from workbench.trace.redaction.placeholders import placeholders, same_but_placeholders, stands_for
from workbench.trace.redaction.resolving import Secrets, resolve
from workbench.trace.redaction.rules import BUILTIN, Rule, as_rules
from workbench.trace.redaction.texts import Texts
from workbench.trace.redaction.walk import Walker

if TYPE_CHECKING:
    from workbench.trace.entries import TraceLine

Redact = bool | Sequence[Rule | str]
"""What ``redact=`` takes: whether to redact at all, or rules beside those of this package. A text
is the name of a key."""


class Redactor:
    """Puts placeholders in place of secrets. Make one with :meth:`for_recording`,
    :meth:`for_replay` or :meth:`off`.

    What it writes for a value depends on the value, the rules and the salt only, so a replay that
    is made of the same rules and salt finds its requests again.
    """

    def __init__(
        self,
        names: Iterable[str],
        custom: Iterable[Rule] = (),
        *,
        salt: str | None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.custom = tuple(custom)
        """The user's rules."""
        builtin = tuple(name for name in BUILTIN if name in set(names))
        self.names = [*builtin, *(rule.name for rule in self.custom)]
        """The names of the rules in force, as the header's ``redact`` has them."""
        self.salt = salt
        """The salt of the placeholders, as the header has it; None when nothing is redacted."""
        values = secrets_of(environment) if "environment" in builtin else ()
        self._walker = Walker(Texts(builtin, values, self.custom, salt or ""), self.custom)
        self._paths = tuple(rule for rule in self.custom if rule.paths)

    def __repr__(self) -> str:
        return f"<Redactor {', '.join(self.names) or 'off'}>"

    @property
    def on(self) -> bool:
        """Whether anything is redacted."""
        return bool(self.names)

    @property
    def texts(self) -> Texts:
        """Its rules for texts."""
        return self._walker.texts

    @classmethod
    def off(cls) -> Redactor:
        """One that leaves everything as it is."""
        return cls((), salt=None)

    @classmethod
    def for_recording(
        cls,
        redact: Redact = True,  # noqa: FBT002 - it is what `redact=` was given
        salt: str | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> Redactor:
        """For a new trace.

        Args:
            redact: whether to redact, or further rules.
            salt: of the placeholders; a random one when not given.
            environment: where the secrets of the environment are taken from, once, now: that of
                this process when not given. They are never written down.

        Raises:
            UsageError: one of the rules is none, or two have the same name.
        """
        if redact is False:
            return cls.off()
        custom = () if redact is True else as_rules(_listed(redact))
        salt = salt or randomness.token_hex(16)
        return cls(BUILTIN, custom, salt=salt, environment=environment)

    @classmethod
    def for_replay(
        cls,
        header: TraceLine,
        redact: Redact = (),
        *,
        environment: Mapping[str, str] | None = None,
    ) -> Redactor:
        """For a replay or fork of a trace, or for one more writer of it: the trace's own rules
        and salt. One that was recorded without redaction is left without.

        Args:
            header: the trace's first line.
            redact: the user's rules that it was recorded with. Others have no effect.
            environment: as for a recording.

        Raises:
            UsageError: a rule that the trace was recorded with is absent; the text names it.
        """
        if not header.redact:
            return cls.off()
        given = () if isinstance(redact, bool) else as_rules(_listed(redact))
        known = {rule.name: rule for rule in given}
        absent = [name for name in header.redact if name not in known and name not in BUILTIN]
        if absent:
            raise UsageError(
                f"the trace {header.name or header.id} was recorded with the redaction "
                f"{'rule' if len(absent) == 1 else 'rules'} {', '.join(map(repr, absent))}, which "
                f"{'is' if len(absent) == 1 else 'are'} not here, so its requests would not be "
                "found again. Pass what it was recorded with: redact=[Rule.key(…), …]"
            )
        custom = [known[name] for name in header.redact if name in known]
        return cls(header.redact, custom, salt=header.salt or "", environment=environment)

    def clean(self, value: Any) -> Any:
        """A value with placeholders in place of its secrets.

        Args:
            value: an encoded value (:func:`workbench.trace.values.encode`), or a provider's JSON.
                It is never changed.

        Returns:
            The very same object when there is no secret in it, else a copy that shares with it
            what is the same. Cleaning it again changes nothing.

        Raises:
            UnencodableError: the value contains itself, or is nested too deep.
        """
        if not self.names:
            return value
        try:
            named = paths.apply(value, self._paths, self._walker.secret) if self._paths else value
            return named if self._walker.is_clean(named) else self._walker.clean(named)
        except RecursionError:
            raise UnencodableError("a value contains itself, or is nested too deep") from None

    def is_clean(self, value: Any) -> bool:
        """Whether a value surely holds no secret: a quick look. Raises as :meth:`clean`."""
        return not self._paths and self._walker.is_clean(value)

    @staticmethod
    def placeholders(value: Any) -> list[str]:
        """The placeholders in a value, as :func:`workbench.trace.redaction.placeholders`."""
        return placeholders(value)

    def same_but_placeholders(self, a: Any, b: Any) -> bool:
        """Whether two encoded values differ in nothing but placeholders.

        Args:
            a: what was recorded.
            b: what is asked now. Its placeholders may also stand for secrets that `a` holds as
                they are, since nothing there said that they are secrets.
        """
        return same_but_placeholders(a, b) or stands_for(a, b, self.salt or "")

    def resolve(self, value: Any, secrets: Secrets) -> Any:
        """A value for the live world: with the secrets in place of their placeholders.

        Args:
            value: such as a tool's arguments. It is not changed.
            secrets: texts, of which each stands for the placeholders that were made of it; or a
                mapping, whose keys can also be a placeholder or a rule's name, such as
                ``os.environ``.

        Raises:
            UsageError: a placeholder is none of these; the text names it and its place.
        """
        return resolve(value, secrets, self.salt or "")


def _listed(redact: Any) -> Iterable[Any]:
    """The rules that were given, one of them also without a list around it."""
    return (redact,) if isinstance(redact, str | Rule) else redact
