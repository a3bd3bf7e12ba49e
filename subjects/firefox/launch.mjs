// The browser: which program, with which preferences, in which profile.
import {spawn} from "node:child_process";
import {once} from "node:events";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";

import {onPath} from "../browser/program.mjs";
import {trust} from "../browser/trust.mjs";
import {Bidi} from "./bidi.mjs";
import {monotonicOffset} from "./clock.mjs";
import {Profile} from "./profile.mjs";
import {Tab} from "./tab.mjs";

const WATCHER = readFileSync(new URL("watcher.js", import.meta.url), "utf8");

const PROTOCOL_PREFERENCES = {
  h1: () => ({"network.http.http2.enabled": false, "network.http.http3.enable": false}),
  h2: () => ({"network.http.http3.enable": false}),
  h3: ({host, port}) => ({
    "network.http.http3.enable": true,
    // As if an earlier answer had told of HTTP/3, so that no request goes over TCP to learn of it.
    "network.http.http3.alt-svc-mapping-for-testing": `${host};h3=:${port}`,
    "network.http.http3.disable_when_third_party_roots_found": false, // ours is one
    "network.http.happy_eyeballs_enabled": false, // no race with TCP
  }),
  // As users have it, but for whom it trusts.
  "h3-or-h2": () => ({"network.http.http3.disable_when_third_party_roots_found": false}),
};

const PREFERENCES = {
  // No connection before a request asks for it, and no second one beside it.
  "network.http.speculative-parallel-limit": 0,
  "network.http.connection-retry-timeout": 0,
  "network.dns.disablePrefetch": true,
  "network.prefetch-next": false,
  // All tabs count alike, whichever is in front.
  "network.http.active_tab_priority": false,
  "network.http.throttle.enable": false,
  "dom.min_background_timeout_value": 4,
  "privacy.reduceTimerPrecision": false,
  // Nothing is asked for that no page asks for.
  "browser.chrome.site_icons": false,
  "network.predictor.enabled": false,
  // Nobody to ask about revocation.
  "security.OCSP.enabled": 0,
  "network.trr.mode": 5,
  "browser.shell.checkDefaultBrowser": false,
  "browser.sessionstore.resume_from_crash": false,
  "datareporting.policy.dataSubmissionEnabled": false,
};

// The server has an address of each IP version: a second connection tries the other one, as soon as by default.
const HAPPY_EYEBALLS = {"network.http.connection-retry-timeout": 250};

const TLS_NUMBERS = {"1.2": 3}; // as Firefox counts versions

/** Starts Firefox in a profile that has never seen the server; `close` ends it and removes the profile. See main. */
export async function launch(workload) {
  const home = mkdtempSync(join(tmpdir(), "h123-firefox-"));
  const profile = join(home, "profile");
  mkdirSync(profile);
  trust(profile, workload.ca);
  writeFileSync(join(profile, "user.js"), userJs({
    ...PREFERENCES,
    ...PROTOCOL_PREFERENCES[workload.protocol](workload),
    ...(workload.tls ? tlsPreferences(TLS_NUMBERS[workload.tls]) : {}),
    ...(workload.address === workload.host ? HAPPY_EYEBALLS : {}),
    ...(workload.lookup ? {} : {"network.dns.forceResolve": workload.address}),
    "network.security.ports.banned.override": String(workload.port), // whichever it is
  }));
  const program = spawn(
    onPath("firefox-esr", "firefox"),
    ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "--remote-allow-system-access"],
    {env: {...process.env, HOME: home, MOZ_CRASHREPORTER_DISABLE: "1"}, stdio: ["ignore", "ignore", "pipe"]},
  );
  const bidi = await Bidi.connect(await address(program));
  const window = await watch(bidi, workload.host);
  const {capabilities} = bidi;
  const offset = monotonicOffset();
  const watched = async () => JSON.parse(await bidi.call(window, "() => h123Seen()"));
  if (workload.kind === "page") await bidi.send("session.subscribe", {events: ["browsingContext.domContentLoaded", "browsingContext.load"]});
  let opened = 0;
  return {
    name: "Firefox",
    version: capabilities.browserVersion,
    notes: [],
    alive: () => bidi.connected,
    kill: () => kill(program),
    openProfile: () => Profile.open(bidi, {window, offset}),
    openTab: async (origin, document) => {
      const tab = await Tab.open(bidi, opened++, origin, document);
      return {perform: (order) => tab.perform(order), record: async (n) => tab.record(n, await watched(), offset)};
    },
    close: async () => {
      const ended = once(program, "exit");
      await bidi.send("browser.close", {});
      await ended;
      kill(program);
      rmSync(home, {recursive: true, force: true, maxRetries: 5});
    },
  };
}

/** Ends the program, if it has not ended, and forgets its pipe: a page's process that stands still would keep it open. */
function kill(program) {
  program.kill("SIGKILL");
  program.stderr.destroy();
}

function tlsPreferences(number) {
  return {"security.tls.version.min": number, "security.tls.version.max": number};
}

function userJs(preferences) {
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
  return lines.join("");
}

/** Where the browser listens, as it says itself. */
async function address(program) {
  const said = [];
  for await (const line of createInterface({input: program.stderr})) {
    const found = /WebDriver BiDi listening on (ws:\S+)/.exec(line);
    if (found) {
      program.stderr.resume();
      return found[1];
    }
    said.push(line);
  }
  throw new Error(`Firefox ended: ${said.slice(-5).join(" / ")}`);
}

/** Installs watcher.js in the browser's own window, and gives that. */
async function watch(bidi, host) {
  const {contexts: [window]} = await bidi.send("browsingContext.getTree", {"moz:scope": "chrome"});
  await bidi.call(window.context, WATCHER, host);
  return window.context;
}
