// HTTP/2 by node:http2.
import { connect } from "node:http2";

import { send } from "../peer/bodies.mjs";
import { now } from "../peer/clock.mjs";
import { CONNECTION_WINDOW, HTTP2_MEMORY, STREAM_WINDOW } from "../peer/windows.mjs";
import { named } from "../peer/workload.mjs";
import { secure } from "./secure.mjs";

export async function dial(workload, signal) {
  return new Http2(workload.host, await secure(workload, signal));
}

class Http2 {
  #session;

  constructor(host, { socket, ready, tls }) {
    Object.assign(this, { ready, tls });
    const settings = { initialWindowSize: STREAM_WINDOW, enablePush: false };
    this.#session = connect(`https://${host}`, {
      createConnection: () => socket,
      settings,
      maxSessionMemory: HTTP2_MEMORY,
    });
    this.#session.on("connect", () => this.#session.setLocalWindowSize(CONNECTION_WINDOW));
    this.#session.on("error", () => {}); // the requests under way hear of it
  }

  get usable() {
    return !this.#session.closed && !this.#session.destroyed;
  }

  close() {
    this.#session.destroy();
  }

  request(workload, sample, signal) {
    const { method, host, path, upload_bytes: upload } = workload;
    return new Promise((resolve, reject) => {
      const fields = { ":method": method, ":path": path, ":authority": host };
      const headers = { ...fields, ...named(workload, sample.number) };
      if (upload > 0) headers["content-length"] = upload;
      const stream = this.#session.request(headers, { endStream: upload === 0, signal });
      const early = () => reject(Object.assign(new Error("closed early"), { code: "ECONNRESET" }));
      let length;
      stream.on("error", reject);
      stream.on("response", (answer) => {
        sample.firstByte = now();
        sample.status = answer[":status"];
        length = answer["content-length"];
      });
      stream.on("data", (chunk) => sample.take(chunk));
      // A connection that is closed amid an answer looks like the answer's end.
      const whole = () => sample.status > 0 && (length === undefined || Number(length) === sample.down);
      stream.on("end", () => (whole() ? resolve() : early()));
      stream.on("close", early);
      if (upload > 0) {
        stream.on("finish", () => sample.written()); // of a request without a body Node does not tell
        send(stream, upload, (taken) => (sample.up += taken));
      }
    });
  }
}
