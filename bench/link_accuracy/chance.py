"""The exact distribution of the number of packets that a loss model loses."""

import numpy as np


def loss_interval(loss: float | tuple[float, float], sent: int, confidence: float) -> tuple[int, int]:
    """Return the equal-tailed interval of the number lost among `sent` packets, as (least, most).

    `loss` is the loss of a `Profile`. Independent losses with probability p are Gilbert's chain with (p, 1 - p).
    """
    p, r = loss if isinstance(loss, tuple) else (loss, 1 - loss)
    # Chances of (count so far, state), the count along the array; stationary at first.
    good, bad = np.zeros(sent + 1), np.zeros(sent + 1)
    good[0], bad[0] = r / (p + r), p / (p + r)
    for packet in range(1, sent + 1):
        most = min(packet, sent)
        stays, falls = good[: most + 1] * (1 - p) + bad[: most + 1] * r, good[:most] * p + bad[:most] * (1 - r)
        good[: most + 1] = stays
        bad[1 : most + 1], bad[0] = falls, 0.0
    below = np.cumsum(good + bad)
    tail = (1 - confidence) / 2
    return int(np.searchsorted(below, tail, side="right")), int(np.searchsorted(below, 1 - tail))
