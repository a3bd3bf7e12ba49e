// Visits of a page: the browser is given the address of a document, and its own loader does the rest.
//
// A visit is a tab; where nothing is to be warm, one in a profile of its own, so that its connections, its cache and its
// sessions are nobody else's. Before a repeat visit there is one of which nothing is told, in the same profile: what the
// browser has learnt of the server stays, connections are closed, and of the page nothing is kept. A visit is over when
// everything that the page has is there and the page has been told so (the event load), when something failed and nothing
// has been under way for a while, or when the time of the workload has run out. Opening and closing tabs are in no time.
// A browser that ends or does not answer fails the visits that it had; the next visit starts another one.
import {setTimeout as sleep} from "node:timers/promises";

const LOOK_MS = 10;
const QUIET_MS = 1000; // after a failure, in which nothing more is asked for
const OPENING_MS = 30_000; // of a tab: a busy machine may take seconds
const CLOSING_MS = 5000;
const BEFORE = "other: the visit before it failed: ";
const NOT_ASKED = "other: not asked for, because what asks for it failed";

/** All of a workload: the browser that was there last, which has ended, and a record of each visit as har.mjs wants it. */
export async function visits(start, workload) {
  const browsers = new Browsers(start);
  const records = [];
  try {
    await browsers.one(); // before the first visit
    const users = Array.from({length: workload.users}, (_, user) => user);
    await Promise.all(users.map((user) => visitsOf(user, browsers, workload, records)));
    return {browser: await browsers.one(), records};
  } finally {
    await browsers.end();
  }
}

/** One that is alive, started anew where it is not. */
class Browsers {
  #start;
  #current = null;

  constructor(start) {
    this.#start = start;
  }

