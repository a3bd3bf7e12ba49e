// Run: node --test subjects/browser/test
import assert from "node:assert/strict";
import {test} from "node:test";

import {samplesCsv} from "../samples.mjs";
import {visits} from "../visits.mjs";
import {refuseUnknown} from "../workload.mjs";

const PAGE = ["/site/0.html", "/site/1.css", "/site/2.png"].map((path, index) => ({
  path, headers: [{name: "priority", value: "u=0", changes: false}], initiator: index ? 0 : null, urgency: 0, run_ns: 0,
}));
const WORKLOAD = {
  h123: "workload/2", kind: "page", protocol: "h2", host: "h123.test", address: "10.1.0.2", port: 4443, ca: "ca.pem",
  users: 2, requests: 2, warmup: 1, rate: null, connections: 1, cold: true, timeout_ns: 2e8, seed: 1, headers: [],
  page: PAGE, at_once: 100,
};

/** A browser whose tabs do what `load` does to {seen, open, ...}. `log` has what became of profiles and browsers. */
function browserOf(load, log, openable) {
  let alive = true;
  const browser = {
    name: "Fake", version: "1", notes: [],
    alive: () => alive,
    kill: () => {
      log.push("killed");
      alive = false;
    },
    close: async () => log.push("ended"),
    die: () => (alive = false),
    openProfile: async () => ({
      alive: () => alive,
      open: async () => {
        if (!openable()) throw new Error("no tab");
        return tab(load, browser);
      },
      hangUp: async () => log.push("hung up"),
      close: async () => log.push("left"),
    }),
  };
  return browser;
}

function tab(load, browser) {
  const state = {
    loaded: {}, exchanges: {seen: [], open: 0, giveUp}, failure: () => state.ended ?? null,
    go: (url) => load(state, url, browser),
  };
  function giveUp(now, failure) {
    for (const exchange of state.exchanges.seen) if (exchange.end === null) Object.assign(exchange, {end: now, failure});
  }
  return state;
}

function exchange(resource, more = {}) {
  const start = Number(process.hrtime.bigint());
  return {
    url: `https://h123.test:4443${PAGE[resource].path}`, start, startedAt: Date.now(), end: start + 1000, sent: start,
    firstByte: start + 500, connected: null, status: 200, received: 10, failure: null, protocol: "h2", connection: 7,
    reused: resource > 0, tls: null, ...more,
  };
}

function complete(state) {
  state.exchanges.seen.push(...[0, 1, 2].map((resource) => exchange(resource)));
  state.loaded = {content: 2, all: 3.0000015};
}

async function run(load, changes = {}, openable = () => true) {
  const log = [];
  let started = 0;
  const start = async () => {
    started += 1;
    return browserOf(load, log, openable);
  };
  const {records} = await visits(start, {...WORKLOAD, ...changes});
  const rows = samplesCsv(records.flatMap(({requests}) => requests)).trim().split("\n").slice(1).map((row) => row.split(","));
  return {records, rows, log, started};
}

test("every visit is a row for each resource, with its visit and its place in the page", async () => {
  const {records, rows, log, started} = await run(complete);
  assert.equal(rows.length, 2 * 3 * 3);
  assert.deepEqual(new Set(rows.map((row) => `${row[0]} ${row[14]}`)), new Set(["warmup 0", "warm 1", "warm 2"]));
  assert.deepEqual(new Set(rows.map((row) => row[15])), new Set(["0", "1", "2"]));
  assert.deepEqual(records.map(({page}) => page.number).sort(), [1, 2, 3, 4, 5, 6]);
  assert.equal(log.filter((what) => what === "left").length, 6); // a profile of its own for each
  assert.equal(started, 1);
  assert.equal(log.at(-1), "ended");
});

test("users rest between their visits, and not before the first", async () => {
  const pause = 3e7;
  const {rows} = await run(complete, {pause_ns: pause});
  const of = (user, n) => rows.filter((row) => row[1] === String(user) && row[14] === String(n));
  for (const user of [0, 1]) {
    for (const n of [1, 2]) {
      const ended = Math.max(...of(user, n - 1).map((row) => Number(row[6])));
      assert.ok(Math.min(...of(user, n).map((row) => Number(row[2]))) - ended >= pause);
    }
  }
});

test("a pause is of visits alone, and no browser is told of other hosts", () => {
  refuseUnknown({...WORKLOAD, pause_ns: 1}, ["page"]);
  for (const pause of [0, -1, null, "1s"]) assert.throws(() => refuseUnknown({...WORKLOAD, pause_ns: pause}, ["page"]), /pause_ns/);
  const hosted = PAGE.map((resource) => ({...resource, host: "b.h123.test"}));
  assert.throws(() => refuseUnknown({...WORKLOAD, page: hosted}, ["page"]), /host/);
});

test("a visit waits for its page's load event, and tells when it came, to the microsecond", async () => {
  const told = async (load) => (await run(load, {users: 1, requests: 1, warmup: 0})).records.map(({visit}) => visit);
  const late = (state) => {
    complete(state);
    state.loaded = {content: 2};
    setTimeout(() => (state.loaded.all = 3.0000015), 50);
  };
  const expected = {user: 0, group: 0, dom_content_loaded_ns: 2e9, load_ns: 3_000_002_000};
  assert.deepEqual(await told(late), [expected]);
  const never = (state) => {
    complete(state);
    state.loaded = {};
  };
  assert.deepEqual(await told(never), [{...expected, dom_content_loaded_ns: null, load_ns: null}]);
});

