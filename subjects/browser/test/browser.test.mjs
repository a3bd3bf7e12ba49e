// Run: node --test subjects/browser/test
import assert from "node:assert/strict";
import {EventEmitter} from "node:events";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {runInNewContext} from "node:vm";

import {Exchanges} from "../../chromium/exchanges.mjs";
import {exchange} from "../../firefox/exchanges.mjs";
import {block} from "../block.mjs";
import {facts} from "../facts.mjs";
import {har} from "../har.mjs";
import {samplesCsv} from "../samples.mjs";
import {unseen} from "../unseen.mjs";
import {coldTags, parseTag, seatCount, userTags} from "../workload.mjs";

const WORKLOAD = {protocol: "h2", users: 3, requests: 2, warmup: 1, connections: "shared"};

test("connections are as many as the contract says", () => {
  assert.equal(seatCount(WORKLOAD), 1);
  assert.equal(seatCount({...WORKLOAD, protocol: "h1"}), 3);
  assert.equal(seatCount({...WORKLOAD, connections: "per-user"}), 3);
  assert.equal(seatCount({...WORKLOAD, connections: 2}), 2);
});

test("users are dealt to the connections in turn, warm-up first", () => {
  const two = {...WORKLOAD, connections: 2};
  assert.deepEqual(userTags(two, 0).map((tags) => tags[0]), ["warmup-0-0", "warmup-2-0"]);
  assert.deepEqual(userTags(two, 1), [["warmup-1-0", "warm-1-1", "warm-1-2"]]);
});

test("no two requests have one tag, even with more connections than users", () => {
  const many = {...WORKLOAD, connections: 5};
  const tags = [0, 1, 2, 3, 4].flatMap((seat) => [...coldTags(many, seat), ...userTags(many, seat)].flat());
  assert.equal(new Set(tags).size, tags.length);
  assert.deepEqual(parseTag(coldTags(many, 4)[0][0]), {phase: "cold", user: 1});
});

/** What DevTools tells of one request that opens a connection: 100 ms for the handshake, 1 ms to send, 50 ms to wait. */
function devtoolsEvents(session, tag) {
  session.emit("Network.requestWillBeSent", {
    requestId: tag, timestamp: 5, wallTime: 1000, request: {url: "https://h123.test/bytes/9", urlFragment: `#${tag}`, method: "GET", headers: {}},
  });
  session.emit("Network.responseReceived", {
    requestId: tag,
    response: {
      protocol: "h3", status: 200, statusText: "", headers: {"content-length": "9"}, mimeType: "x/y", connectionId: 77, connectionReused: false,
      remoteIPAddress: "10.1.0.2", securityDetails: {protocol: "QUIC", keyExchange: "", keyExchangeGroup: "X25519", cipher: "AES_128_GCM"},
      timing: {
        requestTime: 5.002, dnsStart: -1, dnsEnd: -1, connectStart: 1, connectEnd: 101, sslStart: 1, sslEnd: 101,
        sendStart: 101, sendEnd: 102, receiveHeadersStart: 152, receiveHeadersEnd: 153,
      },
    },
  });
  session.emit("Network.loadingFinished", {requestId: tag, timestamp: 5.2, encodedDataLength: 30});
}

function chromiumExchanges(tag = "cold-0-0") {
  const session = new EventEmitter();
  const exchanges = new Exchanges(session);
  devtoolsEvents(session, tag);
  return exchanges.all([{tag, status: 200, up: 0, down: 9, error: "", waitedMs: 0}]);
}

test("DevTools' events become a sample on the monotonic clock", () => {
  const [header, row] = samplesCsv(chromiumExchanges()).trim().split("\n");
  assert.ok(header.startsWith("phase,user,start_ns,connected_ns,"));
  assert.equal(row, "cold,0,5000000000,5103000000,5104000000,5154000000,5200000000,200,0,9,h3,0,0,,,");
});

test("only a cold row says when its connection was there, and a turn waited for counts", () => {
  const [exchanged] = chromiumExchanges("warm-2-0");
  exchanged.outcome.waitedMs = 3;
  assert.match(samplesCsv([exchanged]), /^warm,2,4997000000,,5104000000,/m);
});

test("a connection dialled for a request that took another one is opened by the first that it serves", () => {
  const of = (tag, more) => ({...chromiumExchanges(tag)[0], ...more});
  const exchanges = [
    of("warm-0-0", {connection: 1, reused: false, firstByte: 5e9, end: 6e9}),
    of("warm-0-1", {connection: 1, reused: true, firstByte: 4e9, end: 7e9}),
    of("warm-0-2", {connection: 2, reused: true, firstByte: 9e9, end: 10e9}),
    of("warm-0-3", {connection: 2, reused: true, firstByte: 7e9, end: 8e9}),
    of("warm-0-4", {connection: null, reused: null, end: 11e9}),
  ];
  const rows = samplesCsv(exchanges).trim().split("\n").slice(1).map((row) => row.split(","));
  assert.deepEqual(rows.map((row) => row.slice(11, 13)), [["0", "0"], ["0", "1"], ["1", "0"], ["1", "1"], ["", ""]]);
});

test("a request that the network does not tell of is a row all the same, on the monotonic clock", () => {
  const [document] = chromiumExchanges("");
  const late = {tag: "warm-1-0", status: 0, up: 0, down: 0, error: "timeout", begunAt: 1_000_500, endedAt: 1_000_501, waitedMs: 250};
  const rows = samplesCsv(unseen([{...OUTCOME, tag: ""}, late], [document]));
  assert.equal(rows.trim().split("\n")[1], "warm,1,5250000000,,,,5501000000,0,0,0,,,,timeout,,");
});

