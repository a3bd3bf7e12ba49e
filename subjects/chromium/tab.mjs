// A tab: one page in a browser profile of its own, so that its connections are nobody else's.
import {unseen} from "../browser/unseen.mjs";
import {Exchanges} from "./exchanges.mjs";

const SETTLE_MS = 3000;

export class Tab {
  #session;
  #outcomes = [];
  #exchanges;
  #loaded = {};

  /** Opens a tab and loads `document` into it as the root of `origin`; the server is not asked for it. */
  static async open(browser, origin, document) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const tab = new Tab();
    tab.#session = await page.createCDPSession();
    await tab.#load(`${origin}/`, document);
    return tab;
  }

  /** Makes the requests of `order` (see page.html) and waits for their end. */
  async perform(order) {
    const {result, exceptionDetails} = await this.#session.send("Runtime.evaluate", {
      expression: `load(${JSON.stringify(order)})`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(`the page failed: ${exceptionDetails.exception?.description}`);
    this.#outcomes.push(...result.value);
    await this.#exchanges.settle(SETTLE_MS);
  }

  /** What the page load was like: for the archive, and, as `exchanges`, for the samples. */
  record(number) {
    const all = this.#exchanges.all(this.#outcomes);
    const [document] = all;
    document.protocol = "";
    document.comment = "Answered by the driver: no byte of the document crossed the network.";
    const since = (seconds) => (seconds ? seconds * 1000 - document.start / 1e6 : -1);
    return {
      page: {
        number,
        title: document.url,
        startedAt: document.startedAt,
        onContentLoad: since(this.#loaded.content),
        onLoad: since(this.#loaded.all),
      },
      exchanges: all,
      requests: [...all.filter((exchange) => exchange.outcome), ...unseen(this.#outcomes, all)],
    };
  }

  async #load(url, document) {
    const session = this.#session;
    this.#exchanges = new Exchanges(session);
    // Bodies are not kept for DevTools: they would be copied once more.
    await session.send("Network.enable", {maxTotalBufferSize: 0, maxResourceBufferSize: 0});
    await session.send("Page.enable");
    const loaded = new Promise((resolve) => {
      session.on("Page.domContentEventFired", ({timestamp}) => (this.#loaded.content = timestamp));
      session.on("Page.loadEventFired", ({timestamp}) => resolve((this.#loaded.all = timestamp)));
    });
    session.on("Fetch.requestPaused", ({requestId}) =>
      session.send("Fetch.fulfillRequest", {
        requestId,
        responseCode: 200,
        responseHeaders: [{name: "content-type", value: "text/html; charset=utf-8"}],
        body: Buffer.from(document).toString("base64"),
      }));
    await session.send("Fetch.enable", {patterns: [{urlPattern: url, resourceType: "Document"}]});
    const {errorText} = await session.send("Page.navigate", {url});
    if (errorText) throw new Error(`the document could not be loaded: ${errorText}`);
    await loaded;
    // From here on nothing stands between the page and the network.
    await session.send("Fetch.disable");
    await this.#exchanges.settle(SETTLE_MS);
  }
}
