// What one of autocannon's clients does, as samples. A client is a user with a connection of its own.
import { now } from "./peer/clock.mjs";
import { classify, ProtocolError } from "./peer/failures.mjs";
import { Sample } from "./peer/samples.mjs";
import { describe } from "./peer/tls.mjs";

const HEADER = 2 ** 18; // bytes; servers' own limits are smaller
const UNTOLD = 2 ** 24; // bytes of an answer beyond what its header promised, framing included: more is no answer

export class Tap {
  connections = [];
  #client;
  #user;
  #workload;
  #samples = [];
  #pending = null; // the request under way
  #given = null; // the one that autocannon gave up when it began that one

  constructor(client, user, workload) {
    this.#client = client;
    this.#user = user;
    this.#workload = workload;
    client.on("request", () => this.#begin());
    client.on("headers", (head) => this.#head(head));
    client.on("response", () => this.#end());
    client.on("connError", (error) => this.#fail(this.#pending, classify(error)));
    client.on("timeout", () => this.#fail(this.#given ?? this.#pending, "timeout"));
  }

  /** All samples, when the client is done. */
  finish() {
    this.#fail(this.#pending, "reset");
    return this.#samples;
  }

  #begin() {
    this.#given = this.#pending;
    this.#fail(this.#pending, "reset"); // or `timeout`, of which autocannon tells after this
    const phase = this.#samples.length < this.#workload.warmup ? "warmup" : "warm";
    const sample = new Sample(phase, this.#user, now());
    sample.protocol = "h1";
    sample.expected = 0; // what is left of the last answer may end this one before it has a header
    sample.on = this.#connection();
    sample.reused = sample.on.served++ > 0;
    sample.on.before = sample.on.socket.bytesRead;
    this.#pending = sample;
    this.#samples.push(sample);
  }

  #head({ statusCode, headers }) {
    const sample = this.#pending;
    sample.firstByte = now();
    sample.status = statusCode;
    const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "content-length");
    sample.expected = at < 0 ? 0 : Number(headers[at + 1]);
  }

  #end() {
    const sample = this.#pending;
    this.#pending = null;
    sample.end = now();
    sample.up = this.#workload.upload_bytes; // or there were no answer
    sample.down = sample.expected; // its parser has seen all of it
    if (sample.status < 200 || sample.status > 299) sample.error = `other: status ${sample.status}`;
  }

  #fail(sample, error) {
    if (sample === null) return;
    sample.end ??= now();
    sample.error = error;
    if (sample === this.#pending) this.#pending = null;
  }

  /** What is known of the socket that the client uses. */
  #connection() {
    const socket = this.#client.conn;
    let connection = this.connections.find((known) => known.socket === socket);
    if (!connection) {
      connection = { socket, served: 0, before: 0, tls: null, index: null };
      this.connections.push(connection);
      socket.setNoDelay(true); // as other clients do
      socket.once("secureConnect", () => this.#greet(connection));
      socket.on("data", () => this.#bound(connection));
    }
    return connection;
  }

  /** autocannon keeps all that comes, without an end. */
  #bound({ socket, before }) {
    const sample = this.#pending;
    const most = sample?.firstByte ? sample.expected + UNTOLD : HEADER;
    if (socket.bytesRead - before <= most) return;
    const error = new ProtocolError("an answer longer than it said");
    this.#fail(sample, classify(error)); // autocannon tells of it when it has dialled again
    socket.destroy(error);
  }

  /** autocannon trusts everybody; this does not. */
  #greet(connection) {
    const { socket } = connection;
    const alpn = socket.alpnProtocol || ""; // none: the server takes no part in ALPN, and speaks HTTP/1.1
    connection.tls = { ...describe(socket), alpn };
    if (!socket.authorized) socket.destroy(Object.assign(new Error("untrusted"), { code: socket.authorizationError }));
    else if (alpn && alpn !== "http/1.1") socket.destroy(new ProtocolError(`negotiated ${alpn}`));
  }
}
