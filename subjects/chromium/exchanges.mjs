// The requests of a tab, put together from DevTools' network events.
import {failureWord} from "./failures.mjs";

const PROTOCOLS = {"http/1.1": "h1", h2: "h2", h3: "h3"};
// How DevTools names TLS 1.3's ciphers; those of TLS 1.2 need the key exchange beside it.
const CIPHERS = {
  AES_128_GCM: "TLS_AES_128_GCM_SHA256",
  AES_256_GCM: "TLS_AES_256_GCM_SHA384",
  CHACHA20_POLY1305: "TLS_CHACHA20_POLY1305_SHA256",
};

/** Listens to a DevTools session and keeps one exchange for every request it tells of. */
export class Exchanges {
  #open = new Map();
  #all = [];
  #idle = null;

  constructor(session) {
    session.on("Network.requestWillBeSent", (event) => this.#asked(event));
    session.on("Network.dataReceived", (event) => this.#received(event));
    session.on("Network.responseReceived", (event) => this.#answered(event));
    session.on("Network.loadingFinished", (event) => this.#finished(event));
    session.on("Network.loadingFailed", (event) => this.#failed(event));
  }

  /** Waits until no request is under way, a while at most: the last events come after the page has its answer. */
  async settle(limitMs) {
    if (this.#open.size === 0) return;
    let timer;
    await Promise.race([
      new Promise((resolve) => (this.#idle = resolve)),
      new Promise((resolve) => (timer = setTimeout(resolve, limitMs))),
    ]);
    clearTimeout(timer);
  }

  /** All exchanges that have ended, with the outcomes that the page tells of. */
  all(outcomes) {
    const byTag = new Map(outcomes.map((outcome) => [outcome.tag, outcome]));
    for (const exchange of this.#all) {
      const outcome = byTag.get(exchange.tag);
      // The page knows that it has waited long enough; what else went wrong the network knows better.
      if (outcome?.error.startsWith("other: ") && exchange.failure) outcome.error = exchange.failure;
      exchange.outcome = outcome ?? null;
    }
    return this.#all.filter((exchange) => exchange.end !== null);
  }

  /** Those of a page's own loader, as they are now: with what was received of each. */
  get seen() {
    return this.#all;
  }

  /** How many are under way. */
  get open() {
    return this.#open.size;
  }

  /** Ends what is under way, at `now` (ns), for this reason. */
  giveUp(now, failure) {
    for (const requestId of [...this.#open.keys()]) this.#close(requestId, now / 1e9, {failure});
  }

  #asked({requestId, request, timestamp, wallTime}) {
    if (!request.url.startsWith("https:")) return; // what crosses no network, such as data: addresses
    const exchange = {
      tag: request.urlFragment?.slice(1) ?? null,
      url: request.url,
      method: request.method,
      startedAt: wallTime * 1000,
      requestHeaders: pairs(request.headers),
      ...unanswered,
      start: nanoseconds(timestamp),
    };
    this.#open.set(requestId, exchange);
    this.#all.push(exchange);
  }

  #received({requestId, dataLength}) {
    const exchange = this.#open.get(requestId);
    if (exchange) exchange.received += dataLength;
  }

  #answered({requestId, response}) {
    const exchange = this.#open.get(requestId);
    if (!exchange) return;
    Object.assign(exchange, answer(response));
    // Of a request without a body the network may say late that it is written, after its answer has come.
    if (exchange.method === "GET" && exchange.firstByte !== null) {
      exchange.sent = Math.min(exchange.sent, exchange.firstByte);
    }
  }

  #finished({requestId, timestamp, encodedDataLength}) {
    this.#close(requestId, timestamp, {encoded: encodedDataLength});
  }

  #failed({requestId, timestamp, errorText}) {
    this.#close(requestId, timestamp, {failure: failureWord(errorText)});
  }

  #close(requestId, timestamp, more) {
    const exchange = this.#open.get(requestId);
    if (!exchange) return;
    Object.assign(exchange, more, {end: nanoseconds(timestamp)});
    exchange.timings = timings(exchange);
    this.#open.delete(requestId);
    if (this.#open.size === 0) this.#idle?.();
  }
}

// What an exchange has before its answer, and keeps if none comes.
const unanswered = {
  connected: null, sent: null, firstByte: null, end: null, timing: null, dialled: false,
  status: 0, statusText: "", protocol: "", responseHeaders: [], mimeType: "x-unknown",
  address: null, connection: null, reused: null, tls: null, encoded: null, received: 0, failure: null,
};

function answer(response) {
  const {timing} = response;
  const at = (offset) => (timing && offset >= 0 ? nanoseconds(timing.requestTime + offset / 1000) : null);
  return {
    timing: timing ?? null,
    dialled: (timing?.connectStart ?? -1) >= 0,
    connected: at(timing?.connectEnd),
    sent: at(timing?.sendEnd),
    firstByte: at(timing?.receiveHeadersStart),
    status: response.status,
    statusText: response.statusText,
    protocol: PROTOCOLS[response.protocol] ?? response.protocol ?? "",
    responseHeaders: pairs(response.headers),
    mimeType: response.mimeType,
    address: response.remoteIPAddress ?? null,
    connection: response.connectionId || null,
    reused: response.connectionReused,
    tls: response.securityDetails ? tls(response.securityDetails) : null,
  };
}

function tls({protocol, keyExchange, keyExchangeGroup, cipher}) {
  return {
    // QUIC has no other TLS.
    version: protocol === "QUIC" ? "1.3" : protocol.replace(/^TLS /, ""),
    cipher: keyExchange ? `${keyExchange} with ${cipher}` : CIPHERS[cipher] ?? cipher,
    key_exchange: keyExchangeGroup ?? "",
  };
}

/** HAR's timings, in ms: the part of each stage, -1 where it does not apply. They add up to the entry's time. */
function timings({start, end, sent, firstByte, timing}) {
  const whole = (end - start) / 1e6;
  if (!timing || sent === null || firstByte === null) {
    return {blocked: whole, dns: -1, connect: -1, ssl: -1, send: 0, wait: 0, receive: 0};
  }
  const queued = nanoseconds(timing.requestTime) - start;
  const stage = (from, to) => (from >= 0 ? to - from : -1);
  const dns = stage(timing.dnsStart, timing.dnsEnd);
  const connect = stage(timing.connectStart, timing.connectEnd);
  const send = timing.sendEnd - timing.sendStart;
  const wait = Math.max(0, (firstByte - sent) / 1e6);
  const receive = (end - firstByte) / 1e6;
  const known = Math.max(0, dns) + Math.max(0, connect) + send + wait + receive;
  return {
    blocked: Math.max(queued / 1e6, whole - known),
    dns, connect, ssl: stage(timing.sslStart, timing.sslEnd), send, wait, receive,
  };
}

function pairs(headers) {
  return Object.entries(headers ?? {}).map(([name, value]) => ({name, value}));
}

/** DevTools' monotonic seconds, which on Linux are those of CLOCK_MONOTONIC, to the microsecond. */
function nanoseconds(seconds) {
  return Math.round(seconds * 1e6) * 1000;
}
