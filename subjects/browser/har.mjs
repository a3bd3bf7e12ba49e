// A page load as HAR 1.2: the document and the requests that the page made.

/**
 * The archive of one page. `page`: {number, title, startedAt (ms since 1970), onContentLoad, onLoad (ms, -1 unknown)};
 * `browser`: {name, version}; `exchanges`: what the network did, in the words of samples.csv and of HAR's timings.
 */
export function har({browser, page, exchanges}) {
  const id = `page_${page.number}`;
  return {
    log: {
      version: "1.2",
      creator: {name: "h123", version: "1"},
      browser,
      pages: [{
        startedDateTime: iso(page.startedAt),
        id,
        title: page.title,
        pageTimings: {onContentLoad: page.onContentLoad, onLoad: page.onLoad},
      }],
      entries: exchanges.map((exchange) => entry(exchange, id)),
    },
  };
}

function entry(exchange, pageref) {
  const {timings} = exchange;
  return {
    pageref,
    startedDateTime: iso(exchange.startedAt),
    time: (exchange.end - exchange.start) / 1e6,
    request: {
      method: exchange.method,
      url: exchange.url,
      httpVersion: httpVersion(exchange.protocol),
      cookies: [],
      headers: exchange.requestHeaders,
      queryString: [...new URL(exchange.url).searchParams].map(([name, value]) => ({name, value})),
      headersSize: -1,
      bodySize: exchange.outcome?.up ?? -1,
    },
    response: {
      status: exchange.status,
      statusText: exchange.statusText,
      httpVersion: httpVersion(exchange.protocol),
      cookies: [],
      headers: exchange.responseHeaders,
      content: {size: exchange.outcome?.down ?? 0, mimeType: exchange.mimeType},
      redirectURL: "",
      headersSize: -1,
      bodySize: exchange.encoded ?? -1,
      ...(exchange.outcome?.error ? {_error: exchange.outcome.error} : {}),
    },
    cache: {},
    timings,
    ...(exchange.address ? {serverIPAddress: exchange.address} : {}),
    ...(exchange.connection !== null ? {connection: String(exchange.connection)} : {}),
    ...(exchange.tls ? {_tls: exchange.tls} : {}), // HAR has no field for it
    ...(exchange.comment ? {comment: exchange.comment} : {}),
  };
}

function iso(milliseconds) {
  return new Date(milliseconds).toISOString();
}

function httpVersion(protocol) {
  return {h1: "HTTP/1.1", h2: "HTTP/2", h3: "HTTP/3"}[protocol] ?? "unknown";
}
