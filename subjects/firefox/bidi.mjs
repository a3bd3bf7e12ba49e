// WebDriver BiDi: commands and events as JSON over a WebSocket.
import {once} from "node:events";

import WebSocket from "ws";

export class Bidi {
  #socket;
  #last = 0;
  #waiting = new Map();
  #listeners = new Map();
  connected = true;

  /** Connects to a browser that listens at `url` and begins a session. */
  static async connect(url) {
    const bidi = new Bidi();
    bidi.#socket = new WebSocket(`${url}/session`, {perMessageDeflate: false, maxPayload: 0});
    bidi.#socket.on("message", (text) => bidi.#received(JSON.parse(text)));
    await once(bidi.#socket, "open");
    bidi.#socket.on("close", () => bidi.#lost());
    ({capabilities: bidi.capabilities} = await bidi.send("session.new", {capabilities: {}}));
    return bidi;
  }

  /** The result of a command; an error of the browser's is thrown. */
  send(method, params) {
    if (!this.connected) return Promise.reject(new Error("the browser has gone"));
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {resolve, reject});
      this.#socket.send(JSON.stringify({id, method, params}));
    });
  }

  /** Calls `listener` with the parameters of each event of this name, instead of one before. */
  on(method, listener) {
    this.#listeners.set(method, listener);
  }

  /** Calls `listener` with the parameters of each event of this name that is about `context`. */
  onOf(method, context, listener) {
    const before = this.#listeners.get(method);
    this.on(method, (params) => (params.context === context ? listener(params) : before?.(params)));
  }

  /** Calls a function, given as its source, in a browsing context; what it returns, or its promise gives, as a string. */
  async call(context, source, ...values) {
    const {result, exceptionDetails} = await this.send("script.callFunction", {
      functionDeclaration: source,
      arguments: values.map((value) => ({type: "string", value})),
      target: {context},
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(`in the browser: ${exceptionDetails.text}`);
    return result.value;
  }

  #received(message) {
    if (message.type === "event") {
      this.#listeners.get(message.method)?.(message.params);
      return;
    }
    const {resolve, reject} = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === "success") resolve(message.result);
    else reject(new Error(`${message.error}: ${message.message}`));
  }

  #lost() {
    this.connected = false;
    for (const {reject} of this.#waiting.values()) reject(new Error("the browser has gone"));
  }
}
