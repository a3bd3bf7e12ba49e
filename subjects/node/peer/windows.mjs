// Flow control and concurrency: Chromium's windows, as h123's own subjects have them on both sides, so that they are not
// what a comparison finds. Node's default, 64 kB, would bound an upload over 100 ms to 5 Mbit/s.
export const STREAM_WINDOW = 6 << 20;
export const CONNECTION_WINDOW = 15 << 20;
export const MAX_STREAMS = 1000;

/** Megabytes that an HTTP/2 session may hold; Node refuses streams beyond, and its default is below one window. */
export const HTTP2_MEMORY = 1000;
