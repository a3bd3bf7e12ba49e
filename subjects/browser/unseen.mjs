// Requests that the browser's network tells nothing of, or not to the end: those that had run out of time in the page.

/**
 * A request for each of the page's `outcomes` that is in none of `exchanges`, the first of which relates the page's time of
 * day to the monotonic clock.
 */
export function unseen(outcomes, exchanges) {
  const [{start, startedAt}] = exchanges;
  const monotonic = (timeOfDay) => start + Math.round((timeOfDay - startedAt) * 1e6);
  const seen = new Set(exchanges.map(({tag}) => tag));
  return outcomes
    .filter(({tag}) => !seen.has(tag))
    .map((outcome) => ({
      tag: outcome.tag, outcome, start: monotonic(outcome.begunAt), end: monotonic(outcome.endedAt), connected: null,
      sent: null, firstByte: null, dialled: false, protocol: "", connection: null, reused: null, tls: null,
    }));
}
