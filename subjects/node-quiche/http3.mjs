// HTTP/3 for Node.js with the interface of node:http2's server: sessions, and streams that are Duplexes with `respond`.
// What is below is native (addon/): quiche, its UDP socket and its timers, in a thread of their own.
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { Duplex } from "node:stream";

const { Endpoint } = createRequire(import.meta.url)("./h123_quiche.node");

const NO_ERROR = 0x100;
const INTERNAL_ERROR = 0x102;
const HIGH_WATER_MARK = 256 << 10;

/** Of sessions and streams: what the native side has to say about them. */
const hear = Symbol("hear");

/**
 * A server. Options: cert, key (PEM files), groups, congestion (cubic, reno, bbr), initialWindow (packets), streamWindow,
 * connectionWindow, maxStreams, qlog (a folder). `onStream` listens to the event `stream`.
 */
export function createServer(options, onStream) {
  const server = new Http3Server(options);
  return onStream ? server.on("stream", onStream) : server;
}

/** Events: `session` (session), `stream` (stream, headers). */
export class Http3Server extends EventEmitter {
  #options;
  #endpoint = null;
  #sessions = new Map();

  constructor(options) {
    super();
    this.#options = options;
  }

  /** Listens; throws if it cannot. */
  listen(port, address) {
    const deliver = (events) => events.forEach((event) => this.#deliver(event));
    this.#endpoint = new Endpoint({ ...this.#options, port, address }, deliver);
    return this;
  }

  /** Closes all sessions and the socket. */
  close() {
    this.#endpoint?.close();
  }

  #deliver(event) {
    if (event.type === "session") this.#begin(event);
    else this.#sessions.get(event.session)?.[hear](event);
  }

  #begin({ session: id, address, port }) {
    const session = new Http3Session(this.#endpoint, id, address, port);
    this.#sessions.set(id, session);
    session.once("close", () => this.#sessions.delete(id));
    session.on("stream", (stream, headers) => this.emit("stream", stream, headers));
    this.emit("session", session);
  }
}

/**
 * A client's connection. Events: `secureConnect` ({resumed, early}), `stream` (stream, headers), `migrate` (address, port),
 * `packetLoss` (packets), `error`, `close`.
 */
export class Http3Session extends EventEmitter {
  #endpoint;
  #id;
  #streams = new Map();

  constructor(endpoint, id, address, port) {
    super();
    this.#endpoint = endpoint;
    this.#id = id;
    this.remoteAddress = address;
    this.remotePort = port;
  }

  close() {
    this.#endpoint.closeSession(this.#id);
  }

  [hear](event) {
    switch (event.type) {
      case "secure":
        return this.emit("secureConnect", { resumed: event.resumed, early: event.early });
      case "stream":
        return this.#begin(event);
      case "migrate":
        return this.#move(event);
      case "packetLoss":
        return this.emit("packetLoss", event.packets);
      case "close":
        return this.#end(event);
      default:
        return this.#streams.get(event.stream)?.[hear](event);
    }
  }

  #begin({ stream: id, fields, last }) {
    const stream = new Http3Stream(this, new Handle(this.#endpoint, this.#id, id), last);
    this.#streams.set(id, stream);
    stream.once("close", () => this.#streams.delete(id));
    this.emit("stream", stream, headersOf(fields));
  }

  #move({ address, port }) {
    this.remoteAddress = address;
    this.remotePort = port;
    this.emit("migrate", address, port);
  }

  #end({ error }) {
    for (const stream of this.#streams.values()) stream.destroy(new Error(error ?? "the session was closed"));
    if (error && this.listenerCount("error") > 0) this.emit("error", new Error(error));
    this.emit("close");
  }
}

/** A stream of the native side. */
class Handle {
  #endpoint;
  #name;

  constructor(endpoint, session, stream) {
    this.#endpoint = endpoint;
    this.#name = [session, stream];
  }

  respond = (fields, last) => this.#endpoint.respond(...this.#name, fields, last);
  write = (data) => this.#endpoint.write(...this.#name, data);
  end = () => this.#endpoint.end(...this.#name);
  read = () => this.#endpoint.read(...this.#name);
  reset = (code) => this.#endpoint.reset(...this.#name, code);
}

/** A request and its response. */
export class Http3Stream extends Duplex {
  #handle;
  #whole; // the request has no body
  #drained = null; // what to call when the native side has room again
  #responded = false;

  constructor(session, handle, whole) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.session = session;
    this.#handle = handle;
    this.#whole = whole;
  }

  /** Sends the response's header; its body is what is written then. */
  respond(headers, { endStream = false } = {}) {
    this.#responded = true;
    this.#handle.respond(fieldsOf(headers), endStream);
    if (endStream) this.end();
  }

  /** Gives the stream up, with a code of HTTP/3. */
  close(code = NO_ERROR) {
    this.#handle.reset(code);
    this.destroy();
  }

  [hear](event) {
    switch (event.type) {
      case "data":
        return this.push(event.data);
      case "end":
        return this.push(null);
      case "drain":
        return this.#drain();
      case "reset":
        return this.destroy(Object.assign(new Error("the client gave the stream up"), { code: event.code }));
    }
  }

  #drain() {
    const drained = this.#drained;
    this.#drained = null;
    drained?.();
  }

  _read() {
    if (this.#whole) this.push(null);
    else this.#handle.read();
  }

  _write(chunk, _encoding, done) {
    if (!this.#responded) this.respond({ ":status": 200 });
    this.#drained = done;
    this.#handle.write(chunk);
  }

  _final(done) {
    if (!this.#responded) this.respond({ ":status": 200 });
    this.#handle.end();
    done();
  }

  _destroy(error, done) {
    if (!this.writableFinished || !this.readableEnded) this.#handle.reset(INTERNAL_ERROR);
    done(error);
  }
}

/** Names and values in turn, as an object; a name that comes twice has its values joined. */
function headersOf(fields) {
  const headers = Object.create(null);
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = fields.slice(at, at + 2);
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

function fieldsOf(headers) {
  return Object.entries(headers).flatMap(([name, value]) => [name, String(value)]);
}
