// `falls-silent.mjs h1|h2 never|midway`: over one protocol it answers 12 requests, then no more, or only with a head.
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";

const cert = readFileSync("cert.pem"), key = readFileSync("key.pem");
const [silent, how] = process.argv.slice(2);
let left = 12;
createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
  const here = request.httpVersionMajor === (silent === "h1" ? 1 : 2);
  if (!here || left-- > 0) return response.end("x".repeat(1000));
  if (how === "midway") response.write("x".repeat(500));
}).listen(8443);
