// What Firefox's network tells of a request, in the words of samples.csv and of HAR.
import {monotonic} from "./clock.mjs";

const PROTOCOLS = {"http/1.1": "h1", h2: "h2", h3: "h3"};

// The browser's names for failures (nsError.h), without NS_ERROR_, in the contract's words.
const FAILURES = {
  CONNECTION_REFUSED: "refused",
  NET_TIMEOUT: "timeout",
  NET_RESET: "reset",
  NET_INTERRUPT: "reset",
  NET_PARTIAL_TRANSFER: "reset",
  NET_HTTP2_SENT_GOAWAY: "reset",
  NET_HTTP3_PROTOCOL_ERROR: "protocol",
  CORRUPTED_CONTENT: "protocol",
};

/**
 * When the answer's first byte came. Over a new connection of HTTP/1.1 Firefox takes the handshake's last bytes for it; then
 * the moment counts at which it had read the answer's header, which may be late, but not later than the last byte.
 */
function firstByte({times, version}) {
  const mistaken = version === "http/1.1" && times.connectStart !== 0;
  if (!mistaken) return times.responseStart;
  return Math.min(times.headersRead, times.responseEnd || times.ended);
}

/** One request: `seen` as watcher.js tells of it, `outcome` as the page that made it does; null: no script made it. */
export function exchange(seen, outcome, offset) {
  const {times} = seen;
  const at = (time) => monotonic(time, offset);
  const failed = outcome?.error ?? "";
  if (failed.startsWith("other: ") && seen.failure) outcome.error = failureWord(seen.failure);
  const answered = seen.status !== 0;
  return {
    tag: seen.tag,
    url: seen.url,
    method: seen.method,
    startedAt: times.asked / 1000,
    start: at(times.asked),
    connected: at(times.connectEnd),
    sent: null, // the browser tells when it began to write a request, not when it had written it
    firstByte: answered ? at(firstByte(seen)) : null,
    end: at(times.responseEnd) ?? at(times.ended),
    dialled: times.connectStart !== 0,
    status: seen.status,
    statusText: seen.statusText,
    protocol: PROTOCOLS[seen.version] ?? seen.version,
    requestHeaders: seen.requestHeaders,
    responseHeaders: seen.responseHeaders,
    mimeType: seen.mimeType || "x-unknown",
    address: seen.address,
    connection: answered ? seen.localPort : null,
    reused: answered ? times.connectStart === 0 : null,
    encoded: seen.encoded,
    received: seen.encoded ?? 0,
    failure: seen.failure ? failureWord(seen.failure) : null,
    tls: seen.tls,
    timings: timings({...times, responseStart: firstByte(seen)}),
    outcome,
  };
}

function failureWord(name) {
  return FAILURES[name.replace(/^NS_ERROR_/, "")] ?? (/^(SEC|SSL)_ERROR|SECURITY/.test(name) ? "tls" : `other: ${name}`);
}

/** HAR's timings, in ms: the part of each stage, -1 where it does not apply. They add up to the entry's time. */
function timings(times) {
  const ms = (from, to) => (from && to ? Math.max(0, to - from) / 1000 : -1);
  const end = times.responseEnd || times.ended;
  const whole = (end - times.asked) / 1000;
  const dns = ms(times.lookupStart, times.lookupEnd);
  const connect = ms(times.connectStart, times.connectEnd);
  const wait = Math.max(0, ms(times.requestStart, times.responseStart));
  const receive = Math.max(0, ms(times.responseStart, end));
  const known = Math.max(0, dns) + Math.max(0, connect) + wait + receive;
  const ssl = ms(times.secureStart, times.connectEnd);
  return {blocked: Math.max(0, whole - known), dns, connect, ssl, send: 0, wait, receive};
}
