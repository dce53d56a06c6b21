"""The result of an audit, in numbers and in words."""

from dataclasses import asdict, dataclass

ENOUGH = 20  # sightings under one value, none under the other: then the loss may be unbounded


@dataclass(frozen=True)
class Audit:
    """A lower bound on the privacy loss of a client, with the event that shows it.

    It is wrong with probability at most 1 - confidence: the event and the two values were chosen on other trials than those
    that are counted here. A client that is consistent with its claim is not thereby proved: no number of trials can do that.
    """

    client: str
    claimed: float | None
    epsilon: float  # lost at least
    confidence: float
    delta: float
    event: str
    pair: tuple[str, str]
    seen: tuple[int, int]  # how often the event came under each of the pair
    asked: tuple[int, int]
    repeats: int
    seconds: float

    @property
    def consistent(self) -> bool:
        """Whether the claim may be true, as far as these trials show."""
        return self.claimed is None or self.epsilon <= self.claimed

    @property
    def unlimited(self) -> bool:
        """Whether the event came often under one value and never under the other, so that the loss may be unbounded."""
        return self.seen[0] >= ENOUGH and self.seen[1] == 0

    @property
    def shares(self) -> tuple[float, float]:
        """How often the event came, under each of the pair."""
        first, second = (seen / max(1, asked) for seen, asked in zip(self.seen, self.asked, strict=True))
        return first, second

    @property
    def verdict(self) -> str:
        """In a few words."""
        if self.claimed is None:
            return f"loses at least {self.epsilon:.4g}"
        if self.consistent:
            return "consistent with its claim"
        return f"BREAKS ITS CLAIM: loses at least {self.epsilon:.4g}, not {self.claimed:.4g}"

    def to_dict(self) -> dict[str, object]:
        """All of it as plain data."""
        return asdict(self) | {
            "consistent": self.consistent,
            "unlimited": self.unlimited,
            "verdict": self.verdict,
            "unit": self.unit,
            "shares": self.shares,
        }

    @property
    def unit(self) -> str:
        """What the loss is counted for."""
        return "one report" if self.repeats == 1 else f"{self.repeats} reports of one person"

    def __str__(self) -> str:
        first, second = self.shares
        promise = "nothing" if self.claimed is None else f"epsilon {self.claimed:.6g}"
        delta = f", delta {self.delta:g}" if self.delta else ""
        never = "; never for the second, so the loss may be unbounded" if self.unlimited else ""
        return "\n".join(
            [
                f"audit         {self.verdict}",
                f"client        {self.client}",
                f"claimed       {promise}{delta}, for {self.unit}",
                f"lower bound   epsilon {self.epsilon:.6g}, at {100 * self.confidence:.10g} % confidence",
                f"event         {self.event}",
                f"values        {self.pair[0]} against {self.pair[1]}: {first:.4%} and {second:.4%} of the trials{never}",
                f"trials        {self.asked[0]:,} and {self.asked[1]:,} after the event was chosen; {self.seconds:.1f} s",
            ]
        )
