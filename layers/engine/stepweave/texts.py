"""Words for people, in both languages of the product (contract §4: Chinese by default, English by choice)."""

from dataclasses import dataclass
from typing import Literal

Language = Literal["zh", "en"]
DEFAULT_LANGUAGE: Language = "zh"


@dataclass(frozen=True, slots=True)
class Text:
    """One message in Chinese and in English; which one is shown is decided where it is shown or stored."""

    zh: str
    en: str

    def to(self, language: str) -> str:
        return self.en if language == "en" else self.zh

    def __str__(self) -> str:
        return self.en

    @staticmethod
    def same(words: str) -> "Text":
        """Words that are not ours to translate: a provider's error, a person's own text."""
        return Text(words, words)

    @staticmethod
    def join(texts: "list[Text]", zh: str = "；", en: str = "; ") -> "Text":
        return Text(zh.join(t.zh for t in texts), en.join(t.en for t in texts))


def choose_language(accept_language: str | None) -> Language:
    """`en` when the first language of an Accept-Language header that we speak is English, else `zh`."""
    weighted: list[tuple[float, int, str]] = []
    for position, part in enumerate((accept_language or "").split(",")):
        tag, _, parameters = part.strip().partition(";")
        quality = 1.0
        if parameters.strip().startswith("q="):
            try:
                quality = float(parameters.strip()[2:])
            except ValueError:
                quality = 0.0
        weighted.append((-quality, position, tag.strip().lower()))
    for negative_quality, _, tag in sorted(weighted):
        if negative_quality == 0:
            continue
        if tag.startswith("en"):
            return "en"
        if tag.startswith("zh"):
            return "zh"
    return DEFAULT_LANGUAGE
