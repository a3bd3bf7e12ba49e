// Chromium does not say why a QUIC handshake has failed; the kernel says whether this host was told that nobody listens.
import {readFileSync} from "node:fs";

/** How many ICMP messages "destination unreachable" this host has received. */
function received() {
  const [names, values] = readFileSync("/proc/net/snmp", "utf8").split("\n").filter((line) => line.startsWith("Icmp:"));
  return Number(values.split(" ")[names.split(" ").indexOf("InDestUnreachs")]);
}

const atStart = received();

/** Whether one has come since this program started. */
export function unreachable() {
  return received() > atStart;
}
