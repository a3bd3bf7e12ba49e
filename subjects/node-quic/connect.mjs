// The client's connections.
import { connect } from "node:quic";

import { pieces } from "./peer/block.mjs";
import { now } from "./peer/clock.mjs";
import { aborted } from "./peer/deadline.mjs";
import { ProtocolError } from "./peer/failures.mjs";
import { CONNECTION_WINDOW, STREAM_WINDOW } from "./peer/windows.mjs";
import { named } from "./peer/workload.mjs";

const PIECE = 16 << 10; // as in the server

/** What dials with a congestion controller. */
export function dialler(congestion) {
  return async (workload, signal) => {
    const { host, address, port, trusted, timeout_ns: timeout } = workload;
    const session = await connect(`${address}:${port}`, {
      servername: host,
      ca: [trusted],
      alpn: "h3",
      cc: congestion,
      groups: "X25519:P-256",
      endpoint: { address: "0.0.0.0:0" }, // the default is the loopback interface
      reuseEndpoint: false,
      handshakeTimeout: Math.ceil(timeout / 1e6),
      maxStreamWindow: STREAM_WINDOW,
      maxWindow: CONNECTION_WINDOW,
      transportParams: {
        initialMaxStreamDataBidiLocal: STREAM_WINDOW,
        initialMaxData: CONNECTION_WINDOW,
        maxIdleTimeout: 120_000,
      },
    });
    session.onerror = () => {}; // the requests under way hear of it
    try {
      const info = await Promise.race([session.opened, aborted(signal)]);
      return new Http3(session, now(), info, congestion);
    } catch (error) {
      session.destroy();
      throw error;
    }
  };
}

class Http3 {
  #session;

  constructor(session, ready, { cipher, protocol }, congestion) {
    this.#session = session;
    this.ready = ready;
    this.congestion = congestion;
    this.tls = { version: "1.3", cipher, key_exchange: "", alpn: protocol };
  }

  get usable() {
    return !this.#session.destroyed && !this.#session.closing;
  }

  close() {
    this.#session.destroy();
  }

  async request(workload, sample, signal) {
    const { method, host, path, upload_bytes: upload } = workload;
    const fields = { ":method": method, ":scheme": "https", ":authority": host, ":path": path };
    const headers = { ...fields, ...named(workload, sample.number) };
    if (upload > 0) headers["content-length"] = String(upload);
    let length;
    const stream = await this.#session.createBidirectionalStream({
      onheaders: (answer) => {
        sample.firstByte = now();
        sample.status = Number(answer[":status"]);
        length = answer["content-length"];
      },
    });
    stream.onerror = () => {}; // reading it throws
    stream.sendHeaders(headers, { terminal: upload === 0 });
    if (upload > 0) stream.setBody(counted(upload, sample));
    const giveUp = () => stream.destroy(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    for await (const chunks of stream) for (const chunk of chunks) sample.take(chunk);
    signal.removeEventListener("abort", giveUp);
    // A connection that is closed amid an answer looks like the answer's end.
    if (length !== undefined && Number(length) !== sample.down) throw new ProtocolError(`${sample.down} of ${length} bytes`);
  }
}

function* counted(bytes, sample) {
  for (const piece of pieces(bytes, PIECE)) {
    yield piece;
    sample.up += piece.length;
  }
}
