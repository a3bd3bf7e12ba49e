// A service on Node's own http2 with limits that people set or leave at Node's defaults: of streams, of windows for
// uploads, of TLS records. GET /N answers with N bytes.
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { parseArgs } from "node:util";

const text = { type: "string" };
const { streams, window, record } = parseArgs({ options: { streams: text, window: text, record: text } }).values;
const settings = {
  ...(streams && { maxConcurrentStreams: Number(streams) }),
  ...(window && { initialWindowSize: Number(window) }),
};
const files = { cert: readFileSync("cert.pem"), key: readFileSync("key.pem") };
const server = createSecureServer({ ...files, settings }, (request, response) => {
  request.resume();
  request.on("end", () => response.end("x".repeat(Number(request.url.slice(1)) || 1)));
});
if (window) server.on("session", (session) => session.setLocalWindowSize(Number(window)));
if (record) server.on("secureConnection", (socket) => socket.setMaxSendFragment(Number(record)));
server.listen(8443);
