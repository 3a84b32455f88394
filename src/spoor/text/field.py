"""What texts of a field teach, beside texts of a background: the words of the field, and which of them are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spoor.text.alternation import MOST_WORDS, alternate, matrix
from spoor.text.background import background
from spoor.text.rewriting import RewrittenTopic, SimilarWords, similar_words
from spoor.text.topic import Topic, cut_to, mean
from spoor.text.vector_space import Collection, Vector, VectorSpace, collection, heaviest
from spoor.text.words import Words


@dataclass(frozen=True, eq=False)
class Field:
    """Texts of the field, weighed in a space that knows the background too; `similar` None: words are as they are."""

    words: Words
    space: VectorSpace = field(repr=False)
    texts: tuple[Vector, ...] = field(repr=False)
    similar: SimilarWords | None = None

    def topic(self, terms: int, left_out: Sequence[int] = ()) -> Topic | RewrittenTopic:
        """The heaviest words of all texts, or of all but those with the given numbers."""
        together = mean(vector for number, vector in enumerate(self.texts) if number not in set(left_out))
        topic = Topic(self.words, self.space, cut_to(together, terms))
        return RewrittenTopic(topic, self.similar) if self.similar else topic


def learned(texts: Sequence[str], others: Sequence[str], words: Words, semantic: bool = False) -> Field:
    """Words are weighed by how rare they are in all these texts and in texts about anything; so a handful of `others`,
    or none, will do."""
    cut, cut_others = [words.of(text) for text in texts], [words.of(text) for text in others]
    space = VectorSpace(_joined(collection([*cut, *cut_others]), background()))
    vectors = tuple(space.vector(each) for each in cut)
    if not semantic:
        return Field(words, space, vectors)
    vocabulary = heaviest(mean(vectors), MOST_WORDS)
    weights = matrix([space.raw(each) for each in (*cut, *cut_others)], vocabulary)
    return Field(words, space, vectors, similar_words(vocabulary, alternate(weights).words))


def _joined(one: Collection, other: Collection) -> Collection:
    counts = dict(other.frequencies)
    for word, count in one.frequencies.items():
        counts[word] = counts.get(word, 0) + count
    return Collection(one.texts + other.texts, counts)
