// h123's client on autocannon, which makes the requests; what happens to them is read off its clients' events.
import autocannon from "autocannon";

import { pieces } from "./peer/block.mjs";
import { run, Unsupported } from "./peer/command.mjs";
import { facts, writeFacts } from "./peer/facts.mjs";
import { summary, writeSamples } from "./peer/samples.mjs";
import { pinned } from "./peer/tls.mjs";
import { readWorkload } from "./peer/workload.mjs";
import { Tap } from "./tap.mjs";

async function drive(files) {
  const workload = readWorkload(files.workload);
  check(workload);
  const taps = [];
  await autocannon({
    ...asked(workload),
    setupClient: (client) => taps.push(new Tap(client, taps.length, workload)),
  });
  const samples = taps.flatMap((tap) => tap.finish()).sort((a, b) => Number(a.end - b.end));
  const connections = taps.flatMap((tap) => tap.connections).filter((connection) => connection.tls);
  connections.forEach((connection, index) => (connection.index = index));
  samples.forEach((sample) => (sample.connection = sample.on.index));
  writeSamples(files.samples, samples);
  writeFacts(files.facts, facts(connections));
  console.error(summary(samples));
}

function check({ protocol, rate, cold, connections, headers }) {
  if (headers.length > 0) throw new Unsupported("no headers of a workload's own");
  if (protocol !== "h1") throw new Unsupported(`no ${protocol}: autocannon speaks HTTP/1.1 only`);
  if (rate !== null) throw new Unsupported("no open loop");
  if (cold) throw new Unsupported("no cold requests");
  if (Number.isInteger(connections)) throw new Unsupported("no other number of connections than users");
}

/** The workload in autocannon's words. */
function asked(workload) {
  const { address, port, path, host, method, users, warmup, requests, upload_bytes: upload } = workload;
  return {
    url: `https://${address}:${port}${path}`,
    method,
    headers: { host, "user-agent": "h123" },
    body: upload > 0 ? Buffer.concat([...pieces(upload)]) : undefined,
    connections: users,
    amount: users * (warmup + requests),
    timeout: workload.timeout_ns / 1e9,
    servername: host,
    tlsOptions: { ...pinned("h1"), ca: workload.trusted },
    sampleInt: 100, // it looks so often, in ms, whether all is done
  };
}

run({ drive: { options: ["workload", "samples", "facts"], start: drive } });
