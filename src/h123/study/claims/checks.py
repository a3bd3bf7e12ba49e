"""Defines checks of a claim's figures that need arithmetic or physics but no measurement.
h123.analysis.claims.arithmetic evaluates them.

Claims files give quantities with units.
"""

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from h123.base.strict import Strict
from h123.study.quantities import BitRate, Duration, Share, Size

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Sample = Annotated[StrictInt, Field(ge=1, le=500)]


class RateCheck(Strict):
    """A check that the link can carry requests of this size at this rate: rps x size x 8 <= link."""

    check: Literal["rate-within-link"]
    rps: Positive
    size: Annotated[Size, Field(gt=0)]
    link: BitRate


class TransferCheck(Strict):
    """A check that the link can carry a transfer for each user in this time: users x size x 8 / time <= link."""

    check: Literal["transfer-within-link"]
    size: Annotated[Size, Field(gt=0)]
    time: Annotated[Duration, Field(gt=0)]
    users: Annotated[StrictInt, Field(ge=1)] = 1
    link: BitRate


class LittleCheck(Strict):
    """A check of a request rate against Little's law, with a fixed number of requests in flight: rps <= in_flight /
    round_trip."""

    check: Literal["requests-within-littles-law"]
    rps: Positive
    in_flight: Annotated[StrictInt, Field(ge=1)]
    round_trip: Annotated[Duration, Field(gt=0)]


class CountCheck(Strict):
    """A check of the request rate of a run with a fixed number of requests and a fixed duration: rps <= requests /
    time."""

    check: Literal["rate-within-count"]
    rps: Positive
    requests: Annotated[StrictInt, Field(ge=1)]
    time: Annotated[Duration, Field(gt=0)]


class RoundTripsCheck(Strict):
    """A check that a time is long enough for the round trips in it: time >= trips x round_trip."""

    check: Literal["time-above-round-trips"]
    time: Annotated[Duration, Field(gt=0)]
    round_trip: Annotated[Duration, Field(gt=0)]
    trips: Annotated[StrictInt, Field(ge=1)] = 1


class ProductCheck(Strict):
    """A check that a figure is the product of other figures, with a relative error of at most `within`."""

    check: Literal["product"]
    factors: Annotated[list[Positive], Field(min_length=2)]
    printed: Positive
    within: Annotated[Share, Field(gt=0, lt=1)] = 0.05


class WorkCheck(Strict):
    """A check that the cores can do this many units of work per second if each unit takes this much processor time:
    per_second x each <= cores."""

    check: Literal["work-within-cores"]
    per_second: Positive
    each: Annotated[Duration, Field(gt=0)]
    cores: Annotated[StrictInt, Field(ge=1)]


class PercentageCheck(Strict):
    """A check that a printed percentage, such as `-31.2` for 31.2 % lower, equals after / before - 1 within the
    rounding of the figures' last digits."""

    check: Literal["percentage"]
    before: Positive
    after: Positive
    printed: Annotated[float, Field(allow_inf_nan=False)]
    digits: Annotated[StrictInt, Field(ge=0, le=6)] = 1
    """The number of decimal places of the percentage."""


class RankBiserialCheck(Strict):
    """A check that two groups of these sizes can have the printed rank-biserial correlation, 1 - 2 U / (n m), even with
    ties."""

    check: Literal["rank-biserial"]
    first: Sample
    second: Sample
    printed: Annotated[float, Field(ge=-1, le=1)]
    digits: Annotated[StrictInt, Field(ge=1, le=6)] = 3


class SmallestPCheck(Strict):
    """A check that two groups are large enough for Mann-Whitney's exact two-sided test to find any difference: 2 / C(n
    + m, n) <= alpha."""

    check: Literal["smallest-p"]
    first: Sample
    second: Sample
    alpha: Annotated[Share, Field(gt=0, lt=1)] = 0.05


class ManyTestsCheck(Strict):
    """A check that several tests without a correction keep the error probability at alpha: 1 - (1 - alpha)^tests <=
    alpha."""

    check: Literal["tests-uncorrected"]
    tests: Annotated[StrictInt, Field(ge=1)]
    alpha: Annotated[Share, Field(gt=0, lt=1)] = 0.05


class OneNumberCheck(Strict):
    """A check that times and rates that are printed as two findings are not one finding printed twice: the ratio of the
    rates must not be the inverse of the ratio of the times."""

    check: Literal["two-numbers"]
    times: Annotated[list[Positive], Field(min_length=2, max_length=2)]
    rates: Annotated[list[Positive], Field(min_length=2, max_length=2)]
    """The rates, in the order of the times."""
    within: Annotated[Share, Field(gt=0, lt=1)] = 0.01


class TlsCheck(Strict):
    """A check that a version of TLS can carry a version of HTTP. Only TLS 1.2 with HTTP/3 is impossible."""

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