test("warm visits of a user have one profile", async () => {
  const {log} = await run(complete, {cold: false});
  assert.equal(log.filter((what) => what === "left").length, 0);
});

const REPEAT = {visit: "repeat", users: 1, requests: 2, warmup: 0};

test("a repeat visit is the second one of its profile, and the first one has no row", async () => {
  let visit = 0;
  const {records, rows, log} = await run((state) => {
    visit += 1;
    state.exchanges.seen.push(...[0, 1, 2].map((resource) => exchange(resource, {connection: visit, received: visit})));
    state.loaded = {all: 3};
  }, REPEAT);
  assert.deepEqual(rows.map((row) => row[9]), ["2", "2", "2", "4", "4", "4"]);
  assert.deepEqual(records.map(({page}) => page.number), [1, 2]);
  assert.deepEqual(log, ["hung up", "left", "hung up", "left", "ended"]);
});

test("a repeat visit over a connection of the visit before is none", async () => {
  await assert.rejects(run(complete, REPEAT), /found a connection open/);
});

test("without the visit before there is no repeat visit", async () => {
  const {rows, log} = await run((state) => state.exchanges.seen.push(exchange(0, {status: 502})), {...REPEAT, requests: 1});
  assert.equal(rows.length, 3);
  assert.ok(rows.every((row) => row[13] === "other: the visit before it failed: status 502"));
  assert.ok(!log.includes("hung up"));
});

test("only browsers that remember are asked for repeat visits, and for HTTP/3 that is to be found", () => {
  for (const asked of [{visit: "repeat"}, {protocol: "h3-or-h2"}, {protocol: "h3-or-h2", lookup: "dns"}]) {
    refuseUnknown({...WORKLOAD, ...asked}, ["page"], true);
    assert.throws(() => refuseUnknown({...WORKLOAD, ...asked}, ["page"]), /visit|protocol/);
  }
  assert.throws(() => refuseUnknown({...WORKLOAD, lookup: "dns"}, ["page"], true), /lookup/);
  assert.throws(() => refuseUnknown({...WORKLOAD, visit: "last"}, ["page"], true), /visit/);
  assert.throws(() => refuseUnknown({...WORKLOAD, protocol: "h3-or-h2", tls: "1.2"}, ["page"], true), /tls/);
});

test("what does not come in time is a timeout, and what nobody asked for a failed row", async () => {
  const {rows} = await run((state) => {
    state.exchanges.seen.push(exchange(0), exchange(1, {end: null, status: 0}));
    state.exchanges.open = 1;
  }, {users: 1, requests: 1, warmup: 0});
  assert.deepEqual(rows.map((row) => row[13]).sort(), ["", '"other: not asked for', "timeout"]);
});

test("a failure ends a visit long before its time", async () => {
  const begun = Date.now();
  const {rows} = await run(
    (state) => state.exchanges.seen.push(exchange(0, {status: 502})), {users: 1, requests: 1, warmup: 0, timeout_ns: 6e11});
  assert.ok(Date.now() - begun < 3e5);
  assert.equal(rows.length, 3);
  assert.ok(rows.every((row) => row[13] !== ""));
});

test("a browser that ends fails its visit, and the next one has another", async () => {
  let visit = 0;
  const {rows, started} = await run((state, url, browser) => {
    visit += 1;
    if (visit > 1) return complete(state);
    state.ended = "other: the browser ended";
    browser.die();
  }, {users: 1, requests: 2, warmup: 0});
  assert.equal(started, 2);
  assert.deepEqual(rows.map((row) => row[13]).sort(), ["", "", "", ...Array(3).fill("other: the browser ended")]);
});

test("a browser that opens no tab is killed, its visit has failed, and the next one has another", async () => {
  let tabs = 0;
  const {rows, log, started} = await run(complete, {users: 1, requests: 2, warmup: 0}, () => (tabs += 1) > 1);
  assert.equal(started, 2);
  assert.deepEqual(log, ["killed", "left", "ended"]);
  assert.deepEqual(rows.map((row) => row[13]).sort(), ["", "", "", ...Array(3).fill("other: the browser opened no tab")]);
});

test("an older TLS may be asked for, but not of QUIC, which has none", () => {
  refuseUnknown({...WORKLOAD, tls: "1.2"}, ["page"]);
  assert.throws(() => refuseUnknown({...WORKLOAD, tls: "1.1"}, ["page"]), /tls/);
  assert.throws(() => refuseUnknown({...WORKLOAD, protocol: "h3", tls: "1.2"}, ["page"]), /tls/);
});

test("a request that the page does not have, or has made before, is no visit of it", async () => {
  const foreign = (state) => state.exchanges.seen.push(...[0, 1, 2].map((one) => exchange(one, {url: "https://h123.test:4443/icon"})));
  await assert.rejects(run(foreign), /asked for .*icon, which is not the page's/);
  const twice = (state) => state.exchanges.seen.push(...[0, 1, 1].map((one) => exchange(one)));
  await assert.rejects(run(twice), /1\.css twice/);
});

test("a page has its own fields, and no headers but the priorities that a browser has itself", () => {
  const kinds = ["requests", "page"];
  refuseUnknown(WORKLOAD, kinds);
  assert.throws(() => refuseUnknown(WORKLOAD), /kind/);
  assert.throws(() => refuseUnknown({...WORKLOAD, path: "/"}, kinds), /path/);
  const named = [{...PAGE[0], headers: [{name: "cookie", value: "x", changes: false}]}];
  assert.throws(() => refuseUnknown({...WORKLOAD, page: named}, kinds), /headers/);
});
