// The time allowed for a request.
import { now } from "./clock.mjs";
import { Timeout } from "./failures.mjs";

/** Calls `work` with a signal that aborts when `allowed` nanoseconds have passed since `start`. */
export async function within(allowed, start, work) {
  const controller = new AbortController();
  const left = Number(BigInt(allowed) - (now() - start)) / 1e6;
  const timer = setTimeout(() => controller.abort(new Timeout()), Math.max(left, 0));
  try {
    const done = await work(controller.signal);
    controller.signal.throwIfAborted(); // what is broken off may look like an end
    return done;
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error; // what broke off did so because of it
  } finally {
    clearTimeout(timer);
  }
}

/** A promise that a signal rejects. */
export function aborted(signal) {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}