  async one() {
    const before = this.#current;
    if (!(await before)?.alive() && this.#current === before) this.#current = this.#start();
    return this.#current;
  }

  async end() {
    const browser = await this.#current;
    if (browser?.alive()) await closed(browser, browser);
  }
}

async function visitsOf(user, browsers, workload, records) {
  const each = workload.requests + workload.warmup;
  let profile = null;
  for (let n = 0; n < each; n += 1) {
    if (n > 0) await rest(workload.pause_ns ?? 0);
    const browser = await browsers.one();
    const opened = await inTime(tabIn(browser, profile, workload), OPENING_MS);
    if (opened) ({profile} = opened);
    else browser.kill();
    const visit = opened ? await visitIn(opened, workload) : notBegun("other: the browser opened no tab");
    const place = {phase: n < workload.warmup ? "warmup" : "warm", user, group: n};
    records.push(record(visit, user * each + n + 1, place, workload));
    if (opened && (workload.cold || visit.failure)) await closed(profile, browser);
  }
}

/** Waits for so many ns at least: a timer may be early by a part of a millisecond. */
async function rest(ns) {
  const until = now() + ns;
  while (now() < until) await sleep(Math.ceil((until - now()) / 1e6));
}

/** A tab for the next visit, and the profile that it is in: a new one, where nothing is to be warm or none is left. */
async function tabIn(browser, last, {cold, visit}) {
  const profile = cold || !last?.alive() ? await browser.openProfile() : last;
  return {profile, tab: await profile.open({cached: cold && !visit})};
}

/** The visit that is told of: in the profile's tab, or, where it is to be a repeat one, in another after it. */
async function visitIn({profile, tab}, workload) {
  if (!workload.visit) return visited(tab, workload);
  const before = await visited(tab, workload);
  const error = before.failure ?? before.exchanges.map((one) => outcome(one).error).find(Boolean);
  if (error || before.exchanges.length < workload.page.length) return notBegun(BEFORE + (error || NOT_ASKED).replace("other: ", ""));
  const again = await inTime(profile.hangUp().then(() => profile.open({cached: false})), OPENING_MS);
  if (!again) return notBegun("other: the browser opened no second tab");
  const visit = await visited(again, workload);
  const left = new Set(before.exchanges.map(({connection}) => connection));
  if (visit.exchanges.some(({connection}) => left.has(connection))) throw new Error("a repeat visit found a connection open");
  return visit;
}

/** Closes a profile, or the browser itself; where that takes too long, the browser is killed. */
async function closed(what, browser) {
  if (!(await inTime(what.close().then(() => true), CLOSING_MS))) browser.kill();
}

/** What comes of some work; null where it fails or takes longer. */
function inTime(work, ms) {
  return Promise.race([work.catch(() => null), sleep(ms, null, {ref: false})]);
}

/** What a visit is like that never was. */
function notBegun(failure) {
  return {exchanges: [], loaded: {}, failure, endedAt: now()};
}

/** Loads the page once: {exchanges, loaded, failure, endedAt}. */
async function visited(tab, {page, host, port, timeout_ns: timeout}) {
  const deadline = now() + timeout;
  tab.go(`https://${host}:${port}${page[0].path}`);
  let quietSince = now();
  for (;;) {
    if (tab.failure()) break;
    if (now() > deadline) {
      tab.exchanges.giveUp(now(), "timeout");
      break;
    }
    const {seen, open} = tab.exchanges;
    if (open > 0) quietSince = now();
    else if (seen.length >= page.length && tab.loaded.all) break;
    else if (seen.some(({failure, status}) => failure || status !== 200) && now() - quietSince > QUIET_MS * 1e6) break;
    await sleep(LOOK_MS);
  }
  const failure = tab.failure();
  if (failure) tab.exchanges.giveUp(now(), failure);
  return {exchanges: tab.exchanges.seen, loaded: tab.loaded, failure, endedAt: now()};
}

/** What the visit was like: for the archive, and, as `requests`, for the samples: one for each of the page's resources. */
function record({exchanges, loaded, failure, endedAt}, number, place, {page, host, port}) {
  const origin = `https://${host}:${port}`;
  const resources = new Map(page.map(({path}, resource) => [origin + path, resource]));
  const known = new Map();
  for (const exchange of exchanges) {
    const resource = resources.get(exchange.url);
    if (resource === undefined) throw new Error(`the browser asked for ${exchange.url}, which is not the page's`);
    if (known.has(resource)) throw new Error(`the browser asked for ${exchange.url} twice`);
    known.set(resource, exchange);
    exchange.place = {...place, resource};
    exchange.outcome = outcome(exchange);
  }
  const missing = [...page.keys()].filter((resource) => !known.has(resource));
  const [document] = exchanges;
  const since = (seconds) => (seconds && document ? seconds * 1000 - document.start / 1e6 : -1);
  const at = (seconds) => (seconds ? Math.round(seconds * 1e6) * 1000 : null);
  return {
    visit: {
      user: place.user, group: place.group, dom_content_loaded_ns: at(loaded.content), load_ns: at(loaded.all),
    },
    page: {
      number,
      title: origin + page[0].path,
      startedAt: document?.startedAt ?? Date.now(),
      onContentLoad: since(loaded.content),
      onLoad: since(loaded.all),
    },
    exchanges,
    requests: [...exchanges, ...missing.map((resource) => absent({...place, resource}, endedAt, failure ?? NOT_ASKED))],
  };
}

function outcome({status, received, failure}) {
  const error = failure ?? (status === 200 ? "" : `other: status ${status}`);
  return {status, up: 0, down: received, error, waitedMs: 0};
}

/** A resource that nobody asked for. */
function absent(place, endedAt, error) {
  return {
    place, outcome: {status: 0, up: 0, down: 0, error, waitedMs: 0}, start: endedAt, end: endedAt, connected: null,
    sent: null, firstByte: null, dialled: false, protocol: "", connection: null, reused: null, tls: null,
  };
}

function now() {
  return Number(process.hrtime.bigint());
}
