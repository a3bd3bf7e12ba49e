// The server.
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { listen } from "node:quic";

import { pieces } from "./peer/block.mjs";
import { untilStopped } from "./peer/command.mjs";
import { route } from "./peer/routes.mjs";
import { CONNECTION_WINDOW, MAX_STREAMS, STREAM_WINDOW } from "./peer/windows.mjs";

const PATIENCE = 120_000; // ms of silence
const PIECE = 16 << 10; // Bun copies what is left of a piece whenever it sends some: 256 kB at once are ten times slower

export async function serve({ address, port, cert, key, congestion }) {
  const identity = { keys: [createPrivateKey(readFileSync(key))], certs: [readFileSync(cert)] };
  await listen(greet, {
    endpoint: { address: `${address}:${port}`, sessionCreationRate: 1e6, sessionCreationBurst: 1e6 },
    sni: { "*": identity },
    alpn: ["h3"],
    cc: congestion,
    groups: "X25519:P-256",
    maxStreamWindow: STREAM_WINDOW,
    maxWindow: CONNECTION_WINDOW,
    streamIdleTimeout: 0,
    transportParams: {
      initialMaxStreamDataBidiRemote: STREAM_WINDOW,
      initialMaxData: CONNECTION_WINDOW,
      initialMaxStreamsBidi: MAX_STREAMS,
      maxIdleTimeout: PATIENCE,
    },
    onheaders: answer,
  });
  await untilStopped();
}

function greet(session) {
  session.onstream = () => {}; // `answer` has the stream, but without this Bun resets it
  session.onerror = () => {}; // a client that breaks off ends its own session only
}

/** Answers a request; `this` is its stream. */
function answer(headers) {
  this.onerror = () => {};
  const { status, bytes, text, upload } = route(headers[":method"], headers[":path"]);
  const respond = (length, type, body) => {
    const head = headers[":method"] === "HEAD";
    const fields = { ":status": String(status), "content-type": type, "content-length": String(length) };
    this.sendHeaders(fields, { terminal: head });
    if (!head) this.setBody(length > 0 ? body : null);
  };
  const reply = (words) => respond(Buffer.byteLength(words), "text/plain", words);
  if (upload) return count(this).then((received) => reply(String(received)));
  if (bytes === undefined) return reply(text);
  return respond(bytes, "application/octet-stream", pieces(bytes, PIECE));
}

async function count(stream) {
  let bytes = 0;
  for await (const chunks of stream) for (const chunk of chunks) bytes += chunk.length;
  return bytes;
}
