// h123's node:quic: a server and a client for HTTP/3.
import { run, Unsupported } from "./peer/command.mjs";
import { drive } from "./peer/drive.mjs";
import { dialler } from "./connect.mjs";
import { serve } from "./serve.mjs";

function only3(protocol) {
  if (protocol !== "h3") throw new Unsupported(`no ${protocol}: h3`);
}

run({
  serve: {
    options: ["address", "port", "protocol", "cert", "key", "congestion"],
    start: (asked) => {
      only3(asked.protocol);
      return serve(asked);
    },
  },
  drive: {
    options: ["workload", "samples", "facts", "congestion"],
    start: (asked) =>
      drive(asked, (protocol) => {
        only3(protocol);
        return dialler(asked.congestion);
      }),
  },
});
