// h123's server for Node.js with quiche: HTTP/3 through the addon, everything above it as in HTTP/2.
import { createServer } from "./http3.mjs";
import { answerStream } from "./peer/answers.mjs";
import { run, Unsupported, untilStopped } from "./peer/command.mjs";
import { CONNECTION_WINDOW, MAX_STREAMS, STREAM_WINDOW } from "./peer/windows.mjs";

async function serve({ address, port, protocol, cert, key, congestion, qlog, "initial-window": window }) {
  if (protocol !== "h3") throw new Unsupported(`no ${protocol}: h3`);
  const server = createServer(
    {
      cert,
      key,
      groups: "X25519:P-256",
      congestion,
      initialWindow: window ? Number(window) : undefined,
      streamWindow: STREAM_WINDOW,
      connectionWindow: CONNECTION_WINDOW,
      maxStreams: MAX_STREAMS,
      qlog: qlog || undefined,
    },
    answerStream,
  );
  server.listen(Number(port), address);
  await untilStopped();
  server.close();
}

run({ serve: { options: ["address", "port", "protocol", "cert", "key", "congestion", "initial-window", "qlog"], start: serve } });
