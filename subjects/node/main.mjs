// h123's Node.js: a server and a client on Node's own https and http2 modules.
import { readFileSync } from "node:fs";

import { connect } from "./client/connect.mjs";
import { run } from "./peer/command.mjs";
import { drive } from "./peer/drive.mjs";
import { serve } from "./serve.mjs";

run({
  serve: {
    options: ["address", "port", "protocol", "cert", "key"],
    start: (asked) => serve({ ...asked, cert: readFileSync(asked.cert), key: readFileSync(asked.key) }),
  },
  drive: {
    options: ["workload", "samples", "facts"],
    start: (asked) => drive(asked, connect),
  },
});
