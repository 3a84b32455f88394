"""Strategies that go through unwanted pages to wanted ones, by name: models of the path, and patience."""

from __future__ import annotations

from pathlib import Path

from spoor.admit.at_most import AtMost
from spoor.admit.noise import NoNoise
from spoor.assembly.naming import Named
from spoor.assembly.papers import AHM, CONTEXT_GRAPHS, HMM, TUNNELLING
from spoor.assembly.wishes import topic_for
from spoor.context.path_model import PathModel
from spoor.context.path_model_file import open_paths
from spoor.context.path_view import PathView
from spoor.errors import UsageError
from spoor.roles import Judge
from spoor.score.aspects import Aspects, Shares
from spoor.score.expected_distance import ExpectedDistance
from spoor.score.layer import Layer
from spoor.score.likeliest_layer import LikeliestLayer
from spoor.score.nearness import Nearness
from spoor.score.path_aspects import PathAspects, check_key
from spoor.strategy import Strategy
from spoor.trail.both import Both
from spoor.trail.chain_hops import ChainHops
from spoor.trail.hidden_state import HiddenState
from spoor.trail.tunnel import Tunnel


def hmm(judge: Judge, model: str = "", key: str = "expected", order: int = 1, decoder: str = "forward") -> Strategy:
    check_key(key)
    path = PathView(_model("hmm", model), order, decoder)
    return Strategy(judge, LikeliestLayer(path) if key == "argmax" else ExpectedDistance(path), HiddenState(path))


def ahmm(
    judge: Judge,
    model: str = "",
    key: str = "expected",
    order: int = 2,
    decoder: str = "forward",
    parent: float = 0.25,
    anchor: float = 0.25,
    url: float = 0.25,
    chain: float = 0.25,
    size: int = 50,
    words: str = "",
) -> Strategy:
    path = PathView(_model("ahmm", model), order, decoder)
    topic = topic_for("ahmm", judge, words, otherwise=path.model.words)
    scorer = PathAspects(path, Aspects(topic, Shares(parent, anchor, url, chain)), key)
    return Strategy(judge, scorer, Both(HiddenState(path), ChainHops(size)), NoNoise())


def context_graph(judge: Judge, model: str = "", least: float = 0.5) -> Strategy:
    return Strategy(judge, Layer(_model("context-graph", model), least))


def tunnelling(judge: Judge, cutoff: float = 10.0) -> Strategy:
    if not cutoff >= 0.0:
        raise UsageError(f"tunnelling:cutoff={cutoff:g} leaves nothing to visit; give 0 or more")
    return Strategy(judge, Nearness(), Tunnel(), AtMost("distance", cutoff))


def _model(name: str, file: str) -> PathModel:
    if not file:
        remedy = f"train one with `spoor train context`, and name it, as in {name}:model=FILE.spoor"
        raise UsageError(f"{name} needs a model of paths; {remedy}")
    return open_paths(Path(file))


PATHS: dict[str, Named] = {
    "tunnelling": Named(tunnelling, "through unwanted pages until the patience of the path is spent", TUNNELLING),
    "context-graph": Named(context_graph, "by the layer around wanted pages that a page looks like", CONTEXT_GRAPHS),
    "hmm": Named(hmm, "by the distance to a wanted page that a hidden Markov model of the path expects", HMM),
    "ahmm": Named(ahmm, "the same with two states of memory, and by four aspects of the link", AHM),
}
