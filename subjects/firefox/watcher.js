// Runs inside Firefox's own process, with its rights: keeps what the network tells of each request to `host`. Times are
// microseconds since 1970, 0 for what has not been. Evaluated as a function; h123Seen() gives the list as JSON. Of tabs that
// load a page, h123Adopt() finds one and h123News() tells what has become of its requests.
(host) => {
  const seen = new Map(); // by channel: of a failed one the end is announced twice
  const asking = new Map(); // by channel: those under way, where there are such tabs
  const tabs = new Map(); // by number
  const openTabs = () => [...Services.wm.getEnumerator("navigator:browser")].flatMap(({gBrowser}) => [...gBrowser.tabs]);
  const adopted = new Set(openTabs());
  const headersAt = new Map();
  const now = () => Math.round((performance.timeOrigin + performance.now()) * 1000);
  const pairs = [];
  const collect = (name, value) => pairs.push({name, value});

  function headers(channel, visit) {
    pairs.length = 0;
    try {
      channel[visit]({visitHeader: collect});
    } catch {
      // No answer has come.
    }
    return [...pairs];
  }

  function attempt(read, otherwise) {
    try {
      return read();
    } catch {
      return otherwise;
    }
  }

  function tls(channel) {
    const info = channel.securityInfo;
    if (!info) return null;
    const versions = {3: "1.2", 4: "1.3"};
    return {
      version: versions[info.protocolVersion] ?? String(info.protocolVersion),
      cipher: info.cipherName,
      key_exchange: info.keaGroupName.replace("x25519", "X25519"),
    };
  }

  /** The number of the tab that a request belongs to. */
  function tabOf({loadInfo}) {
    const place = loadInfo.targetBrowsingContext ?? loadInfo.frameBrowsingContext ?? loadInfo.browsingContext;
    return place?.browserId ?? null;
  }

  function describe(channel) {
    const timed = channel.QueryInterface(Ci.nsITimedChannel);
    const internal = channel.QueryInterface(Ci.nsIHttpChannelInternal);
    return {
      id: channel.channelId,
      tab: attempt(() => tabOf(channel), null),
      tag: channel.URI.ref,
      url: channel.URI.specIgnoringRef,
      method: channel.requestMethod,
      failure: Components.isSuccessCode(channel.status) ? null : attempt(() => ChromeUtils.getXPCOMErrorName(channel.status), "unknown"),
      status: attempt(() => channel.responseStatus, 0),
      statusText: attempt(() => channel.responseStatusText, ""),
      version: attempt(() => channel.protocolVersion, ""),
      mimeType: attempt(() => channel.contentType, ""),
      localPort: attempt(() => internal.localPort, null),
      address: attempt(() => internal.remoteAddress, null),
      encoded: attempt(() => channel.encodedBodySize, null),
      tls: attempt(() => tls(channel), null),
      requestHeaders: headers(channel, "visitRequestHeaders"),
      responseHeaders: headers(channel, "visitResponseHeaders"),
      times: {
        asked: timed.asyncOpenTime,
        lookupStart: timed.domainLookupStartTime,
        lookupEnd: timed.domainLookupEndTime,
        connectStart: timed.connectStartTime,
        secureStart: timed.secureConnectionStartTime,
        connectEnd: timed.connectEndTime,
        requestStart: timed.requestStartTime,
        responseStart: timed.responseStartTime,
        responseEnd: timed.responseEndTime,
        headersRead: headersAt.get(channel.channelId) ?? 0,
        ended: now(),
      },
    };
  }

  const observer = {
    observe(channel, topic) {
      channel.QueryInterface(Ci.nsIHttpChannel);
      channel.QueryInterface(Ci.nsIIdentChannel);
      if (channel.URI.host !== host) return;
      if (topic === "http-on-examine-response") headersAt.set(channel.channelId, now());
      else if (topic === "http-on-modify-request") tabs.size > 0 && asking.set(channel.channelId, describe(channel));
      else if (!seen.has(channel.channelId)) seen.set(channel.channelId, describe(channel));
      if (topic === "http-on-stop-request") asking.delete(channel.channelId);
    },
  };
  Services.obs.addObserver(observer, "http-on-modify-request");
  Services.obs.addObserver(observer, "http-on-examine-response");
  Services.obs.addObserver(observer, "http-on-stop-request");
  globalThis.h123Seen = () => JSON.stringify([...seen.values()]);

  /** The number of the tab that has been opened since. `cached`: it may use what its container has stored. */
  globalThis.h123Adopt = (cached) => {
    const found = openTabs().find((tab) => !adopted.has(tab));
    adopted.add(found);
    const place = found.linkedBrowser.browsingContext;
    if (cached !== "true") place.defaultLoadFlags |= Ci.nsIRequest.LOAD_BYPASS_CACHE | Ci.nsIRequest.INHIBIT_CACHING;
    tabs.set(place.browserId, found);
    return String(place.browserId);
  };
  /** Closes all connections, those under way too. */
  globalThis.h123HangUp = () => {
    Services.obs.notifyObservers(null, "net:cancel-all-connections");
    return "";
  };

  /** What of a tab's requests has ended, but for the first `known`, and what is under way. */
  globalThis.h123News = (number, known) => {
    const mine = (requests) => [...requests.values()].filter(({tab}) => String(tab) === number);
    const ended = mine(seen).slice(Number(known));
    return JSON.stringify({ended, open: mine(asking), crashed: tabs.get(Number(number)).hasAttribute("crashed")});
  };
  return "";
}
