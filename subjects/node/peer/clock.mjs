// The time of CLOCK_MONOTONIC, so that values compare with those of other processes.

/** What the interpreter's own clock lacks of it: nothing with Node; Bun's begins with the process. */
const origin = process.versions.bun ? (await monotonic()) - process.hrtime.bigint() : 0n;

/** The time, in nanoseconds. */
export const now = () => origin + process.hrtime.bigint();

/** CLOCK_MONOTONIC as the C library has it. */
async function monotonic() {
  const { dlopen, ptr } = await import("bun:ffi");
  const CLOCK_MONOTONIC = 1;
  const { symbols } = dlopen("libc.so.6", { clock_gettime: { args: ["int", "ptr"], returns: "int" } });
  const time = new BigInt64Array(2); // seconds, nanoseconds
  symbols.clock_gettime(CLOCK_MONOTONIC, ptr(time));
  return time[0] * 1_000_000_000n + time[1];
}
