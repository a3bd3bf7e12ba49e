// The browser: which program, with which flags, in which profile.
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";

import puppeteer from "puppeteer-core";

import {onPath} from "../browser/program.mjs";
import {trust} from "../browser/trust.mjs";
import {Profile} from "./profile.mjs";
import {Tab} from "./tab.mjs";

const PROTOCOL_FLAGS = {
  h1: () => ["--disable-quic", "--disable-http2"],
  h2: () => ["--disable-quic"],
  // Forced, so that no request goes over TCP first to learn of HTTP/3; this also lets QUIC trust a CA of one's own.
  h3: ({host, port}) => ["--enable-quic", `--origin-to-force-quic-on=${host}:${port}`],
  // As users have it. QUIC trusts a CA of one's own at hosts of which some port is forced: here one that nobody asks.
  "h3-or-h2": ({host, port}) => [`--origin-to-force-quic-on=${host}:${port === 1 ? 2 : 1}`],
};

// No connection before a request asks for it: it would hide the handshake.
const PREFERENCES = {net: {network_prediction_options: 2}};

/** Starts Chromium in a profile that has never seen the server; `close` ends it and removes the profile. See main. */
export async function launch(workload) {
  const home = mkdtempSync(join(tmpdir(), "h123-chromium-"));
  trust(join(home, ".pki", "nssdb"), workload.ca);
  const profile = join(home, "profile");
  mkdirSync(join(profile, "Default"), {recursive: true});
  writeFileSync(join(profile, "Default", "Preferences"), JSON.stringify(PREFERENCES));
  const browser = await puppeteer.launch({
    executablePath: onPath("chromium"),
    userDataDir: profile,
    env: {...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home},
    pipe: true,
    // Puppeteer would listen to the network too, and with it pay for every event twice.
    networkEnabled: false,
    protocolTimeout: 0,
    args: flags(workload),
  });
  const [name, version] = (await browser.version()).split("/");
  return {
    name,
    version,
    notes: [],
    alive: () => browser.connected,
    kill: () => kill(browser.process()),
    openProfile: async () => new Profile(await browser.createBrowserContext()),
    openTab: (origin, document) => Tab.open(browser, origin, document),
    close: async () => {
      await browser.close();
      kill(browser.process());
      rmSync(home, {recursive: true, force: true, maxRetries: 5});
    },
  };
}

/** Ends the program and all that it has started: a page's process that stands still would keep our pipes open. */
function kill(program) {
  try {
    process.kill(-program.pid, "SIGKILL"); // Puppeteer starts it in a group of its own
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

function flags(workload) {
  const {host, port, address, protocol, tls, lookup} = workload;
  return [
    ...PROTOCOL_FLAGS[protocol](workload),
    ...(tls ? [`--ssl-version-min=tls${tls}`, `--ssl-version-max=tls${tls}`] : []),
    // Looked up or not, it is the only server.
    `--host-resolver-rules=${lookup ? `EXCLUDE ${host}` : `MAP ${host} ${address}`}, MAP * ~NOTFOUND`,
    `--explicitly-allowed-ports=${port}`, // whichever it is
    "--no-sandbox", // the lab's hosts have one user, root
    "--disable-gpu",
    "--disable-component-update",
  ];
}
