// Answers to requests as Node presents them: messages of HTTP/1.1, streams of HTTP/2 (and of whatever has their interface).
import { count, send } from "./bodies.mjs";
import { route } from "./routes.mjs";

/** Answers a request of node:https. */
export function answerMessage(request, response) {
  request.on("error", ignore);
  response.on("error", ignore);
  answer(request.method, request.url, request, (status, headers) => {
    response.writeHead(status, headers);
    return response;
  });
}

/** Answers a stream of node:http2. */
export function answerStream(stream, headers) {
  stream.on("error", ignore);
  answer(headers[":method"], headers[":path"], stream, (status, fields) => {
    stream.respond({ ":status": status, ...fields });
    return stream;
  });
}

/** A client that goes away ends its own request, not the server. */
function ignore() {}

function answer(method, path, body, respond) {
  const { status, bytes, text, upload } = route(method, path);
  const reply = (words) => begin(Buffer.byteLength(words), "text/plain").end(method === "HEAD" ? undefined : words);
  const begin = (length, type) => respond(status, { "content-type": type, "content-length": length });
  if (upload) {
    count(body, (received) => reply(String(received)));
    return;
  }
  body.resume();
  if (bytes === undefined) reply(text);
  else if (method === "HEAD") begin(bytes, "application/octet-stream").end();
  else send(begin(bytes, "application/octet-stream"), bytes);
}
