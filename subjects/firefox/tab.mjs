// A tab: one page in a container of its own, so that its connections are nobody else's.
import {unseen} from "../browser/unseen.mjs";
import {exchange} from "./exchanges.mjs";

const LOAD_TIMES = `() => {
  const [{domContentLoadedEventEnd, loadEventEnd}] = performance.getEntriesByType("navigation");
  return JSON.stringify([domContentLoadedEventEnd, loadEventEnd]);
}`;

export class Tab {
  #bidi;
  #context;
  #index;
  #outcomes = new Map();

  /** Opens the browser's tab number `index` and loads `document` as the root of `origin`; the server is not asked for it. */
  static async open(bidi, index, origin, document) {
    const tab = new Tab();
    const {userContext} = await bidi.send("browser.createUserContext", {});
    const {context} = await bidi.send("browsingContext.create", {type: "tab", userContext});
    tab.#bidi = bidi;
    tab.#context = context;
    tab.#index = index;
    await tab.#load(`${origin}/`, document);
    return tab;
  }

  /** Makes the requests of `order` (see page.html) and waits for their end. */
  async perform(order) {
    const source = "(order) => load(JSON.parse(order)).then(JSON.stringify)";
    const outcomes = JSON.parse(await this.#bidi.call(this.#context, source, JSON.stringify(order)));
    for (const outcome of outcomes) this.#outcomes.set(outcome.tag, outcome);
  }

  /** What the page load was like, for the archive, and its requests. `seen`: what the network tells of all tabs. */
  async record(number, seen, offset) {
    const [onContentLoad, onLoad] = JSON.parse(await this.#bidi.call(this.#context, LOAD_TIMES));
    const document = exchange(seen.filter(({tag}) => tag === "")[this.#index], null, offset);
    document.protocol = "";
    document.comment = "Answered by the driver: no byte of the document crossed the network.";
    const requests = seen
      .filter(({tag}) => this.#outcomes.has(tag))
      .map((one) => exchange(one, this.#outcomes.get(one.tag), offset));
    return {
      page: {number, title: document.url, startedAt: document.startedAt, onContentLoad, onLoad},
      exchanges: [document, ...requests],
      requests: [...requests, ...unseen([...this.#outcomes.values()], [document, ...requests])],
    };
  }

  async #load(url, document) {
    const bidi = this.#bidi;
    const context = this.#context;
    const scope = {contexts: [context]};
    const {intercept} = await bidi.send("network.addIntercept", {
      phases: ["beforeRequestSent"], urlPatterns: [{type: "string", pattern: url}], ...scope,
    });
    const {subscription} = await bidi.send("session.subscribe", {events: ["network.beforeRequestSent"], ...scope});
    bidi.on("network.beforeRequestSent", ({request, isBlocked}) => {
      if (!isBlocked) return;
      bidi.send("network.provideResponse", {
        request: request.request,
        statusCode: 200,
        headers: [{name: "content-type", value: {type: "string", value: "text/html; charset=utf-8"}}],
        body: {type: "string", value: document},
      });
    });
    await bidi.send("browsingContext.navigate", {context, url, wait: "complete"});
    // From here on nothing stands between the page and the network.
    await bidi.send("session.unsubscribe", {subscriptions: [subscription]});
    await bidi.send("network.removeIntercept", {intercept});
  }
}
