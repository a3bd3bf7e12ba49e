// A browser profile for visits of a page: its connections, cache and sessions are nobody else's.
import {setTimeout as sleep} from "node:timers/promises";

import {failureWord} from "./failures.mjs";
import {Exchanges} from "./exchanges.mjs";

const SOCKETS = "chrome://net-internals/#sockets";
const LOOK_MS = 20;
const FLUSHING_MS = 200; // another process closes the connections, and nobody tells when it has

/** Presses the button that users have for it, as soon as it is there. */
async function flushed(session) {
  const expression = `document.readyState === "complete" && location.protocol === "chrome:" && (chrome.send("flushSocketPools"), true)`;
  for (;;) {
    const {result} = await session.send("Runtime.evaluate", {expression, returnByValue: true});
    if (result.value === true) break;
    await sleep(LOOK_MS);
  }
  await sleep(FLUSHING_MS);
}

export class Profile {
  #context;

  constructor(context) {
    this.#context = context;
  }

  alive() {
    return !this.#context.closed && this.#context.browser().connected;
  }

  /** A new tab, at no address yet. `cached`: the page may use what its own profile has stored. */
  async open({cached}) {
    const page = await this.#context.newPage();
    const session = await page.createCDPSession();
    const visit = new Visit(session);
    // Bodies are not kept for DevTools: they would be copied once more.
    await session.send("Network.enable", {maxTotalBufferSize: 0, maxResourceBufferSize: 0});
    await session.send("Page.enable");
    if (!cached) await session.send("Network.setCacheDisabled", {cacheDisabled: true});
    return visit;
  }

  /** Closes its tabs and all of its connections; what it knows of servers stays. */
  async hangUp() {
    const pages = await this.#context.pages();
    const tools = await this.#context.newPage();
    await Promise.all(pages.map((page) => page.close()));
    const session = await tools.createCDPSession();
    await session.send("Page.navigate", {url: SOCKETS});
    await flushed(session);
    await tools.close();
  }

  close() {
    return this.#context.close();
  }
}

/** A tab that loads one page. */
class Visit {
  loaded = {};
  #session;
  #failure = null;

  constructor(session) {
    this.#session = session;
    this.exchanges = new Exchanges(session);
    session.on("Page.domContentEventFired", ({timestamp}) => (this.loaded.content ??= timestamp));
    session.on("Page.loadEventFired", ({timestamp}) => (this.loaded.all ??= timestamp));
    session.on("Inspector.targetCrashed", () => (this.#failure = "other: the page crashed"));
  }

  /** Sets out for an address; what comes of it, `exchanges` and `failure` tell. */
  go(url) {
    this.#session.send("Page.navigate", {url}).then(
      ({errorText}) => {
        // What the network tells of the document says the same, later.
        if (errorText && this.exchanges.seen.length === 0) this.#failure = failureWord(errorText);
      },
      () => (this.#failure ??= "other: the browser ended"),
    );
  }

  /** What ended the visit before its time. */
  failure() {
    return this.#failure ?? (this.#session.detached ? "other: the browser ended" : null);
  }
}
