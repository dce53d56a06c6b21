"""What the paper says about training, statement by statement, beside what came out here."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deniable import LabelResponse
from deniable.arrays import Floats
from deniable.domains import Categories
from research.papers.bitrand.lines import OURS_AWARE, OURS_FAIR, OURS_ONE, OURS_RAW, Line
from research.papers.bitrand.training import (
    ANONYMIZED,
    BITRAND,
    CLIENTS,
    COLUMNS,
    CORRECTED,
    ENDS,
    FEATURES,
    GRADIENTS,
    LABELS,
    LAPLACE,
    NOISELESS,
    OURS,
    RANDOM,
    Study,
)
from research.papers.figure import ALL, TIE, Check, Pace, Result, Setup, ahead, near, ranking, theory, trend

SETS = {"AG": "AG", "digits": "FEMNIST"}
# Section 7: points of accuracy and of AUC by which BitRand is above the best rival at epsilon 1, with the epsilon of its
# labels and the name of that rival; last those of SEC, for which there are no data here.
GAINS: dict[str, tuple[float, str, dict[str, tuple[str, str]]]] = {
    "features": (float("inf"), "OME", {"AG": ("46.03", "38.51"), "digits": ("21.62", "13.42"), "SEC": ("13.69", "13.79")}),
    "gradients": (1.0, "PM-SUB", {"AG": ("44.95", "37.52"), "digits": ("24.17", "13.40"), "SEC": ("12.82", "12.92")}),
    "anonymized": (1.0, "HM", {"AG": ("39.38", "32.75"), "digits": ("23.12", "37.02"), "SEC": ("13.59", "13.69")}),
}
RIVALS = {"features": FEATURES, "gradients": GRADIENTS, "anonymized": ANONYMIZED}
# The same for labels: label-RR above Label-Laplace, on average over the budgets of the features, by the labels' epsilon.
LABEL_GAINS = {
    1.0: {"AG": ("9.65", "7.92"), "digits": ("9.91", "10.55"), "SEC": ("7.84", "7.35"), "CelebA": ("", "2.04")},
    2.5: {"AG": ("1.71", "1.37"), "digits": ("14.43", "12.02"), "SEC": ("4.65", "4.73"), "CelebA": ("", "4.24")},
}
MEASURES = ("accuracy %", "AUC %")
SETUP: Setup = "other data, smaller"  # digits for FEMNIST, other embeddings of AG News, fewer people and units


def other_data(study: Study, data: str, lines: Sequence[Line], epsilon: float, measure: str) -> str:
    """What is different here, and what was computed of it: the same networks without the constants of their layers."""
    held = study.task(data, 0).held
    if "stand-in" in held.note:
        return "the data are made up"
    if data == "digits":
        return "MNIST's digits replace the 62 classes of FEMNIST"
    before = [study.all(data, line, epsilon, measure).mean() for line in lines]
    after = [study.all(data, replace(line, constants=False), epsilon, measure).mean() for line in lines]
    words = " and ".join(f"{line.name} from {a:.1f} to {b:.1f}" for line, a, b in zip(lines, before, after, strict=True))
    return (
        f"{len(held.right):,} people and embeddings of {held.rows.shape[1]} numbers replace 120,000 and 768; networks "
        f"learn their constants from noisy rows, which are larger than the rows that they are tested on: without constants, "
        f"at epsilon {epsilon:g}, {words}"
    )


def on_inputs(study: Study, what: str, measure: str, pace: Pace = ALL) -> Result:
    """Figs. 8, 15, 16, 17, 19 and 20: features or gradients are randomized."""
    labels, named, stated = GAINS[what]
    place, rivals = MEASURES.index(measure), RIVALS[what]
    ours = next(line for line in BITRAND if line.labels == labels)
    rival = next(line for line in rivals if line.mechanism == named)
    lines = (*rivals, *BITRAND, *OURS, *ENDS)
    cells = {(data, rival): f"{stated[data][place]} ({SETS[data]})" for data in CLIENTS}
    rows = study.rows(lines, ours, cells, measure, pace)
    checks: list[Check] = []
    for data in CLIENTS:
        gain, error = study.gain(data, ours, rival, (1.0,), measure)
        claim = f"points by which {ours.name} is above {rival.name} at epsilon 1 on {SETS[data]}"
        why = other_data(study, data, (ours,), 1.0, measure)
        if ours != BITRAND[0]:  # on CelebA the printed gain is that of public labels, though the text has others
            why += f"; with public labels it is {study.gain(data, BITRAND[0], rival, (1.0,), measure)[0]:.1f}"
        checks.append(near(claim, stated[data][place], gain, why, error, sure=False))
    checks.append(_best_rival(study, rivals, rival, measure))
    checks.append(_above(study, ours, rivals, measure))
    if what == "features":
        (first, error), (second, other) = (study.gain(data, ours, rival, (1.0,), measure) for data in CLIENTS)
        lead = (f"{first:.1f} points on AG and {second:.1f} on digits", first - second, math.hypot(error, other))
        checks.append(ahead("the gain is larger on AG than on FEMNIST", [lead], sure=False))
        checks += [_wider(study, ours, rivals, measure), _most(study, rivals, measure)]
    else:
        checks.append(_smaller(what, place))
    checks.append(_kept(study))
    notes = [f"SEC: the paper has {stated['SEC'][place]} points, and there are no such data here"]
    if what == "anonymized":
        notes.append(
            "the anonymizer is counted as in the paper: every round has all of epsilon, since nobody could link them; the "
            "true epsilon is of all rounds together"
        )
    return Result(COLUMNS, rows, tuple(checks), (*study.notes, *notes), improved=_better(study, measure), setup=SETUP)


def _best_rival(study: Study, rivals: Sequence[Line], named: Line, measure: str) -> Check:
    """Rivals that guess have no order: whichever is highest was lucky. So they are tied with each other."""
    reach = luck(study.size.repeats, 2 * len(rivals))
    above = {data: [line for line in rivals if _over_guess(study, data, line, measure) > reach] for data in CLIENTS}
    leads = [
        (f"on {data} against {line.name}", *study.gain(data, named, line, (1.0,), measure))
        for data in CLIENTS
        for line in rivals
        if line != named and (line in above[data] or named in above[data])
    ]
    claim = f"{named.name} is the best rival at epsilon 1 on both sets"
    words = " and ".join(f"{_span(study, data, rivals, measure)} on {data}" for data in CLIENTS)
    allowed = (
        f"above guessing by the {reach:.1f} standard errors that the luckiest of so many guesses exceeds in 5 % of cases"
    )
    if not any(above.values()):
        return ahead(f"{claim} (all {2 * len(rivals)} are tied: none is {allowed}. They have {words})", [])
    cause = ", ".join(f"{line.name} on {data}" for data, lines in above.items() for line in lines)
    return ahead(claim, _least(leads), f"{allowed} are {cause}; all have {words}", sure=False)


def _over_guess(study: Study, data: str, line: Line, measure: str) -> float:
    """By how many standard errors a line is above guessing at epsilon 1."""
    gain, error = study.gain(data, line, RANDOM, (1.0,), measure)
    return gain / max(error, 1e-9)


def luck(repeats: int, count: int, share: float = 0.05) -> float:
    """How many standard errors the highest of `count` tied means of so many repetitions is above in 5 % of cases at most.

    By Student's t, whose integral is a finite sum (Abramowitz, Stegun 1964, 26.7.3 and 26.7.4).

    >>> round(luck(4, 1, 0.025), 3), round(luck(3, 1, 0.025), 3)  # as in tables
    (3.182, 4.303)
    """

    def inside(t: float) -> float:
        freedom = repeats - 1
        angle = math.atan(t / math.sqrt(freedom))
        first = 1 - freedom % 2  # even: 1, cos^2 / 2, ...; odd: cos, 2 cos^3 / 3, ...
        term, total = (1.0, 0.0) if first else (math.cos(angle), 0.0)
        for place in range(2 - first, freedom, 2):
            total += term
            term *= math.cos(angle) ** 2 * place / (place + 1)
        return math.sin(angle) * total if first else 2 / math.pi * (angle + math.sin(angle) * total)

    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 - inside(middle)) / 2 > share / count else (low, middle)
    return high


def _span(study: Study, data: str, rivals: Sequence[Line], measure: str) -> str:
    found = [float(study.all(data, line, 1.0, measure).mean()) for line in rivals]
    return f"{min(found):.1f} to {max(found):.1f} % where guessing has {study.all(data, RANDOM, 0.0, measure).mean():.1f}"


def _least(leads: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """The leads by the number of standard errors, the least first: what a ranking fails by is named first."""
    return sorted(leads, key=lambda lead: lead[1] / max(lead[2], 1e-9))


def _above(study: Study, ours: Line, rivals: Sequence[Line], measure: str) -> Check:
    """At the claimed epsilon, which BitRand does not keep: at its true loss numbers by PM-SUB are held against it."""
    leads = [
        (f"on {data} against {line.name}", *study.gain(data, ours, line, (1.0,), measure))
        for data in CLIENTS
        for line in rivals
    ]
    return ahead(f"at a claimed epsilon of 1 {ours.name} is above all rivals on both sets", _least(leads), sure=False)


def _wider(study: Study, ours: Line, rivals: Sequence[Line], measure: str) -> Check:
    """Between the ends; a change within two standard errors is a tie."""
    gaps = {
        data: np.array([_gap(study, data, ours, rivals, epsilon, measure) for epsilon in study.budgets]) for data in CLIENTS
    }
    change = {data: own[-1] - own[0] for data, own in gaps.items()}
    error = {data: float(own.std(ddof=1) / math.sqrt(len(own))) for data, own in change.items()}
    tied = [
        f"on {data}: {own.mean():.2g}, standard error {error[data]:.2g}"
        for data, own in change.items()
        if abs(own.mean()) <= TIE * error[data]
    ]
    words = "; ".join(f"{data} " + ", ".join(f"{gap:.1f}" for gap in own.mean(axis=1)) for data, own in gaps.items())
    near_end = ", ".join(
        f"{-study.gain(data, ours, NOISELESS, study.budgets[:1], measure)[0]:.1f} on {data}" for data in CLIENTS
    )
    return trend(
        "the gap to the best rival is wider at the largest budget than at the smallest"
        + (f" (tied {'; '.join(tied)})" if tied else ""),
        all(own.mean() >= -TIE * error[data] for data, own in change.items()),
        f"in points it is {words}; at the smallest, {ours.name} is below no noise by {near_end}",
    )


def _gap(study: Study, data: str, ours: Line, rivals: Sequence[Line], epsilon: float, measure: str) -> Floats:
    """By how much a line is above the best rival, in all repetitions."""
    best = study.best(data, rivals, epsilon, measure)
    return study.all(data, ours, epsilon, measure) - study.all(data, best, epsilon, measure)


def _most(study: Study, rivals: Sequence[Line], measure: str) -> Check:
    noisy = [line for line in BITRAND if line.labels in (1.0, 2.5)]
    won = [study.gain(data, line, rival, (1.0,), measure)[0] > 0 for data in CLIENTS for line in noisy for rival in rivals]
    return ranking(
        "with labels at 1 and 2.5 too BitRand is above the rivals in most cases at epsilon 1",
        2 * sum(won) > len(won),
        f"in {sum(won)} of {len(won)} it is",
    )


def _smaller(what: str, place: int) -> Check:
    """The paper against itself: two lists of its own numbers."""
    first, second = ({data: float(own[place]) for data, own in GAINS[each][2].items()} for each in ("features", what))
    larger = {SETS.get(data, data): (first[data], second[data]) for data in first if second[data] >= first[data]}
    words = " and ".join(f"on {data} it grows from {a:g} to {b:g}" for data, (a, b) in larger.items())
    return theory(
        "the printed gaps are smaller than where features are randomized",
        not larger,
        f"by the paper's own numbers {words} (erratum BitRand B10)",
    )


def _kept(study: Study) -> Check:
    true = study.once("AG", BITRAND[0], 1.0, 0)[2]
    return theory("BitRand keeps epsilon", true <= 1, f"at a claimed 1 it costs {true:.0f} (erratum BitRand B1)")


def _better(study: Study, measure: str) -> tuple[str, ...]:
    """What is better here by more than three standard errors."""
    found = []
    aware, raw, fair = (Line("ours", name) for name in (OURS_AWARE, OURS_RAW, OURS_FAIR))
    for data in CLIENTS:
        for epsilon in study.budgets:
            gain, error = study.gain(data, aware, raw, (epsilon,), measure)
            if gain > 3 * error:
                found.append(
                    f"{data}, certified epsilon {epsilon:g}: correcting the same reports for their noise gains "
                    f"{gain:.1f} points (standard error {error:.1f})"
                )
        gain, error = study.gain(data, fair, BITRAND[0], (1.0,), measure)
        cost = study.once(data, fair, 1.0, 0)[2]
        if gain > 3 * error:
            found.append(
                f"{data}: at the true loss of f-RR at a claimed 1, epsilon {cost:.0f}, numbers by PM-SUB are {gain:.1f} "
                f"points better (standard error {error:.1f})"
            )
    return tuple(found)


def _changed(study: Study, gaps: dict[tuple[str, float, float], tuple[float, float]], measure: str) -> tuple[str, bool]:
    """Why label-RR is behind somewhere: whether no change of labels at all is behind in the same places."""
    behind = [place for place, (lead, error) in gaps.items() if lead < -TIE * error]
    rivals = {rival.labels: rival for rival in LAPLACE}
    public = [study.gain(data, BITRAND[0], rivals[labels], (epsilon,), measure) for data, labels, epsilon in behind]
    changed = ", ".join(
        f"label-RR at {labels:g} changes {_wrong(study, data, labels, False):.2g} % of the labels on {data} and "
        f"Label-Laplace {_wrong(study, data, labels, True):.2g} %"
        for data, labels in dict.fromkeys(place[:2] for place in behind)
    )
    if not behind:
        return "", False
    worst = max(lead + TIE * error for lead, error in public)
    words = ", ".join(f"{lead:.2g} (standard error {error:.2g})" for lead, error in public[:3])
    return f"{changed}; with no label changed at all the lead is {words} there: wrong labels help a little", worst < 0


def _wrong(study: Study, data: str, labels: float, laplace: bool) -> float:
    """The percentage of labels that are changed."""
    domain = Categories(range(study.task(data, 0).classes))
    return 100 * float(1 - (LabelResponse.laplace if laplace else LabelResponse)(domain, labels).p)


def on_labels(study: Study, measure: str, pace: Pace = ALL) -> Result:
    """Figs. 18 and 21: features by f-RR, labels by label-RR or by noise on one-hot labels."""
    place, pairs = MEASURES.index(measure), list(zip(BITRAND[1:], LAPLACE, strict=True))
    one = Line("ours", OURS_ONE)
    lines = (*BITRAND[1:], *LAPLACE, *CORRECTED, one, *ENDS)
    cells = {
        (data, rival): f"{LABEL_GAINS[rival.labels][data][place]} ({SETS[data]}, over all budgets)"
        for data in CLIENTS
        for rival in LAPLACE[:2]
    }
    rows = study.rows(lines, BITRAND[1], cells, measure, pace)
    gaps = {
        (data, ours.labels, e): study.gain(data, ours, rival, (e,), measure)
        for data in CLIENTS
        for ours, rival in pairs
        for e in study.budgets
    }
    leads = [(f"on {data}, labels at {each:g}, features at {e:g}", *lead) for (data, each, e), lead in gaps.items()]
    checks = [
        ahead("label-RR is above Label-Laplace at all budgets on both sets", _least(leads), *_changed(study, gaps, measure))
    ]
    means, why = {}, {data: other_data(study, data, pairs[1], study.budgets[-1], measure) for data in CLIENTS}
    for labels, ours, rival in ((each.labels, each, other) for each, other in pairs[:2]):
        for data in CLIENTS:
            gain, error = means[data, labels] = study.gain(data, ours, rival, study.budgets, measure)
            claim = f"points gained by label-RR with labels at {labels:g}, over all budgets, on {SETS[data]}"
            checks.append(near(claim, LABEL_GAINS[labels][data][place], gain, why[data], error, sure=False))
    for data, sign, word in (("AG", -1, "smaller"), ("digits", 1, "larger")):
        (first, error), (second, other) = means[data, 1.0], means[data, 2.5]
        tied = abs(second - first) <= TIE * math.hypot(error, other)
        checks.append(
            trend(
                f"with labels at 2.5 the gap on {SETS[data]} is {word} than with labels at 1{' (tied)' if tied else ''}",
                sign * (second - first) > 0 or tied,
                f"{first:.1f} and {second:.1f} points, standard errors {error:.1f} and {other:.1f}; {why[data]}",
                sure=False,
            )
        )
    exact = [study.once("AG", line, 1.0, 0)[2] - study.once("AG", BITRAND[0], 1.0, 0)[2] for line in BITRAND[1:]]
    checks.append(
        theory(
            "label-RR with the largest beta keeps its epsilon",
            all(np.array(exact) <= np.array(LABELS) + 1e-6),
            "it does not",
        )
    )
    improved = []
    for data in CLIENTS:
        for line in CORRECTED:
            plain = next(each for each in BITRAND if each.labels == line.labels)
            gain, error = study.gain(data, line, plain, study.budgets, measure)
            if gain > 3 * error:
                improved.append(
                    f"{data}, labels at {line.labels:g}: a loss that corrects for the noise gains {gain:.1f} points "
                    f"(standard error {error:.1f})"
                )
    notes = "; ".join(
        f"labels at {labels:g}: SEC {own['SEC'][place]}" + (f", CelebA {own['CelebA'][1]}" if place else "")
        for labels, own in LABEL_GAINS.items()
    )
    about = (
        f"the paper's gains on sets that are missing here: {notes}",
        f"{one.name}: certified for both, at the epsilon of the features alone",
    )
    return Result(COLUMNS, rows, tuple(checks), (*study.notes, *about), improved=tuple(improved), setup=SETUP)
