// HTTP/1.1 by node:https, one connection at a time.
import { Agent, request } from "node:https";

import { send } from "../peer/bodies.mjs";
import { now } from "../peer/clock.mjs";
import { ProtocolError } from "../peer/failures.mjs";
import { named } from "../peer/workload.mjs";
import { secure } from "./secure.mjs";

export async function dial(workload, signal) {
  return new Http1(await secure(workload, signal));
}

class Http1 {
  #socket;
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor({ socket, ready, tls }) {
    Object.assign(this, { ready, tls });
    this.#socket = socket;
    socket.on("error", () => {}); // the request under way hears of it
    // The agent is to use this connection and no other: one of its own would not be in the rows.
    this.#agent.createConnection = () => socket;
  }

  get usable() {
    return this.#socket.writable && !this.#socket.readableEnded;
  }

  close() {
    this.#socket.destroy();
  }

  request(workload, sample, signal) {
    const { method, host, path, upload_bytes: upload } = workload;
    return new Promise((resolve, reject) => {
      const headers = { host, ...named(workload, sample.number) };
      if (upload > 0) headers["content-length"] = upload;
      const asking = request({ agent: this.#agent, method, path, headers, signal });
      asking.on("error", (error) => {
        this.#socket.destroy(); // what is left of the answer would meet the next request
        reject(error);
      });
      asking.on("finish", () => sample.written());
      // Node hands the connection over, and lets go of the request.
      asking.on("upgrade", (response) => {
        sample.status = response.statusCode;
        this.#socket.destroy();
        reject(new ProtocolError(`status ${response.statusCode}`));
      });
      asking.on("response", (response) => {
        sample.firstByte = now();
        sample.status = response.statusCode;
        response.on("data", (chunk) => sample.take(chunk));
        response.on("end", resolve);
        response.on("error", reject);
      });
      send(asking, upload, (taken) => (sample.up += taken));
    });
  }
}
