// The client: carries a workload out with a browser and writes samples.csv, client.json and a HAR file for every page.
//
// What a workload of the kind `page` means, visits.mjs says. What one of requests means here. A connection's place is a tab with a profile of its own, since a page cannot choose the
// connection of a request: one tab for HTTP/2 and HTTP/3 with shared connections, one a user for HTTP/1.1. A tab loads one
// document, which the driver itself answers, so nothing has crossed the network before the first request. The page's
// script then makes the requests with fetch, users at once. The cold request is the first of its tab: DNS answers at
// once, so what it has and later ones lack is the handshake. Starting the browser and its tabs comes before all of it.
// Where HTTP/1.1 has fewer connections than users, those of a tab take turns.
import {readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {parseArgs} from "node:util";

import {block} from "./block.mjs";
import {facts} from "./facts.mjs";
import {har} from "./har.mjs";
import {samplesCsv} from "./samples.mjs";
import {visits} from "./visits.mjs";
import {coldTags, readWorkload, Refusal, seatCount, UNSUPPORTED, userTags} from "./workload.mjs";

const PAGE = readFileSync(new URL("page.html", import.meta.url), "utf8");
const DOCUMENT = PAGE.replace("@block@", block().toString("base64"));

/**
 * Carries out what the command line says. `launch(workload)` starts the browser: {name, version, notes,
 * openTab(origin, document), close()}; a tab has perform(order) and record(number), as page.html and har.mjs want them.
 * One that can carry out workloads of the `kind` page, too, has alive(), openProfile(), kill() (see visits.mjs); one that
 * `remembers` between visits, hangUp() of a profile.
 */
export async function main(launch, kinds = ["requests"], remembers = false) {
  try {
    await drive(launch, kinds, remembers);
  } catch (error) {
    console.error(`h123: ${error instanceof Refusal ? error.message : error.stack}`);
    process.exitCode = error.status ?? 1;
  }
}

async function drive(launch, kinds, remembers) {
  const {values} = parseArgs({
    options: {workload: {type: "string"}, samples: {type: "string"}, facts: {type: "string"}},
  });
  const workload = readWorkload(values.workload, kinds, remembers);
  refuseWhatCannotBe(workload);
  const begun = now();
  const start = () => launch(workload);
  const {browser, records} = await (workload.kind === "page" ? visits(start, workload) : perform(start, workload));
  const requests = records.flatMap((record) => record.requests);
  checkClock(requests, begun);
  writeFileSync(values.samples, samplesCsv(requests));
  const {name, version, notes} = browser;
  const loads = records.map(({visit}) => visit).filter(Boolean);
  writeFileSync(values.facts, json(facts(requests, loads, [`${name} ${version}`, ...notes])));
  for (const record of records) {
    const path = join(dirname(values.samples), `page-${record.page.number}.har`);
    writeFileSync(path, json(har({browser: {name, version}, ...record})));
  }
  checkCold(requests);
}

/** Makes all requests; the browser that did, which has ended, and what each tab saw. */
async function perform(start, workload) {
  const browser = await start();
  try {
    return {browser, records: await performIn(browser, workload)};
  } finally {
    await browser.close();
  }
}

async function performIn(browser, workload) {
  const {method, path, host, port, protocol} = workload;
  const tabs = [];
  for (let seat = 0; seat < seatCount(workload); seat += 1) {
    tabs.push(await browser.openTab(`https://${host}:${port}`, DOCUMENT));
  }
  const order = {
    method,
    path,
    uploadBytes: workload.upload_bytes,
    timeoutMs: Math.round(workload.timeout_ns / 1e6),
    inTurn: protocol === "h1", // the browser would open a second connection for a user who finds none free
  };
  if (workload.cold) {
    for (const [seat, tab] of tabs.entries()) await tab.perform({...order, users: coldTags(workload, seat)});
  }
  await Promise.all(tabs.map((tab, seat) => tab.perform({...order, users: userTags(workload, seat)})));
  const records = [];
  for (const [seat, tab] of tabs.entries()) records.push(await tab.record(seat + 1));
  return records;
}

function refuseWhatCannotBe({rate}) {
  if (rate !== null) throw new Refusal(UNSUPPORTED, "no open loop here");
}

/** The browser's clock must be the contract's: CLOCK_MONOTONIC, which Node's hrtime reads too. */
function checkClock(requests, begun) {
  const ended = now();
  const strange = requests.find(({start, end}) => start < begun || end > ended);
  if (strange) throw new Error(`a request from ${strange.start} to ${strange.end} ns; the driver ran ${begun} to ${ended}`);
}

/** A cold request on a connection that was there already has measured no handshake: the trial has to be repeated. */
function checkCold(requests) {
  const warmed = requests.filter(({tag, dialled, outcome}) => tag?.startsWith("cold-") && !dialled && !outcome.error);
  if (warmed.length > 0) throw new Error(`${warmed.length} cold requests found a connection open: the browser had dialled ahead`);
}

function json(content) {
  return JSON.stringify(content, null, 1) + "\n";
}

function now() {
  return Number(process.hrtime.bigint());
}
