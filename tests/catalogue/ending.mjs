// ending.mjs close|rotate CERT KEY: HTTP/1.1 that closes each connection after its answer, or HTTP/2 whose connections
// take 20 requests each.
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";

const [how, cert, key] = process.argv.slice(2);
const taken = new Map();
const server = createSecureServer({ cert: readFileSync(cert), key: readFileSync(key), allowHTTP1: true }, (request, response) => {
  if (request.httpVersionMajor === 1) {
    response.setHeader("connection", "close");
  } else {
    const session = request.stream.session;
    taken.set(session, (taken.get(session) ?? 0) + 1);
    if (how === "rotate" && taken.get(session) === 20) session.close(); // GOAWAY without an error
  }
  response.end("x".repeat(1000));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
