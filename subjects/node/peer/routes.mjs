// What a server of the contract answers.

/** The answer to a request: its status and either `bytes` of the block, a `text`, or `upload`: the request's length. */
export function route(method, path) {
  const reading = method === "GET" || method === "HEAD";
  const asked = reading && /^\/bytes\/(\d{1,11})$/.exec(path);
  if (asked) return { status: 200, bytes: Number(asked[1]) };
  if (reading && path === "/health") return { status: 200, text: "ok\n" };
  if (method === "POST" && path === "/upload") return { status: 200, upload: true };
  return { status: 404, text: "not found\n" };
}
