// Runs inside Firefox's own process, with its rights: keeps what the network tells of each request to `host`. Times are
// microseconds since 1970, 0 for what has not been. Evaluated as a function; h123Seen() gives the list as JSON.
(host) => {
  const seen = new Map(); // by channel: of a failed one the end is announced twice
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

  function describe(channel) {
    const timed = channel.QueryInterface(Ci.nsITimedChannel);
    const internal = channel.QueryInterface(Ci.nsIHttpChannelInternal);
    return {
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
      else if (!seen.has(channel.channelId)) seen.set(channel.channelId, describe(channel));
    },
  };
  Services.obs.addObserver(observer, "http-on-examine-response");
  Services.obs.addObserver(observer, "http-on-stop-request");
  globalThis.h123Seen = () => JSON.stringify([...seen.values()]);
  return "";
}
