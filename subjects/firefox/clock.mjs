// Firefox tells times of day; the contract wants those of CLOCK_MONOTONIC.

/** What to add to nanoseconds since 1970 to get nanoseconds of CLOCK_MONOTONIC. */
export function monotonicOffset() {
  // Date tells milliseconds only: wait until one begins.
  const before = Date.now();
  let tick = before;
  let at = 0n;
  while (tick === before) {
    at = process.hrtime.bigint();
    tick = Date.now();
  }
  return at - BigInt(tick) * 1_000_000n;
}

/** Microseconds since 1970 as nanoseconds of CLOCK_MONOTONIC; null for 0, which is what has not been. */
export function monotonic(microseconds, offset) {
  return microseconds ? Number(BigInt(microseconds) * 1000n + offset) : null;
}
