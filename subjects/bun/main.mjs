// h123's Bun: a server on Bun.serve.
import { run, Unsupported, untilStopped } from "./peer/command.mjs";
import { route } from "./peer/routes.mjs";

const LARGEST_UPLOAD = 16 * 2 ** 30;

const speaking = {
  h1: {},
  h2: { http1: false, http2: true },
  h3: { http1: false, http3: true },
};

async function serve({ address, port, protocol, cert, key, files }) {
  if (!Object.hasOwn(speaking, protocol)) throw new Unsupported(`no ${protocol}: h1, h2 and h3`);
  const server = Bun.serve({
    ...speaking[protocol],
    hostname: address,
    port: Number(port),
    // No post-quantum share, as with other servers.
    tls: { cert: Bun.file(cert), key: Bun.file(key), ecdhCurve: "X25519:P-256" },
    idleTimeout: 0, // none: it would end quiet connections, and slow downloads with them
    maxRequestBodySize: LARGEST_UPLOAD,
    fetch: (request) => answer(request, files),
  });
  await untilStopped();
  server.stop(true);
}

async function answer(request, files) {
  const path = new URL(request.url).pathname;
  const { status, bytes, text, upload } = route(request.method, path);
  if (upload) return new Response(String(await count(request)));
  if (bytes === undefined) return new Response(text, { status });
  return new Response(request.method === "HEAD" ? null : Bun.file(`${files}/bytes/${bytes}`), {
    headers: { "content-type": "application/octet-stream", "content-length": String(bytes) },
  });
}

async function count(request) {
  let bytes = 0;
  for await (const chunk of request.body ?? []) bytes += chunk.length;
  return bytes;
}

run({ serve: { options: ["address", "port", "protocol", "cert", "key", "files"], start: serve } });
