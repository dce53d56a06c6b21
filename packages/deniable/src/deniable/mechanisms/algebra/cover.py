"""Representatives: the few answers that a coarsened release chooses among.

With representatives y_1 .. y_r the release of r-ary direct response on the nearest one costs, on average over x,

    ( sum over c of d(x, y_c)  +  (odds - 1) min over c of d(x, y_c) ) / (odds + r - 1)

On a line, with a loss that never falls with the distance, the smallest cost of all mechanisms with these odds is one of
these, under any prior. It is found exactly: what two neighbouring representatives i < j pay for the points between them
has the Monge property, so the best predecessor never moves back (divide and conquer over it), and the cost is
convex in r, so the ratio falls and then rises. Elsewhere: one representative after the other, with
swaps in between.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.domains.line import Line
from deniable.domains.metric import BLOCK, Metric, checked_prior
from deniable.errors import InvalidParameter

LARGEST_SEARCH = 1 << 24  # points times representatives
LARGEST_GENERAL_LINE = 1 << 11  # points of a line whose losses have no formula: tables are needed
PATIENCE = 3  # so many representatives more must help, or the search ends
SWAPS = 50  # for each number of representatives, at most
TRIED = 1 << 8  # answers that are tried as representatives in all but the last moves
LARGEST_KEPT = 1 << 24  # losses of those that are worked out once
LAST_MOVES = 5  # with all answers
NOTHING = 1e-12  # an improvement by a smaller share is none


def representatives(metric: Metric, odds: Fraction, prior: ArrayLike | None = None) -> tuple[int, ...]:
    """The numbers of the representatives, in increasing order: the best on a line, good ones elsewhere."""
    shares, line = checked_prior(prior, metric.size), metric.line
    if line is None:
        return _greedy(metric, float(odds), shares)
    return _on_line(line, float(odds), shares)


def _on_line(line: Line, odds: float, shares: Floats) -> tuple[int, ...]:
    before, after, between = _line_costs(line, shares)
    opening, ends, size = before + after, (odds - 1) * after, line.size
    cost = opening + (odds - 1) * before  # of one representative, at each place, for itself and what lies before it
    whole, choices = cost + ends, list[Ints]()
    best, chosen = float(whole.min()) / odds, [int(whole.argmin())]
    for count in range(2, size + 1):
        if count * size > LARGEST_SEARCH:
            raise InvalidParameter(
                f"The best of more than {count - 1:,} representatives among {size:,} answers would take too long to "
                "find. Use a coarser scale or a smaller epsilon, or give the representatives."
            )
        cost, predecessor = _next_layer(cost, opening, lambda i, j: (odds - 1) * between(i, j))
        choices.append(predecessor)
        whole = cost + ends
        ratio = float(whole.min()) / (odds + count - 1)
        if ratio < best * (1 - NOTHING):
            best, chosen = ratio, [int(whole.argmin())]
            for layer in reversed(choices):
                chosen.append(int(layer[chosen[-1]]))
        elif ratio > best * (1 + 1e-9):  # past the smallest
            break
    return tuple(sorted(chosen))


def _line_costs(line: Line, shares: Floats) -> tuple[Floats, Floats, Callable[[Ints, Ints], Floats]]:
    """What the points before each one pay to it, and those after it, and what the points between two neighbours pay."""
    x, own = line.positions - line.positions.mean(), np.arange(line.size)

    def middle(i: Ints, j: Ints) -> Ints:
        """The last point that is not nearer to j than to i."""
        return (i + j) // 2 if line.even else np.searchsorted(x, (x[i] + x[j]) / 2, side="right").astype(np.int64) - 1

    if line.power == 1 and line.table is None:
        mass, moment = (np.concatenate([[0.0], np.cumsum(part)]) for part in (shares, shares * x))

        def between(i: Ints, j: Ints) -> Floats:
            cut = middle(i, j) + 1
            left = (moment[cut] - moment[i + 1]) - x[i] * (mass[cut] - mass[i + 1])
            return np.asarray(left + x[j] * (mass[j] - mass[cut]) - (moment[j] - moment[cut]))

        before = x * mass[own] - moment[own]
        return before, (moment[-1] - moment[own + 1]) - x * (mass[-1] - mass[own + 1]), between
    if line.size > LARGEST_GENERAL_LINE:
        raise InvalidParameter(
            f"Representatives for other losses than the distance are found for at most {LARGEST_GENERAL_LINE:,} answers. "
            "Use a coarser scale, or give the representatives."
        )
    losses = line.loss(own[:, None], own[None, :]) * shares
    paid = np.concatenate([np.zeros((line.size, 1)), np.cumsum(losses, axis=1)], axis=1)  # [k, t]: by points before t to k

    def general(i: Ints, j: Ints) -> Floats:
        cut = middle(i, j) + 1
        return np.asarray(paid[i, cut] - paid[i, i + 1] + paid[j, j] - paid[j, cut])

    return paid[own, own], paid[:, -1] - paid[own, own], general


def _next_layer(cost: Floats, opening: Floats, between: Callable[[Ints, Ints], Floats]) -> tuple[Floats, Ints]:
    """For each last representative j: the least of cost[i] + between(i, j) over i < j, and the i; all of a level at once."""
    size = len(cost)
    new, predecessor = np.full(size, np.inf), np.zeros(size, np.int64)
    # Spans of j still to do, and between which i their best predecessors lie.
    first, final = np.array([1]), np.array([size - 1])
    low, high = np.array([0]), np.array([size - 2])
    while first.size:
        middle = (first + final) >> 1
        top = np.minimum(high, middle - 1)
        lengths = top - low + 1
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        i = np.arange(int(lengths.sum())) - np.repeat(starts - low, lengths)
        paid = cost[i] + between(i, np.repeat(middle, lengths))
        least = np.minimum.reduceat(paid, starts)
        hit = np.flatnonzero(paid == np.repeat(least, lengths))
        span = np.searchsorted(starts, hit, side="right") - 1
        best = i[hit[np.searchsorted(span, np.arange(len(middle)))]]
        new[middle], predecessor[middle] = least + opening[middle], best
        left, right = first < middle, middle < final
        first, final, low, high = (
            np.concatenate([first[left], middle[right] + 1]),
            np.concatenate([middle[left] - 1, final[right]]),
            np.concatenate([low[left], best[right]]),
            np.concatenate([best[left], high[right]]),
        )
    return new, predecessor


def _greedy(metric: Metric, odds: float, shares: Floats) -> tuple[int, ...]:
    """For one representative, two, three, ...: add the best, then swap while that helps; the best of all these.

    It ends after a few more representatives that did not help. Of very many answers only some are tried as
    representatives, and all of them in a few last moves.
    """
    opening = np.concatenate([losses @ shares for _, losses in metric.blocks(released=True)])
    chosen = [int(opening.argmin())]
    some = np.unique(np.append(np.arange(0, metric.size, -(-metric.size // TRIED)), chosen))
    kept = metric.losses_of(some) if len(some) * metric.size <= LARGEST_KEPT else None
    found = [(float(opening.min()), chosen)]  # one representative: the constant answer
    while len(chosen) < len(some) and min(cost for cost, _ in found[-PATIENCE:]) <= min(found)[0]:
        cost, chosen = _moves(metric, odds, shares, opening, chosen, some, kept)[0]
        for _ in range(SWAPS):
            swapped, new = _moves(metric, odds, shares, opening, chosen, some, kept)[1]
            if not swapped < cost * (1 - NOTHING):
                break
            cost, chosen = swapped, new
        found.append((cost, chosen))
    best, chosen = min(found)
    for _ in range(LAST_MOVES):
        cost, new = min(_moves(metric, odds, shares, opening, chosen, np.arange(metric.size)))
        if not cost < best * (1 - NOTHING):
            break
        best, chosen = cost, new
    return tuple(sorted(chosen))


def _moves(
    metric: Metric,
    odds: float,
    shares: Floats,
    opening: Floats,
    chosen: list[int],
    candidates: Ints,
    kept: Floats | None = None,
) -> list[tuple[float, list[int]]]:
    """The best addition, the best swap and the best removal, with what they cost, from one pass over the losses.

    `kept` are the losses of the candidates, where they are few enough to be worked out once.
    """
    count, every = len(chosen), np.arange(metric.size)
    to_chosen = np.vstack([metric.losses_of(np.array(chosen)), np.full(metric.size, np.inf)])
    owner = to_chosen.argmin(axis=0)
    first = to_chosen[owner, every]
    to_chosen[owner, every] = np.inf
    second = to_chosen.min(axis=0)  # what an answer pays if its representative goes
    of_owner = np.zeros((metric.size, count))
    of_owner[every, owner] = shares
    grown, swapped = np.empty(len(candidates)), np.empty((len(candidates), count))
    step = max(1, BLOCK // metric.size)
    for start in range(0, len(candidates), step):
        part = slice(start, start + step)
        losses = metric.losses_of(candidates[part]) if kept is None else kept[part]
        inner = np.minimum(losses, first)
        grown[part] = inner @ shares
        swapped[part] = grown[part, None] + (np.minimum(losses, second) - inner) @ of_owner
    opened, left = opening[chosen].sum(), opening[chosen].sum() - opening[chosen]
    add = (opened + opening[candidates] + (odds - 1) * grown) / (odds + count)
    swap = (left + opening[candidates, None] + (odds - 1) * swapped) / (odds + count - 1)
    taken = np.isin(candidates, chosen)
    add[taken], swap[taken] = np.inf, np.inf
    into, place = (int(part) for part in np.unravel_index(int(swap.argmin()), swap.shape))
    moves = [
        (float(add.min()), [*chosen, int(candidates[add.argmin()])]),
        (float(swap.min()), [*chosen[:place], int(candidates[into]), *chosen[place + 1 :]]),
    ]
    if count > 1:
        drop = (left + (odds - 1) * (first @ shares + (second - first) @ of_owner)) / (odds + count - 2)
        place = int(drop.argmin())
        moves.append((float(drop.min()), chosen[:place] + chosen[place + 1 :]))
    return moves
