// The server: one protocol on one port.
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";

import { answerMessage, answerStream } from "./peer/answers.mjs";
import { Unsupported, untilStopped } from "./peer/command.mjs";
import { pinned } from "./peer/tls.mjs";
import { CONNECTION_WINDOW, HTTP2_MEMORY, MAX_STREAMS, STREAM_WINDOW } from "./peer/windows.mjs";

const servers = { h1: http1, h2: http2 };

export function serve({ address, port, protocol, cert, key }) {
  const server = servers[protocol]?.({ ...pinned(protocol), cert, key });
  if (!server) throw new Unsupported(`no ${protocol}: h1 and h2`);
  server.listen(Number(port), address);
  return untilStopped();
}

function http1(tls) {
  // Node would end idle connections after 5 s and slow uploads after 5 minutes.
  const patience = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };
  return createServer({ ...tls, ...patience }, answerMessage);
}

function http2(tls) {
  const settings = { initialWindowSize: STREAM_WINDOW, maxConcurrentStreams: MAX_STREAMS };
  return createSecureServer({ ...tls, allowHTTP1: false, settings, maxSessionMemory: HTTP2_MEMORY })
    .on("session", (session) => session.setLocalWindowSize(CONNECTION_WINDOW))
    .on("stream", answerStream)
    .on("sessionError", () => {}); // a client that breaks off ends its own session only
}