test("an error with commas and line ends stays one field", () => {
  const [exchanged] = chromiumExchanges();
  exchanged.outcome.error = 'other: "a",\nb';
  assert.match(samplesCsv([exchanged]), /,"other: ""a"", b",,\n$/);
});

test("TLS is told once a connection", () => {
  const exchanges = [...chromiumExchanges("warm-0-0"), ...chromiumExchanges("warm-0-1")];
  assert.deepEqual(facts(exchanges, [], []).tls, [
    {version: "1.3", cipher: "TLS_AES_128_GCM_SHA256", key_exchange: "X25519", alpn: "h3", connections: 1},
  ]);
});

test("a page's archive tells the TLS of each request", () => {
  const page = {number: 1, title: "t", startedAt: 0, onContentLoad: 1, onLoad: 2};
  const {log} = har({browser: {name: "b", version: "1"}, page, exchanges: chromiumExchanges()});
  assert.deepEqual(log.entries[0]._tls, {version: "1.3", cipher: "TLS_AES_128_GCM_SHA256", key_exchange: "X25519"});
});

test("a page's archive is HAR 1.2, and an entry's timings add up to its time", () => {
  const page = {number: 2, title: "t", startedAt: 0, onContentLoad: 1, onLoad: 2};
  const {log} = har({browser: {name: "b", version: "1"}, page, exchanges: chromiumExchanges()});
  assert.equal(log.version, "1.2");
  const [entry] = log.entries;
  assert.equal(entry.pageref, log.pages[0].id);
  const {ssl, ...stages} = entry.timings;
  assert.ok(ssl <= stages.connect); // HAR counts it in connect
  const sum = Object.values(stages).reduce((total, stage) => total + Math.max(0, stage), 0);
  assert.ok(Math.abs(sum - entry.time) < 1e-6, `${sum} of ${entry.time}`);
});

/** What watcher.js tells of a request that opens a connection, in microseconds since 1970. */
const SEEN = {
  tag: "cold-0-0", url: "https://h123.test/bytes/9", method: "GET", failure: null, status: 200, statusText: "OK", version: "http/1.1",
  mimeType: "", localPort: 4711, address: "10.1.0.2", encoded: 9, tls: null, requestHeaders: [], responseHeaders: [],
  times: {
    asked: 1_000_000, lookupStart: 0, lookupEnd: 0, connectStart: 1_001_000, secureStart: 1_050_000, connectEnd: 1_100_000,
    requestStart: 1_100_000, responseStart: 1_100_050, headersRead: 1_150_000, responseEnd: 1_200_000, ended: 1_201_000,
  },
};
const OUTCOME = {tag: "cold-0-0", status: 200, up: 0, down: 9, error: "", waitedMs: 0};

test("Firefox takes a handshake's bytes for an answer's over a new connection of HTTP/1.1 only", () => {
  assert.equal(exchange(SEEN, OUTCOME, 0n).firstByte, 1_150_000_000);
  assert.equal(exchange({...SEEN, version: "h2"}, OUTCOME, 0n).firstByte, 1_100_050_000);
  const late = {...SEEN, times: {...SEEN.times, headersRead: 1_300_000}};
  assert.equal(exchange(late, OUTCOME, 0n).firstByte, 1_200_000_000);
});

test("a request that nobody answered has neither connection nor first byte, and its kind of failure", () => {
  const refused = {...SEEN, status: 0, failure: "NS_ERROR_CONNECTION_REFUSED", times: {...SEEN.times, responseStart: 0, responseEnd: 0}};
  const found = exchange(refused, {...OUTCOME, error: "other: NetworkError"}, 0n);
  assert.equal(found.outcome.error, "refused");
  assert.deepEqual([found.connection, found.firstByte, found.end], [null, null, 1_201_000_000]);
});

/** The page's script, run as in a browser whose server answers every request so. */
function page(answer) {
  const html = readFileSync(new URL("../page.html", import.meta.url), "utf8").replace("@block@", block().toString("base64"));
  const script = html.slice(html.indexOf("<script>") + 8, html.indexOf("</script>"));
  const context = {fetch: async () => answer(), performance, AbortSignal: {timeout() {}}, atob, TextDecoder};
  return runInNewContext(`${script}; load`, context);
}

/** What comes of a request, answered in pieces of that size. */
async function outcome(body, {path = "/bytes/200001", status = 200, size = 65_537} = {}) {
  const answer = () => {
    const pieces = [];
    for (let at = 0; at < body.length; at += size) pieces.push(new Uint8Array(body.subarray(at, at + size)));
    return new Response(ReadableStream.from(pieces), {status});
  };
  const order = {method: "GET", path, uploadBytes: 0, timeoutMs: 10_000, inTurn: false, users: [["warm-0-0"]]};
  const [{down, error}] = await page(answer)(order);
  return {down, error};
}

const BODY = Buffer.concat([block(), block(), block(), block()]).subarray(0, 200_001);

test("each byte of a download is compared, however it comes", async () => {
  for (const size of [999, 1000, 65_536, 65_537]) {
    assert.deepEqual(await outcome(BODY, {size}), {down: 200_001, error: ""});
    for (const at of [0, 65_535, 65_536, 131_072, 200_000]) {
      const spoiled = Buffer.from(BODY);
      spoiled[at] ^= 1;
      assert.deepEqual(await outcome(spoiled, {size}), {down: 200_001, error: "wrong-bytes"});
    }
  }
});

test("what is not the block's is not compared", async () => {
  const zeros = Buffer.alloc(5);
  assert.equal((await outcome(zeros, {path: "/bytes/5"})).error, "wrong-bytes");
  for (const path of ["/other/5", "/bytes/5/", "/bytes/5?x"]) assert.equal((await outcome(zeros, {path})).error, "");
  assert.equal((await outcome(zeros, {path: "/bytes/5", status: 404})).error, "other: status 404");
});
