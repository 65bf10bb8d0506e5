"""Vectorizers of texts and dictionaries."""

from colk._stored import Count, Field, Flag, ListOf, OneOf, Text, TupleOf
from colk.persistence._fitted.checks import WIDEST, dictionary, tf_idf
from colk.persistence._fitted.fields import (
    Absent,
    Estimator,
    Numbers,
    NumericType,
    TokenPattern,
    Vocabulary,
    Whole,
)
from colk.persistence._fitted.state import State, state

__all__ = ["TEXTS"]

_TOKENS: dict[str, Field] = {"vocabulary_": Vocabulary("p"), "fixed_vocabulary_": Flag()}
_STOP_WORDS: dict[str, Field] = {"_stop_words_id": Whole(at_most=2**63)}
# Output of a class with more features than this could take much memory for one sample.
_HASHES = Count(1, WIDEST)
_TEXTS: dict[str, Field] = {
    "input": OneOf("content"),
    "analyzer": OneOf("word", "char", "char_wb"),
    "preprocessor": Absent(),
    "tokenizer": Absent(),
    "token_pattern": TokenPattern(),
    "ngram_range": TupleOf(Count(1, 100), at_least=2),
    "dtype": NumericType(),
}

TEXTS: dict[str, State] = {
    "feature_extraction.DictVectorizer": State(
        {"vocabulary_": Vocabulary("p"), "feature_names_": ListOf(Text(), "p")},
        check=dictionary,
        parameters={"dtype": NumericType()},
    ),
    "feature_extraction.FeatureHasher": State(
        {}, parameters={"n_features": _HASHES, "dtype": NumericType()}
    ),
    "feature_extraction.text.CountVectorizer": State(_TOKENS, _STOP_WORDS, parameters=_TEXTS),
    "feature_extraction.text.HashingVectorizer": State(
        {}, _STOP_WORDS, parameters={**_TEXTS, "n_features": _HASHES}
    ),
    "feature_extraction.text.TfidfTransformer": state({}, {"idf_": Numbers("p")}),
    "feature_extraction.text.TfidfVectorizer": State(
        {**_TOKENS, "_tfidf": Estimator("TfidfTransformer")},
        _STOP_WORDS,
        tf_idf,
        parameters=_TEXTS,
    ),
}
