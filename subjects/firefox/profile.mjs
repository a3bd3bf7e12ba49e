// A container for visits of a page: its connections, cache and sessions are nobody else's.
import {monotonic} from "./clock.mjs";
import {exchange} from "./exchanges.mjs";

const LOOK_MS = 20;
const ENDED = "other: the browser ended";

// Tabs open and close one after another: so each that is new is known, and none is opened beside one that is closing.
let turn = Promise.resolve();

function inTurn(work) {
  const done = turn.then(work);
  turn = done.catch(() => {});
  return done;
}

export class Profile {
  #bidi;
  #watch;
  #userContext;
  #visit = null; // the last one

  /** `watch`: {window: the browser's own, where watcher.js is, offset: of its clock}. */
  static async open(bidi, watch) {
    const profile = new Profile();
    profile.#bidi = bidi;
    profile.#watch = watch;
    ({userContext: profile.#userContext} = await bidi.send("browser.createUserContext", {}));
    return profile;
  }

  alive() {
    return this.#bidi.connected;
  }

  /** A new tab, at no server's address yet. `cached`: the page may use what its own container has stored. */
  async open({cached}) {
    this.#visit?.leave();
    const bidi = this.#bidi;
    this.#visit = await inTurn(async () => {
      const {context} = await bidi.send("browsingContext.create", {type: "tab", userContext: this.#userContext});
      const tab = await bidi.call(this.#watch.window, "(cached) => h123Adopt(cached)", String(cached));
      return new Visit(bidi, context, tab, this.#watch);
    });
    return this.#visit;
  }

  /** Closes its tab and all connections of the browser; what it knows of servers stays. */
  async hangUp() {
    const visit = this.#visit;
    visit.leave();
    await inTurn(() => visit.close());
    await this.#bidi.call(this.#watch.window, "() => h123HangUp()");
  }

  close() {
    this.#visit?.leave();
    return inTurn(() => this.#bidi.send("browser.removeUserContext", {userContext: this.#userContext}));
  }
}

/** A tab that loads one page. */
class Visit {
  loaded = {};
  exchanges = new Exchanges();
  #bidi;
  #context;
  #failure = null;

  constructor(bidi, context, tab, watch) {
    this.#bidi = bidi;
    this.#context = context;
    for (const [event, name] of [["domContentLoaded", "content"], ["load", "all"]]) {
      bidi.onOf(`browsingContext.${event}`, context, ({url, timestamp}) => {
        if (url.startsWith("https:")) this.loaded[name] ??= monotonic(timestamp * 1000, watch.offset) / 1e9;
      });
    }
    this.#look(tab, watch);
  }

  /** Sets out for an address; what comes of it, `exchanges` and `failure` tell. */
  go(url) {
    this.#bidi.send("browsingContext.navigate", {context: this.#context, url, wait: "none"}).catch((error) => {
      // What the network tells of the document says the same, later.
      if (this.exchanges.seen.length === 0) this.#failure ??= this.#bidi.connected ? `other: ${error.message}` : ENDED;
    });
  }

  /** What ended the visit before its time. */
  failure() {
    return this.#failure ?? (this.#bidi.connected ? null : ENDED);
  }

  close() {
    return this.#bidi.send("browsingContext.close", {context: this.#context});
  }

  /** Nobody asks what becomes of it any more. */
  leave() {
    this.exchanges.over = true;
  }

  /** Asks the browser again and again what has become of the tab's requests. */
  async #look(tab, {window, offset}) {
    const news = "(tab, known) => h123News(tab, known)";
    try {
      while (!this.exchanges.over) {
        const told = JSON.parse(await this.#bidi.call(window, news, tab, String(this.exchanges.ended)));
        this.exchanges.take(told, offset);
        if (told.crashed) this.#failure ??= "other: the page crashed";
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS).unref());
      }
    } catch {
      this.#failure ??= ENDED;
    }
  }
}

/** The requests of a tab, as far as the browser has told of them. */
class Exchanges {
  ended = 0;
  over = false;
  #known = new Map();
  #open = new Set();

  /** In the order in which they were asked. */
  get seen() {
    return [...this.#known.values()].sort((one, other) => one.start - other.start);
  }

  /** How many are under way. */
  get open() {
    return this.#open.size;
  }

  /** Ends what is under way, at `now` (ns), for this reason. */
  giveUp(now, failure) {
    this.over = true;
    for (const id of this.#open) Object.assign(this.#known.get(id), {end: now, failure});
    this.#open.clear();
  }

  take({ended, open}, offset) {
    if (this.over) return;
    this.ended += ended.length;
    for (const seen of [...open, ...ended]) {
      // A request is known under one object: visits.mjs adds to it.
      const known = this.#known.get(seen.id) ?? {};
      this.#known.set(seen.id, Object.assign(known, exchange(seen, null, offset)));
    }
    this.#open = new Set(open.map(({id}) => id));
  }
}
