"""Accountants as functions: ``averaging(graph=club, steps=6, observers=[0])`` is ``sottovoce account averaging`` with these options.

What is not given is left to the command line, whose defaults are named below. Written by ``generate.py`` from what ``sottovoce schema --options`` says.

>>> rumor(peers=40, curious=4).guarantees[0].standing
'proven'
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, Union

from ._ask import ask
from ._progress import Listener
from ._result import Result
from .graphs import Graph

#: The name of a file.
Path = Union[str, "os.PathLike[str]"]
#: Texts, and numbers that are written as such.
Text = Union[str, int, float]


def _asked(command: str, given: dict[str, Any]) -> Result:
    return ask("account", command, **given)


def averaging(
    *,
    all_pairs: bool | None = None,
    wire_tapper: bool | None = None,
    worst_coalition: int | None = None,
    title: Text | None = None,
    seeds: int | None = None,
    graph: Graph | None = None,
    format: Literal["edge-list", "snap", "graphml", "node-link"] | None = None,
    weights: Text | None = None,
    lazy: float | None = None,
    schedule: Path | None = None,
    peers: int | None = None,
    largest_component: bool | None = None,
    protocol: Literal["gossip", "accelerated", "randomised", "accelerated-randomised", "butterfly", "walk"] | None = None,
    steps: int | None = None,
    tokens: int | None = None,
    burn_in: int | None = None,
    cap: int | None = None,
    step_size: Text | None = None,
    sigma: float | None = None,
    relay_noise: float | None = None,
    sensitivity: float | None = None,
    cancel: float | None = None,
    masks: bool | None = None,
    grid: float | None = None,
    keys: Graph | None = None,
    values: Path | None = None,
    range: Text | None = None,
    delay: float | None = None,
    jitter: float | None = None,
    drop: float | None = None,
    duplicate: float | None = None,
    timeout: float | None = None,
    crashes: Text | Sequence[Text] | None = None,
    slow: Text | Sequence[Text] | None = None,
    lenient: bool | None = None,
    observers: Text | Sequence[Text] | None = None,
    colluders: int | None = None,
    results: Text | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    against: Literal["worst-peer", "wire-tapper"] | None = None,
    distance: Text | None = None,
    metric: Text | None = None,
    within: Text | Sequence[Text] | None = None,
    farther: float | None = None,
    seed: Text | None = None,
    progress: bool | Listener | None = None,
) -> Result:
    """Gossip averaging: what observers learn about every peer, exactly and as published

    ``sottovoce account averaging``, with its options:

        all_pairs: Every peer on its own: the leakage of all pairs
        wire_tapper: Someone who sees every message, and knows all that --observers know, if they are given
        worst_coalition: The K peers who together learn most (without relay noise)
        title: What the report is called
        seeds: Runs with so many seeds, from the first on, over which errors are given (default: 1)
        graph: Graph file; its ending tells the format, `.gz` is unpacked, `-` is standard input
        format: Format of the graph file, where its ending does not tell
        weights: What neighbours give to each other in one step: metropolis, metropolis-plus-one or uniform, which needs equal degrees but for a token, whose plain random walk it is (default: metropolis-plus-one)
        lazy: Share of its own value that every peer keeps in a step, from 0 to below 1 (default: 0)
        schedule: File that says who mixes with whom at each step, instead of a fixed graph; `-` is standard input. (A pair that exchanges meets halfway, whatever the weights.)
        peers: Number of peers of a random geometric graph, where no graph is given
        largest_component: Take the largest connected part of the graph file
        protocol: What the peers do (default: gossip)
        steps: Rounds of gossip, or steps of each token (default: until values differ no more than their noise; a schedule and a butterfly have their own number; ten contributions of each peer on average)
        tokens: Tokens that walk in parallel; the result is their mean (default: 1)
        burn_in: Steps in which a token is only passed on, at first (default: until it may be nearly anywhere)
        cap: Most contributions of each peer; after them it adds noise only (default: no limit)
        step_size: Step sizes: `running` for 1/t, so that the token is the mean of what was contributed, or a number up to 1 (default: running)
        sigma: Standard deviation of the noise on a private value (default: what the target asks for)
        relay_noise: Fresh noise on every message, as a share of sigma (default: 0)
        sensitivity: How far one person can move a peer's value (default: the whole range, in every column)
        cancel: Noise that cancels: each two peers who share a secret add and subtract a Gaussian of so many sigmas
        masks: Masks that cancel, instead: each two peers who share a secret add and subtract a uniform number on a ring of integers, and noise is exact (with a butterfly)
        grid: With masks, the step of the public grid that values are rounded to: a power of two (default: one on which rounding costs next to nothing)
        keys: Who shares a secret with whom: graph, complete, regular:K (K partners each, drawn), or a file with a graph of the same peers (default: complete)
        values: Table of private values with a header: a column `peer` with names as in the graph, and a column for each number. Without it values are drawn
        range: Public range of every value: LOW:HIGH. What lies outside is moved inside (default: 0:1)
        delay: Median delay of a message, in milliseconds (default: 40)
        jitter: How much delays vary: standard deviation of their logarithm; 0 for none (default: 0.5)
        drop: Probability that a message is dropped (default: 0)
        duplicate: Probability that a message arrives twice (default: 0)
        timeout: How long a round may last, or who passes a token on waits for an answer, in milliseconds (default: 30000)
        crashes: Peers that stop for good, and when, in milliseconds: PEER@MS, separated by commas
        slow: Peers whose messages take so many times longer: PEER@FACTOR, separated by commas
        lenient: Go on without neighbours that are not heard in time. What was planned is promised no longer: the run is accounted for as it happened
        observers: Peers who pool what they hear, by name, separated by commas (default: each peer by itself; the first is attacked)
        colluders: So many peers, whoever they are, may tell someone who sees every message all they know (with noise or masks that cancel)
        results: What becomes of the results: kept, or published and so known to the observers (default: kept)
        epsilon: Epsilon that a peer's value may lose, where sigma is not given (default: 4 towards someone who sees every message)
        delta: Probability with which epsilons may fail (default: 1e-5)
        against: To whom, where the noise is to be found (default: worst-peer; with noise or masks that cancel, or without --epsilon, wire-tapper)
        distance: Distances, which are public: `hops`, `coordinates` (those of the graph's nodes), or a table: a column `peer` and columns of numbers, or `peer,other,distance` for every pair
        metric: How far rows of such a table are apart: euclidean, or cosine (one less the cosine of their angle; default: euclidean)
        within: Pairs within this distance may lose this epsilon; once for each step, the nearest first. No bound rises with distance
        farther: Epsilon of pairs that are farther apart (default: that of the last step)
        seed: Seed of everything random: a number, with which the same run gives the same bits, or `random` (the system's entropy; the number drawn is printed) (default: 0)
        progress: ``True`` for a bar, or what is called with ``(what, done, total)``
    """
    return _asked("averaging", locals())


def walk(
    *,
    graph: Graph | None = None,
    format: Literal["edge-list", "snap", "graphml", "node-link"] | None = None,
    weights: Text | None = None,
    lazy: float | None = None,
    steps: int | None = None,
    observers: Text | Sequence[Text] | None = None,
    trajectory: Path | None = None,
    result_shown: bool | None = None,
    sigma: float | None = None,
    order: float | None = None,
    delta: float | None = None,
    expected: int | None = None,
    cap: int | None = None,
    averaging: Text | None = None,
    burn_in: int | None = None,
    tokens: int | None = None,
    confidence: float | None = None,
    seed: Text | None = None,
    progress: bool | Listener | None = None,
) -> Result:
    """A token that walks: what a path of it reveals, and the printed sums over all paths

    ``sottovoce account walk``, with its options:

        graph: Graph file; its ending tells the format, `.gz` is unpacked, `-` is standard input
        format: Format of the graph file, where its ending does not tell
        weights: What neighbours give to each other in one step: metropolis, metropolis-plus-one or uniform, which needs equal degrees but for a token, whose plain random walk it is (default: metropolis-plus-one)
        lazy: Share of its own value that every peer keeps in a step, from 0 to below 1 (default: 0)
        steps: Number of steps of the token
        observers: Who watches; several pool what they see
        trajectory: File with the holders of the token, in order; `steps` must be their number
        result_shown: The token's last value is shown to everyone, so that the rest of the trajectory after the observer's last visit counts as well
        sigma: Noise, in units of the sensitivity (default: 1, for guarantees)
        order: Order alpha of the Rényi losses of a walk to come (default: 2)
        delta: Probability with which the stated epsilons may fail (default: 1e-5)
        expected: Simulated paths from which the loss of a walk to come is estimated and bounded; its result is shown to everyone (default: 200, where no trajectory is given)
        cap: Most contributions of each peer in a walk to come; after them it adds noise only
        averaging: The token is an average: `running` for steps 1/t, or a step size up to 1. What it reveals is then exact in both columns
        burn_in: Steps before those, in which the token is only passed on (default: 0)
        tokens: Tokens that walk in parallel (default: 1)
        confidence: Probability with which the bounds from simulated paths hold, for all peers together (default: 0.999999)
        seed: Seed of everything random: a number, with which the same run gives the same bits, or `random` (the system's entropy; the number drawn is printed) (default: 0)
        progress: ``True`` for a bar, or what is called with ``(what, done, total)``
    """
    return _asked("walk", locals())


def rumor(
    *,
    peers: int | None = None,
    curious: int | None = None,
    delta: float | None = None,
    muting: float | None = None,
    graph: Graph | None = None,
    format: Literal["edge-list", "snap", "graphml", "node-link"] | None = None,
    curious_peers: Text | Sequence[Text] | None = None,
    clocks: Literal["rounds", "poisson"] | None = None,
    drop: float | None = None,
    churn: float | None = None,
    acknowledge: bool | None = None,
    seeds: int | None = None,
    epsilon: float | None = None,
    rumors: int | None = None,
    pair: Text | Sequence[Text] | None = None,
    seed: Text | None = None,
    progress: bool | Listener | None = None,
) -> Result:
    """Rumours: how well their source is hidden from curious peers

    ``sottovoce account rumor``, with its options:

        peers: Number of peers; everyone can reach everyone (default: 1024)
        curious: How many of them are curious and pool what they hear (default: one in sixteen)
        delta: Privacy to aim at: views of two sources differ by at most this (default: twice the best there is, F/N)
        muting: Probability of staying active after a telling, instead: 0 is the most private and slow, 1 is push, fast and hardly private
        graph: Graph file: only neighbours tell each other
        format: Format of the graph file, where its ending does not tell
        curious_peers: Which peers of the graph are curious, separated by commas (default: drawn at random)
        clocks: When active peers tell: in rounds, or by Poisson clocks of their own
        drop: Probability that a message is dropped
        churn: Share of the time for which a peer is away, ten rounds at a time on average: it tells nobody, and what it is told is lost
        acknowledge: Tellings are acknowledged, and repeated until they are
        seeds: Runs with so many seeds, to see how often the rumour survives (default: 100, where anything can be lost)
        epsilon: Epsilon at which delta is reported (default: 0)
        rumors: Rumours of one and the same source (default: 1)
        pair: Two sources on a graph, separated by a comma (default: all pairs)
        seed: Seed of everything random: a number, with which the same run gives the same bits, or `random` (the system's entropy; the number drawn is printed) (default: 0)
        progress: ``True`` for a bar, or what is called with ``(what, done, total)``
    """
    return _asked("rumor", locals())


def learning(
    *,
    seeds: int | None = None,
    final_model: Literal["last", "weighted"] | None = None,
    peers: int | None = None,
    rows: int | None = None,
    split: Text | None = None,
    data: Path | None = None,
    peer_column: Text | None = None,
    header: Literal["auto", "yes", "no"] | None = None,
    drop: Text | Sequence[Text] | None = None,
    category: Text | Sequence[Text] | None = None,
    missing: Text | None = None,
    label: Text | None = None,
    range: Text | Sequence[Text] | None = None,
    bounds: Path | None = None,
    norm: float | None = None,
    positive: Text | None = None,
    label_threshold: float | None = None,
    label_bounds: Text | None = None,
    classes: Text | Sequence[Text] | None = None,
    objective: Literal["logistic", "squared", "softmax"] | None = None,
    ridge: float | None = None,
    clip: float | None = None,
    clipped: Literal["example", "user", "nothing"] | None = None,
    batch: int | None = None,
    graph: Graph | None = None,
    format: Literal["edge-list", "snap", "graphml", "node-link"] | None = None,
    weights: Text | None = None,
    lazy: float | None = None,
    fresh_graphs: float | None = None,
    schedule: Path | None = None,
    method: Literal["gossip", "butterfly", "walk", "local", "central"] | None = None,
    iterations: int | None = None,
    steps: int | None = None,
    heterogeneity: float | None = None,
    accelerated: bool | None = None,
    relay_noise: float | None = None,
    tokens: int | None = None,
    burn_in: int | None = None,
    delay: float | None = None,
    jitter: float | None = None,
    drop_messages: float | None = None,
    timeout: float | None = None,
    crashes: Text | Sequence[Text] | None = None,
    slow: Text | Sequence[Text] | None = None,
    step_size: float | None = None,
    markov_step: float | None = None,
    sigma: float | None = None,
    cancel: float | None = None,
    keys: Graph | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    order: float | None = None,
    against: Literal["wire-tapper", "worst-peer", "mean-peer"] | None = None,
    colluders: int | None = None,
    observers: Text | Sequence[Text] | None = None,
    seed: Text | None = None,
    progress: bool | Listener | None = None,
) -> Result:
    """Gradient steps with averaging in between: what observers learn over all of them

    ``sottovoce account learning``, with its options:

        seeds: Runs with this and the following seeds over which the accuracy, or the error, is measured: one alone may be lucky (default: 10)
        final_model: What every peer ends with: its last model, or the weighted mean of all its models, which it takes by itself (default: last)
        peers: Number of peers that the data is dealt out to (default: those of the graph that is given, or else 512)
        rows: Rows of each peer (default: as many as there are for all)
        split: How rows are dealt out: evenly in their order, by classes whose shares are drawn for each peer (`dirichlet:0.5`), or from apart to alike (`similarity:0` to `similarity:1`). The latter two look at all labels: they are for Houses and its look-alike, and every guarantee says so (default: even)
        data: Folder with the Houses data (`cal_housing.data`), or a file to learn from, gzipped or not: comma-separated values (.csv, .tsv, .data, .txt), or images as MNIST has them (`train-images-idx3-ubyte`, with `train-labels-idx1-ubyte` beside it)
        peer_column: Column that names who holds a row: rows of the same name belong to one peer, and there are as many peers as names
        header: Whether the first line of comma-separated values holds the names of the columns; what cannot be told is asked for (default: auto)
        drop: Column to leave out; once for each
        category: All values that a column of words can hold; once for each such column. Every value becomes a feature that is 0 or 1. (Those that happen to occur are somebody's.)
        missing: What stands for a number that is missing (an empty field, `?`, NA, NaN or null): nothing (`refuse`), `zero`, or a number given here, before scaling (default: refuse)
        label: Name or number of the label's column in such a file
        range: Public bounds of a feature in such a file, by its name or number; once for each. What lies outside is moved to the nearer end. (Not from the file itself: a mean or a maximum of its rows would show them to everyone.)
        bounds: File of such bounds: JSON (`{"age": [0, 120]}`), or lines `column,low,high`
        norm: Instead of ranges: rows are divided by this length, and shortened to it where they are longer
        positive: The label that counts as +1; all others are -1. (Of 0 and 1, or -1 and 1, 1 does.)
        label_threshold: The number from which labels count as +1 (a public one: not their mean or median)
        label_bounds: Public bounds of a label that is a number: it is scaled to -1..1, so that steps and clipping fit it whatever its unit; what lies outside is moved to the nearer end. Errors are told in the label's own units. (Not from the file itself.)
        classes: All labels there can be, in order, or the number of classes 0, 1, ...
        objective: What is learned: a class of two (logistic), a number (squared), or one of several classes (softmax). Default: by how many classes are named
        ridge: Weight of the squared length of the model in the loss (default: 0)
        clip: Largest norm of a gradient (default: 0.4)
        clipped: What is clipped (default: example)
        batch: Rows of each gradient, drawn anew (default: all of a peer's rows)
        graph: Graph file; its ending tells the format, `.gz` is unpacked, `-` is standard input
        format: Format of the graph file, where its ending does not tell
        weights: What neighbours give to each other in one step: metropolis, metropolis-plus-one or uniform, which needs equal degrees but for a token, whose plain random walk it is (default: metropolis-plus-one)
        lazy: Share of its own value that every peer keeps in a step, from 0 to below 1 (default: 0)
        fresh_graphs: Gossip on a fresh random graph after every gradient step: two peers are neighbours with probability C ln(n)/n. Graphs are drawn from the public seed, each until it is connected
        schedule: Gossip on the graphs of this file, in turn: another one after every gradient step. (`graph schedule --kind fresh` writes one.)
        method: Gossip after every step of all; the same to exact consensus (butterfly); a token that walks; or one of the baselines: everything public (local), a trusted server (central). Without it: gossip where a graph is given, else butterfly
        iterations: Contributions of each peer (default: 10)
        steps: Gossip steps after each contribution (default: as the paper has it)
        heterogeneity: How far the gradients of peers are from each other: their mean squared norm at the optimum, in squared sensitivities. It must be public. Gossip then has the paper's steps for gradients that differ (default: those for gradients alike)
        accelerated: Accelerate gossip
        relay_noise: Fresh noise on every message of gossip, as a share of the noise on a gradient (default: 0)
        tokens: Tokens that walk in parallel (default: 1)
        burn_in: Steps in which a token is only passed on, at first (default: 0)
        delay: Median delay of a message, in milliseconds (default: 40)
        jitter: How much delays vary: standard deviation of their logarithm; 0 for none (default: 0.5)
        drop_messages: Probability that a message is dropped (default: 0)
        timeout: How long who passes a token on waits for an answer before it is sent again, in milliseconds (default: 30000)
        crashes: Peers that stop for good, and when, in milliseconds: PEER@MS, separated by commas
        slow: Peers whose messages take so many times longer: PEER@FACTOR, separated by commas
        step_size: Step size (default: 4 for steps of all, 0.05 for a token's)
        markov_step: The step size of the random-walk paper's Theorem 2 instead, for an optimum at this distance from 0 (needs --ridge)
        sigma: Noise on a gradient, in units of its sensitivity; 0 for a run that protects nobody (default: what the target asks for)
        cancel: Noise that cancels: each two peers who share a secret add and subtract a Gaussian of so many sigmas, in every step
        keys: Who shares a secret with whom: graph, complete, regular:K (K partners each, drawn), or a file with a graph of the same peers (default: complete)
        epsilon: Epsilon that a user's data may lose in the whole run (default, without --sigma: 4)
        delta: Probability with which it may fail (default: 1e-5)
        order: Read epsilon as a Rényi loss of this order
        against: To whom (default: worst-peer)
        colluders: So many peers, whoever they are, may tell someone who sees every message all they know (with noise that cancels; default: 1)
        observers: Peers who pool what they hear, by name, separated by commas (default: the peer that learns most, and where peers may learn as much as someone who sees every message, that one)
        seed: Seed of everything random: a number, with which the same run gives the same bits, or `random` (the system's entropy; the number drawn is printed) (default: 0)
        progress: ``True`` for a bar, or what is called with ``(what, done, total)``
    """
    return _asked("learning", locals())


def personalized(
    *,
    seeds: int | None = None,
    task: Literal["plane", "tastes", "movielens", "table"] | None = None,
    data: Path | None = None,
    agents: int | None = None,
    width: int | None = None,
    fewest: int | None = None,
    most: int | None = None,
    centre: Literal["own", "public"] | None = None,
    peer_column: Text | None = None,
    similar: Graph | None = None,
    profiles: Path | None = None,
    neighbours: int | None = None,
    label: Text | None = None,
    objective: Literal["logistic", "squared", "softmax"] | None = None,
    range: Text | Sequence[Text] | None = None,
    bounds: Path | None = None,
    norm: float | None = None,
    positive: Text | None = None,
    label_threshold: float | None = None,
    label_bounds: Text | None = None,
    drop_column: Text | Sequence[Text] | None = None,
    category: Text | Sequence[Text] | None = None,
    missing: Text | None = None,
    header: Literal["auto", "yes", "no"] | None = None,
    mu: float | None = None,
    ridge: float | None = None,
    reference: int | None = None,
    updates: int | None = None,
    allocation: Literal["uniform", "published", "optimal"] | None = None,
    warm: float | None = None,
    warm_ridge: float | None = None,
    warm_wakes: int | None = None,
    law: Literal["gaussian", "laplace"] | None = None,
    clip: float | None = None,
    sigma: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    method: Literal["sum", "theorem-1", "gdp", "pld"] | None = None,
    budget: Text | Sequence[Text] | None = None,
    drop: float | None = None,
    leave: Text | Sequence[Text] | None = None,
    join: Text | Sequence[Text] | None = None,
    patience: int | None = None,
    seed: Text | None = None,
    progress: bool | Listener | None = None,
) -> Result:
    """Personalised models: what a row of anyone loses over all updates

    ``sottovoce account personalized``, with its options:

        seeds: Runs with this and the following seeds over which models are judged (default: 5)
        task: What is learned (default: plane; where there is data, table with --peer-column, else movielens)
        data: Folder with MovieLens-100K (`u.data`), or a table of one's own, with --peer-column
        agents: Number of agents of a generated task (default: 100)
        width: Features of a row (default: 20; 8 of generated ratings)
        fewest: Fewest rows of an agent of a generated task (default: 10; 4 ratings). Agents without rows are legal
        most: Most rows of an agent of a generated task (default: 100; 40 ratings)
        centre: What is subtracted from the ratings of MovieLens (default: own)
        peer_column: Column of a table (--data FILE) that names the agent who holds a row. Every fifth row of an agent is for testing
        similar: Who resembles whom: a graph of the agents by name, with positive weights of its edges in the third column of an edge list, or as `weight` in GraphML (default: 1). Public
        profiles: Public features of the agents instead: lines of a name and two numbers or more. Everybody resembles her nearest, by the cosine
        neighbours: So many nearest agents by their profiles (default: 5)
        label: Column of the label (default: the last)
        objective: What is learned: a class of two (logistic), or a number (squared)
        range: Public bounds of a feature; once for each. What lies outside is moved to the nearer end
        bounds: File of such bounds: JSON (`{"age": [0, 120]}`), or lines `column,low,high`
        norm: Instead of ranges: rows are divided by this length, and shortened to it where they are longer
        positive: The label that counts as +1; all others are -1
        label_threshold: The number from which labels count as +1 (a public one)
        label_bounds: Public bounds of a label that is a number: it is scaled to -1..1
        drop_column: Column to leave out; once for each
        category: All values that a column of words can hold; once for each such column
        missing: What stands for a number that is missing: nothing (`refuse`, the default), `zero`, or a number given here, before scaling
        header: Whether the first line of comma-separated values holds the names of the columns
        mu: Weight of agents' own losses beside their neighbours' models (default: 1)
        ridge: Weight of the squared length of a model in everybody's own loss (default: 2 over the number of her rows; 1 over it for ratings)
        reference: So many rows count as a confidence of 1 (default: the most of anyone)
        updates: Private updates of each agent (default: 10)
        allocation: How wake-ups share the budget (default: uniform)
        warm: Part of epsilon for a warm start: a model of one's own rows, released at the beginning and smoothed over the graph
        warm_ridge: Weight of the squared length of that model in its own loss: public, and large enough to hide a row (default: 1)
        warm_wakes: Wake-ups in which it is smoothed, which cost nothing (default: 10)
        law: Its law: Gaussian (gradients are clipped in the 2-norm) or Laplace (in the 1-norm) (default: gaussian)
        clip: Largest norm of a row's gradient (default: 0.5)
        sigma: Noise of every update in units of its sensitivity, instead of a target; 0 for a run that protects nobody
        epsilon: Epsilon that one row of anyone may lose in the whole run, to someone who sees every message (default: 1)
        delta: Probability with which it may fail (default: 1e-5)
        method: How losses of updates are put together (default: gdp for Gaussian noise, pld for Laplace)
        budget: Another epsilon for one agent, by name or number; once for each
        drop: Probability that a message is dropped
        leave: An agent who leaves for good, and after how many hours; once for each
        join: An agent who joins the others, and after how many hours; once for each
        patience: Neighbours who were silent for so many of an agent's own wake-ups are taken for gone (default: 20, where anyone leaves or joins)
        seed: Seed of everything random: a number, with which the same run gives the same bits, or `random` (the system's entropy; the number drawn is printed) (default: 0)
        progress: ``True`` for a bar, or what is called with ``(what, done, total)``
    """
    return _asked("personalized", locals())


def deep(
    *,
    task: Literal["drawn", "mnist", "fashion-mnist", "cifar-10", "cifar-100"] | None = None,
    data: Path | None = None,
    agents: int | None = None,
    images: int | None = None,
    test_images: int | None = None,
    split: float | None = None,
    graph: Graph | None = None,
    format: Literal["edge-list", "snap", "graphml", "node-link"] | None = None,
    weights: Text | None = None,
    lazy: float | None = None,
    fiedler: float | None = None,
    published_weights: bool | None = None,
    method: Literal["dsgd", "dsgt", "dinno", "central", "local"] | None = None,
    model: Literal["cnn", "mlp", "resnet9"] | None = None,
    rounds: int | None = None,
    lot: float | None = None,
    rate: float | None = None,
    last_rate: float | None = None,
    optimiser: Literal["sgd", "momentum", "adam"] | None = None,
    momentum: float | None = None,
    decay: float | None = None,
    fresh: bool | None = None,
    kept: bool | None = None,
    at: Literal["own", "mixed"] | None = None,
    primal: int | None = None,
    rho: float | None = None,
    growth: float | None = None,
    clip: float | None = None,
    noise_multiplier: float | None = None,
    band: int | None = None,
    memory: float | None = None,
    cancel: float | None = None,
    keys: Graph | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    colluders: int | None = None,
    seed: Text | None = None,
    progress: bool | Listener | None = None,
) -> Result:
    """A net learned together: what an image of anyone loses over all rounds

    ``sottovoce account deep``, with its options:

        task: What is told apart (default: drawn; with data, whatever the folder holds)
        data: Folder with the files of MNIST, Fashion-MNIST (idx) or CIFAR (binary version)
        agents: Number of agents (default: 10, or those of the graph)
        images: Drawn images to learn from (default: 10,000); of a folder, only the first so many
        test_images: Drawn images that models are judged on (default: 1000); of a folder, only the first so many
        split: Who holds what: from 0, the same share of every class for everybody, to 1, classes of one's own (default: 0.5)
        graph: Graph file; its ending tells the format, `.gz` is unpacked, `-` is standard input
        format: Format of the graph file, where its ending does not tell
        weights: What neighbours give to each other in one step: metropolis, metropolis-plus-one or uniform, which needs equal degrees but for a token, whose plain random walk it is (default: metropolis-plus-one)
        lazy: Share of its own value that every peer keeps in a step, from 0 to below 1 (default: 0)
        fiedler: A random geometric graph with this normalised Fiedler value, from above 0 to 1 (all pairs), where none is given
        published_weights: Equal shares for oneself and all neighbours, as in the paper. With unequal degrees the models' mean is then a weighted one
        method: The algorithm (default: dsgt)
        model: The net (default: cnn; resnet9 for colours)
        rounds: Rounds of talk, each followed by an update (default: 200)
        lot: Expected size of a lot: every image of an agent comes by a coin of its own (default: 100)
        rate: Size of the first step (default: by method)
        last_rate: Size of the last step, reached by equal factors (default: a tenth of the first)
        optimiser: What becomes of a gradient (default: adam for dinno, momentum for central and local, else sgd)
        momentum: What momentum keeps of the direction before (default: 0.9)
        decay: Weight of the squared length of a model: it pulls to 0 in every step (default: 0)
        fresh: Begin momentum or Adam afresh in every round, as the paper's code does, and as dinno does unless told otherwise
        kept: Keep the moments of dinno's momentum or Adam from round to round; give a rate then, smaller than its default
        at: Where DSGD takes its gradient: at the own model, as printed, or at the mixed one (default: own)
        primal: Primal steps of DiNNO in each round, every one a draw that is counted (default: 1)
        rho: Penalty of DiNNO on disagreement (default: 0.5)
        growth: By how much that penalty is multiplied before every round (default: 1.0003)
        clip: Largest norm of an image's gradient, over all parameters; inf where nothing is hidden, and nothing clipped (default: 1)
        noise_multiplier: Noise of every draw as a multiple of the largest norm, instead of a target; 0 for a run that protects nobody. With --epsilon, agents stop drawing when it is reached
        band: Noise that is correlated over so many draws: what is added in one is partly taken back in the next ones, and an image may come once in a cycle of so many (default: 1, independent noise). It helps where epsilon is large
        memory: With a band, what descent keeps of a draw from step to step, from above 0 to 1 (default: 1)
        cancel: Noise that cancels: each two agents who share a secret add and subtract a Gaussian of so many times their own noise, in every draw
        keys: Who shares a secret with whom: graph, complete, regular:K (K partners each, drawn), or a file with a graph of the same agents (default: complete)
        epsilon: Epsilon that one image of anyone may lose in the whole run, to someone who sees every message (default: 8)
        delta: Probability with which it may fail (default: 1e-5)
        colluders: So many agents, whoever they are, may tell someone who sees every message all they know (with noise that cancels; default: 1)
        seed: Seed of everything random: a number, with which the same run gives the same bits, or `random` (the system's entropy; the number drawn is printed) (default: 0)
        progress: ``True`` for a bar, or what is called with ``(what, done, total)``
    """
    return _asked("deep", locals())


def mechanism(
    *,
    gaussian: bool | None = None,
    laplace: bool | None = None,
    discrete_gaussian: bool | None = None,
    discrete_laplace: bool | None = None,
    randomized_response: bool | None = None,
    noise_multiplier: float | None = None,
    scale: float | None = None,
    sigma: float | None = None,
    random_probability: float | None = None,
    buckets: int | None = None,
    contribution: int | None = None,
    events: Path | None = None,
    sampling_rate: float | None = None,
    batch: int | None = None,
    population: int | None = None,
    rows: int | None = None,
    batch_size: int | None = None,
    most: int | None = None,
    epochs: float | None = None,
    steps: int | None = None,
    delta: float | None = None,
    adjacency: Text | None = None,
    group: int | None = None,
    calibrate: bool | None = None,
    calibrate_steps: bool | None = None,
    calibrate_batch: bool | None = None,
    epsilon: float | None = None,
    advantage: float | None = None,
    tpr: float | None = None,
    fpr: float | None = None,
    risk: bool | None = None,
    orders: float | Sequence[float] | None = None,
    table: bool | None = None,
    plot: Path | None = None,
    overwrite: bool | None = None,
    seed: Text | None = None,
    progress: bool | Listener | None = None,
) -> Result:
    """A noisy release, repeated: certified epsilon, or the noise for a target epsilon

    ``sottovoce account mechanism``, with its options:

        gaussian: Gaussian noise (give --noise-multiplier)
        laplace: Laplace noise (give --scale)
        discrete_gaussian: Discrete Gaussian noise on the integers (give --sigma)
        discrete_laplace: Discrete Laplace noise on the integers (give --scale)
        randomized_response: Randomised response (give --random-probability and --buckets); needs --adjacency replace
        noise_multiplier: Standard deviation of Gaussian noise, per contribution of one record
        scale: Scale of Laplace noise, per contribution of one record
        sigma: Parameter of discrete Gaussian noise, in grid steps
        random_probability: Probability of answering at random
        buckets: Number of possible answers (randomised response; 2 unless given)
        contribution: Largest contribution of one record, in grid steps (discrete noise; 1 unless given)
        events: Compose the unlike releases of this JSON file instead (see below)
        sampling_rate: Poisson sampling: each record enters a step with this probability (0: no record ever does)
        batch: Fixed batches without replacement: records in a batch
        population: Fixed batches without replacement: records in all (under add-remove, in the larger data set)
        rows: Poisson sampling by numbers: rows of the data; the rate is the batch size divided by them
        batch_size: Poisson sampling by numbers: rows in a batch on average
        most: Keep at most so many rows of a Poisson sample, drawn among them (under add-remove, --rows counts the larger data set)
        epochs: Passes over the data, instead of --steps: epochs times rows divided by batch size, rounded up
        steps: Number of releases (1 unless given)
        delta: Probability with which the bound may fail; 0 asks for the largest loss there is (default: 0.00001)
        adjacency: Which data sets are neighbours: add-remove, replace, or zero-out (a record against one that says nothing) (default: add-remove)
        group: Protect so many records together: neighbours differ in up to K of them (default: 1)
        calibrate: Find the least noise for a target instead: --epsilon, --advantage, or --tpr with --fpr
        calibrate_steps: Find the most steps for a target instead
        calibrate_batch: Find the largest batch for a target instead (give --population, or --rows for Poisson samples)
        epsilon: Target of a calibration; without one, delta at this epsilon is reported too
        advantage: Target of a calibration: an attacker's true-positive rate less its false-positive rate
        tpr: Target of a calibration: an attacker's true-positive rate at the false-positive rate --fpr
        fpr: The false-positive rate of --tpr
        risk: Print what an attacker can do with it at most (JSON always has it)
        orders: Show Rényi losses at these orders instead of the usual ones (1 is the mean loss)
        table: Add tables of delta by epsilon, of epsilon by delta, and of the trade-off between a test's two errors
        plot: Draw these curves into a file (.svg or .png)
        overwrite: Replace the file of --plot if it exists
        seed: Seed of everything random: a number, with which the same run gives the same bits, or `random` (the system's entropy; the number drawn is printed) (default: 0)
        progress: ``True`` for a bar, or what is called with ``(what, done, total)``
    """
    return _asked("mechanism", locals())
