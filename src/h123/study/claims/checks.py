"""Checks for the figures of a claim that arithmetic or physics can judge without a measurement
(h123.analysis.claims.arithmetic).

Quantities are written with units, as in other files.
"""

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from h123.base.strict import Strict
from h123.study.quantities import BitRate, Duration, Share, Size

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Sample = Annotated[StrictInt, Field(ge=1, le=500)]


class RateCheck(Strict):
    """Checks that requests of a size at a rate fit the link: rps x size x 8 <= link."""

    check: Literal["rate-within-link"]
    rps: Positive
    size: Annotated[Size, Field(gt=0)]
    link: BitRate


class TransferCheck(Strict):
    """Checks that the transfers of all users fit the link: users x size x 8 / time <= link."""

    check: Literal["transfer-within-link"]
    size: Annotated[Size, Field(gt=0)]
    time: Annotated[Duration, Field(gt=0)]
    users: Annotated[StrictInt, Field(ge=1)] = 1
    link: BitRate


class LittleCheck(Strict):
    """Checks a request rate by Little's law, for a fixed number of requests in flight: rps <= in_flight /
    round_trip."""

    check: Literal["requests-within-littles-law"]
    rps: Positive
    in_flight: Annotated[StrictInt, Field(ge=1)]
    round_trip: Annotated[Duration, Field(gt=0)]


class CountCheck(Strict):
    """Checks the request rate of a run with a fixed number of requests and a fixed duration: rps <= requests / time."""

    check: Literal["rate-within-count"]
    rps: Positive
    requests: Annotated[StrictInt, Field(ge=1)]
    time: Annotated[Duration, Field(gt=0)]


class RoundTripsCheck(Strict):
    """Checks that a time is long enough for its round trips: time >= trips x round_trip."""

    check: Literal["time-above-round-trips"]
    time: Annotated[Duration, Field(gt=0)]
    round_trip: Annotated[Duration, Field(gt=0)]
    trips: Annotated[StrictInt, Field(ge=1)] = 1


class ProductCheck(Strict):
    """Checks that a figure is the product of other figures, within the given share."""

    check: Literal["product"]
    factors: Annotated[list[Positive], Field(min_length=2)]
    printed: Positive
    within: Annotated[Share, Field(gt=0, lt=1)] = 0.05


class WorkCheck(Strict):
    """Checks that work at a rate, with a processor time for each unit, fits the cores: per_second x each <= cores."""

    check: Literal["work-within-cores"]
    per_second: Positive
    each: Annotated[Duration, Field(gt=0)]
    cores: Annotated[StrictInt, Field(ge=1)]


class PercentageCheck(Strict):
    """Checks that a printed percentage, such as `-31.2` for 31.2 % lower, is after / before - 1, within the rounding of
    the figures' last digits."""

    check: Literal["percentage"]
    before: Positive
    after: Positive
    printed: Annotated[float, Field(allow_inf_nan=False)]
    digits: Annotated[StrictInt, Field(ge=0, le=6)] = 1
    """Decimal places of the percentage."""


class RankBiserialCheck(Strict):
    """Checks that a rank-biserial correlation of two groups, 1 - 2 U / (n m), can have the printed value, ties
    included."""

    check: Literal["rank-biserial"]
    first: Sample
    second: Sample
    printed: Annotated[float, Field(ge=-1, le=1)]
    digits: Annotated[StrictInt, Field(ge=1, le=6)] = 3


class SmallestPCheck(Strict):
    """Checks that two groups are large enough for Mann-Whitney's exact two-sided test to reject: 2 / C(n + m, n) <=
    alpha."""

    check: Literal["smallest-p"]
    first: Sample
    second: Sample
    alpha: Annotated[Share, Field(gt=0, lt=1)] = 0.05


class ManyTestsCheck(Strict):
    """Checks that tests without a correction for their number keep their level: 1 - (1 - alpha)^tests <= alpha."""

    check: Literal["tests-uncorrected"]
    tests: Annotated[StrictInt, Field(ge=1)]
    alpha: Annotated[Share, Field(gt=0, lt=1)] = 0.05


class OneNumberCheck(Strict):
    """Checks that times and rates, reported as two findings, are not a single one: the ratio of the rates must not be
    the inverse ratio of the times."""

    check: Literal["two-numbers"]
    times: Annotated[list[Positive], Field(min_length=2, max_length=2)]
    rates: Annotated[list[Positive], Field(min_length=2, max_length=2)]
    """The rates, in the order of the times."""
    within: Annotated[Share, Field(gt=0, lt=1)] = 0.01


class TlsCheck(Strict):
    """Checks that a version of TLS fits a version of HTTP. Only TLS 1.2 does not fit HTTP/3."""

    check: Literal["tls-version"]
    protocol: Literal["h1", "h2", "h3"]
    tls: Literal["1.2", "1.3"]


Check = (
    RateCheck
    | TransferCheck
    | LittleCheck
    | CountCheck
    | RoundTripsCheck
    | ProductCheck
    | WorkCheck
    | PercentageCheck
    | RankBiserialCheck
    | SmallestPCheck
    | ManyTestsCheck
    | OneNumberCheck
    | TlsCheck
)
