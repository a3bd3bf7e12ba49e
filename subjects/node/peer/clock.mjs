/** The time of CLOCK_MONOTONIC in nanoseconds, so that values compare with those of other processes. */
export const now = () => process.hrtime.bigint();
