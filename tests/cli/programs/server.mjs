// A service on Node's own http2, which answers HTTP/1.1 too unless it is told "h2".
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";

const orders = Buffer.alloc(20000, "0123456789");
const files = { cert: readFileSync("cert.pem"), key: readFileSync("key.pem") };
const server = createSecureServer({ ...files, allowHTTP1: process.argv[2] !== "h2" }, (request, response) => {
  response.writeHead(200, { "content-type": "application/octet-stream", "content-length": orders.length });
  response.end(orders);
});
server.listen(8443);
