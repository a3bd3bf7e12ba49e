// A server on Node.js that keeps the contract, and takes time for a reason that was chosen, as `h123-hostile made` does:
// other writes, and other windows, for the same reasons.
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { pieces } from "../../../subjects/node/peer/block.mjs";
import { count, send } from "../../../subjects/node/peer/bodies.mjs";
import { route } from "../../../subjects/node/peer/routes.mjs";
import { pinned } from "../../../subjects/node/peer/tls.mjs";

const text = (value = "") => ({ type: "string", default: value });
const flag = { type: "boolean", default: false };
const { values: asked } = parseArgs({
  options: {
    address: text(), port: text(), protocol: text(), cert: text(), key: text(), tls: text("1.3"),
    think: text("0ms"), "think-most": text("0ms"), pause: text("0ms"), "think-every": text("1"),
    "head-first": flag, chunked: flag, piece: text("0"), pieces: text(String(2 ** 30)), nagle: flag,
    window: text(String(15 << 20)), "stream-window": text(String(6 << 20)), streams: text("1000"),
  },
});
const ms = (name) => parseFloat(asked[name]);
const limit = { piece: Number(asked.piece), pieces: Number(asked.pieces) };

// Throws fall the same way in each process, so that a trial can be carried out again.
let state = 1;
function below(n) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state / 2 ** 32) * n;
}

async function think() {
  if (ms("think") > 0 && below(Number(asked["think-every"])) < 1) {
    await sleep(ms("think") + below(Math.max(ms("think-most") - ms("think"), 0)));
  }
}

async function answer(request, response) {
  for (const one of [request, response]) one.on("error", () => {});
  const { status, bytes, text, upload } = route(request.method, request.url);
  if (upload) {
    const received = await new Promise((done) => count(request, done));
    await think();
    response.end(String(received));
    return;
  }
  request.resume();
  if (bytes === undefined) {
    response.writeHead(status).end(text);
    return;
  }
  await think();
  response.writeHead(status, asked.chunked ? {} : { "content-length": bytes });
  if (request.method === "HEAD") response.end();
  else if (limit.piece || asked["head-first"]) await inPieces(response, bytes);
  else send(response, bytes);
}

/** Sends a body as it comes. */
async function inPieces(response, bytes) {
  const body = Buffer.concat([...pieces(bytes)]);
  if (asked["head-first"]) response.flushHeaders();
  let sent = 0;
  for (let n = 0; limit.piece && n < limit.pieces && sent < bytes; n++) {
    if (n > 0 || asked["head-first"]) await sleep(ms("pause"));
    response.write(body.subarray(sent, (sent += limit.piece)));
  }
  if (limit.piece && sent < bytes) await sleep(ms("pause"));
  response.end(body.subarray(sent));
}

const tls = { ...pinned(asked.protocol), cert: readFileSync(asked.cert), key: readFileSync(asked.key), noDelay: !asked.nagle };
const versions = { minVersion: `TLSv${asked.tls}`, maxVersion: `TLSv${asked.tls}` };
function listener() {
  if (asked.protocol === "h1") {
    return createServer({ ...tls, ...versions, keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 }, answer);
  }
  const settings = { initialWindowSize: Number(asked["stream-window"]), maxConcurrentStreams: Number(asked.streams) };
  return createSecureServer({ ...tls, ...versions, settings, maxSessionMemory: 1000 }, answer)
    .on("session", (session) => session.setLocalWindowSize(Number(asked.window)))
    .on("sessionError", () => {});
}
const server = listener();
if (asked.nagle) server.on("secureConnection", (socket) => socket.setNoDelay(false));
server.listen(Number(asked.port), asked.address);
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => process.exit(0));
