"""A small client library that nobody hooked yet, for the page on adapters."""

from collections.abc import Iterator
from dataclasses import dataclass


class OrbitError(Exception):
    """What it raises."""


@dataclass
class Answer:
    """What a model said."""

    text: str


class Client:
    """Asks a model."""

    asked: list[str] = []  # noqa: RUF012 - what reached the world, of all clients

    def __init__(self, model: str) -> None:
        self.model = model

    def ask(self, question: str) -> Answer:
        """The answer to a question."""
        Client.asked.append(question)
        if not question:
            raise OrbitError("nothing was asked")
        return Answer(f"{self.model} heard: {question}")

    def stream(self, question: str) -> Iterator[str]:
        """The answer to a question, word by word."""
        for number, word in enumerate(self.ask(question).text.split(" ")):
            yield f" {word}" if number else word
