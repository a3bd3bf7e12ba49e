package main

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"h123.dev/subjects/go/peer"
)

// fault is where a server that keeps the contract of subjects otherwise (docs/contracts.md, section 4) does not.
type fault struct {
	name string
	does string
	over []string // the protocols; nil: all
	// found is the check of `h123 verify` that fails; unasked is why none does.
	found   string
	unasked string
	// virtual: it takes minutes, so it is asked for under the virtual clock.
	virtual bool
	answer  func(next http.HandlerFunc) http.HandlerFunc
	tls     func(*tls.Config)
	http    func(*http.Server)
	quic    func(*quic.Config)
	// begins is called before the server listens, ends when it is told to stop.
	begins func() error
	ends   func()
	// others: connections that offer another protocol are not refused.
	others bool
	// reserves: a connection ends at a stream that is not HTTP/3's.
	reserves bool
	// overflows: its UDP socket has little room, and is not read from for a while every now and then.
	overflows bool
	// room: of a TCP socket's receive buffer, in bytes; 0: the kernel's own.
	room int
	// accepts changes the socket of each TCP connection.
	accepts func(*net.TCPConn)
	// retries: every QUIC connection has to prove its address first.
	retries bool
	// mute: who asks for another version of QUIC is not told which there are.
	mute bool
}

func (f fault) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"name": f.name, "does": f.does, "protocols": f.protocols(), "found": f.found, "unasked": f.unasked, "virtual": f.virtual,
	})
}

func (f *fault) protocols() []string {
	if f.over == nil {
		return []string{"h1", "h2", "h3"}
	}
	return f.over
}

var (
	overTCP  = []string{"h1", "h2"}
	overMany = []string{"h2", "h3"}
	inARow   = "5000 requests on a connection"
	speed    = "speed is what h123 measures"
)

var faults = slices.Concat(
	[]fault{{name: "none", does: "keeps the contract", unasked: "there is nothing to find"}},
	wrongBodies, wrongAnswers, wrongUploads, wrongLimits, wrongConnections, wrongProcesses)

var wrongBodies = []fault{
	{name: "zeros", does: "sends zeros instead of the expected bytes", found: "GET 1000", answer: bodies(func(_ *http.Request, size int64) io.Reader {
		return bytes.NewReader(make([]byte, size))
	})},
	{name: "late-byte", does: "sends one wrong byte, the five-millionth", found: "GET 10000000", answer: bodies(func(_ *http.Request, size int64) io.Reader {
		if size < 5_000_000 {
			return peer.Body(size)
		}
		return spoiled(size, 5_000_000)
	})},
	{name: "far-byte", does: "sends one wrong byte, the sixty-millionth", found: "GET 100000000", answer: bodies(func(_ *http.Request, size int64) io.Reader {
		if size < 60_000_000 {
			return peer.Body(size)
		}
		return spoiled(size, 60_000_000)
	})},
	{name: "whole-blocks", does: "sends a wrong byte if the body's size is a multiple of the block size", found: "GET of other sizes", answer: bodies(func(_ *http.Request, size int64) io.Reader {
		if size == 0 || size%65536 != 0 {
			return peer.Body(size)
		}
		return spoiled(size, size-1)
	})},
	{name: "round-sizes", does: "sends a wrong byte if the body's size is not a multiple of 1000", found: "GET of other sizes", answer: bodies(func(_ *http.Request, size int64) io.Reader {
		if size < 1000 || size%1000 == 0 {
			return peer.Body(size)
		}
		return spoiled(size, size-1)
	})},
	{name: "second-body", does: "sends a wrong byte in every second large body", found: "GET of other sizes",
		answer: func(next http.HandlerFunc) http.HandlerFunc {
			var large sync.Map // counts by the client's address
			wrong := bodies(func(_ *http.Request, size int64) io.Reader { return spoiled(size, 0) })(next)
			return func(w http.ResponseWriter, r *http.Request) {
				count, _ := large.LoadOrStore(r.RemoteAddr, new(atomic.Int64))
				if sizeOf(r) > 1 && sizeOf(r) != 100_000 && count.(*atomic.Int64).Add(1) == 2 {
					wrong(w, r)
				} else {
					next(w, r)
				}
			}
		}},
	{name: "short", does: "sends one byte less than requested, with a matching content-length", found: "GET 1000", answer: on("/bytes/", func(w http.ResponseWriter, r *http.Request) {
		write(w, r, max(sizeOf(r)-1, 0), peer.Body(max(sizeOf(r)-1, 0)))
	})},
	{name: "cut", does: "sends half of the bytes that content-length announces", found: "GET 100000", answer: bodies(func(_ *http.Request, size int64) io.Reader { return peer.Body(size / 2) })},
	{name: "stall", does: "sends half of a large body, then nothing", found: "GET 10000000", answer: on("/bytes/10000000", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10000000")
		if r.Method == http.MethodGet {
			_, _ = io.Copy(w, peer.Body(5_000_000))
			<-r.Context().Done()
		}
	})},
	{name: "no-length", does: "sends no content-length", found: "GET 1000", answer: on("/bytes/", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		_, _ = io.Copy(w, peer.Body(sizeOf(r)))
	})},
	{name: "gzip", does: "compresses with gzip if the client accepts it", found: "no compression", answer: on("/bytes/", func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			write(w, r, sizeOf(r), peer.Body(sizeOf(r)))
			return
		}
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		_, _ = io.Copy(writer, peer.Body(sizeOf(r)))
		_ = writer.Close()
		w.Header().Set("Content-Encoding", "gzip")
		write(w, r, int64(packed.Len()), &packed)
	})},
}

var wrongAnswers = []fault{
	{name: "always-200", does: "answers every path with 200", found: "404", answer: func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/bytes/") && r.URL.Path != "/upload" {
				w.WriteHeader(http.StatusOK)
				return
			}
			next(w, r)
		}
	}},
	{name: "partial", does: "answers with 206 instead of 200", found: "GET 1000", answer: on("/bytes/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.FormatInt(sizeOf(r), 10))
		w.WriteHeader(http.StatusPartialContent)
		if r.Method == http.MethodGet {
			_, _ = io.Copy(w, peer.Body(sizeOf(r)))
		}
	})},
	{name: "errors", does: "answers every 700th request with 500", found: inARow, answer: every(700, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	})},
	{name: "limited", does: "answers with 429 after a thousand requests", found: inARow, answer: after(1000, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
	})},
	{name: "no-head", does: "answers HEAD with 405", found: "HEAD", answer: headed(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusMethodNotAllowed)
	})},
	{name: "head-unsized", does: "answers HEAD without content-length", found: "HEAD", answer: headed(func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
	})},
	{name: "no-health", does: "answers /health with 404", found: "health", answer: on("/health", http.NotFound)},
	{name: "one-host", does: "answers with 421 for every host name except the certificate's", found: "any host", answer: func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Host != "h123.test" {
				w.WriteHeader(http.StatusMisdirectedRequest)
				return
			}
			next(w, r)
		}
	}},
	{name: "busy", does: "computes for 20 ms before each answer", unasked: speed, answer: func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for began := time.Now(); sizeOf(r) > 1 && time.Since(began) < 20*time.Millisecond; {
			}
			next(w, r)
		}
	}},
	{name: "dribble", does: "sends the first 50 kB at one kilobyte per 10 ms", unasked: speed, answer: on("/bytes/", dribble)},
	{name: "delay", does: "waits 20 ms before each answer", unasked: speed, answer: func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if sizeOf(r) > 1 { // so that it stays within a check's time
				time.Sleep(20 * time.Millisecond)
			}
			next(w, r)
		}
	}},
}

var wrongUploads = []fault{
	{name: "early-answer", does: "answers an upload before it has arrived", found: "POST in halves", virtual: true, answer: on("/upload", func(w http.ResponseWriter, r *http.Request) {
		said := strconv.FormatInt(r.ContentLength, 10)
		w.Header().Set("Content-Length", strconv.Itoa(len(said)))
		if controller := http.NewResponseController(w); r.ProtoMajor == 1 {
			_ = controller.EnableFullDuplex()
		}
		fmt.Fprint(w, said)
		if flusher, able := w.(http.Flusher); able {
			flusher.Flush()
		}
		_, _ = io.Copy(io.Discard, r.Body)
	})},
	{name: "miscounted", does: "reports one byte less than arrived", found: "POST 1000", answer: on("/upload", func(w http.ResponseWriter, r *http.Request) {
		count, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, max(count-1, 0))
	})},
	{name: "thanks", does: "answers with thanks instead of the count", found: "POST 1000", answer: on("/upload", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, "thanks")
	})},
	{name: "upload-limit", does: "answers uploads of more than a megabyte with 413", found: "POST 10000000", answer: func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 1_000_000 {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				return
			}
			next(w, r)
		}
	}},
	{name: "no-upload", does: "answers POST with 405", found: "POST 1000", answer: on("/upload", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusMethodNotAllowed)
	})},
	{name: "one-upload", does: "handles one upload after another", unasked: "the test sends the first half of each upload, which arrives even if the server does not handle it yet", answer: func(next http.HandlerFunc) http.HandlerFunc {
		var one sync.Mutex
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/upload" {
				one.Lock()
				defer one.Unlock()
			}
			next(w, r)
		}
	}},
}

var wrongLimits = []fault{
	{name: "one-worker", does: "handles one request after another", over: overMany, found: "100 downloads at once", answer: oneAfterAnother},
	{name: "one-worker", does: "handles one request after another", over: []string{"h1"}, answer: oneAfterAnother,
		unasked: "each request has a separate connection, whose buffer holds the whole answer, so the server never waits for a client"},
	{name: "streams", does: "allows 50 requests at a time on a connection", over: overMany, found: "100 downloads at once",
		http: func(server *http.Server) { server.HTTP2.MaxConcurrentStreams = 50 },
		quic: func(config *quic.Config) { config.MaxIncomingStreams = 50 }},
	{name: "requests", does: "closes a connection after 1000 requests", over: overTCP, found: inARow, answer: every(1000, closing)},
	{name: "no-keep-alive", does: "closes the connection after every answer", over: []string{"h1"}, found: inARow,
		http: func(server *http.Server) { server.SetKeepAlivesEnabled(false) }},
	{name: "idle-2s", does: "closes a connection that was idle for 2 s", over: overTCP, virtual: true, found: "a connection idle for 58s",
		http: func(server *http.Server) { server.IdleTimeout = 2 * time.Second }},
	{name: "idle-20s", does: "closes a connection that was idle for 20 s", over: overTCP, virtual: true, found: "a connection idle for 58s",
		http: func(server *http.Server) { server.IdleTimeout = 20 * time.Second }},
	{name: "announced-idle", does: "announces that it closes idle connections after 20 s", over: []string{"h3"}, found: "limits",
		quic: func(config *quic.Config) { config.MaxIdleTimeout = 20 * time.Second }},
	{name: "windows", does: "has receive windows of 64 KiB", over: overMany, unasked: "the contract sets no windows; h123 only shows them",
		http: func(server *http.Server) {
			server.HTTP2.MaxReceiveBufferPerStream, server.HTTP2.MaxReceiveBufferPerConnection = 64<<10, 64<<10
		},
		quic: func(config *quic.Config) {
			config.InitialStreamReceiveWindow, config.MaxStreamReceiveWindow = 64<<10, 64<<10
			config.InitialConnectionReceiveWindow, config.MaxConnectionReceiveWindow = 64<<10, 64<<10
		}},
	{name: "stream-window", does: "has receive windows of 64 KiB per stream", over: overMany, unasked: "the contract sets no windows; h123 only shows them",
		http: func(server *http.Server) { server.HTTP2.MaxReceiveBufferPerStream = 64 << 10 },
		quic: func(config *quic.Config) {
			config.InitialStreamReceiveWindow, config.MaxStreamReceiveWindow = 64<<10, 64<<10
		}},
	{name: "receive-window", does: "has room for only 64 KiB on a connection (TCP's buffer, QUIC's window)", over: overMany, room: 64 << 10,
		unasked: "the contract sets no windows; h123 only shows them",
		quic: func(config *quic.Config) {
			config.InitialConnectionReceiveWindow, config.MaxConnectionReceiveWindow = 64<<10, 64<<10
		}},
}

var wrongConnections = []fault{
	{name: "other-protocol", does: "accepts clients that offer only a different protocol", over: overTCP, others: true,
		unasked: "each client reports the protocol of every request, and a wrong one is an error"},
	{name: "other-alpn", does: "selects the wrong protocol if the client offers both", over: overTCP, found: "ALPN", others: true, tls: func(config *tls.Config) {
		config.NextProtos = []string{"h2", "http/1.1"}
		if onlyProtocol == "h2" {
			slices.Reverse(config.NextProtos)
		}
	}},
	{name: "no-alpn", does: "does not take part in ALPN", over: []string{"h2"}, found: "ALPN", tls: func(config *tls.Config) { config.NextProtos = nil }},
	{name: "tls12", does: "supports only TLS 1.2", over: overTCP, found: "TLS", tls: func(config *tls.Config) { config.MaxVersion = tls.VersionTLS12 }},
	{name: "no-tickets", does: "issues no session tickets", found: "resumption", tls: func(config *tls.Config) { config.SessionTicketsDisabled = true }},
	{name: "own-tickets", does: "runs two processes that do not accept each other's session tickets; one process gets two of three connections", found: "resumption", tls: twoProcesses},
	{name: "no-early-data", does: "does not support 0-RTT", over: []string{"h3"}, found: "0-RTT", quic: func(config *quic.Config) { config.Allow0RTT = false }},
	{name: "other-curve", does: "supports only P-256 for the key exchange", found: "X25519 alone", tls: func(config *tls.Config) {
		config.CurvePreferences = []tls.CurveID{tls.CurveP256}
	}},
	{name: "hybrid-only", does: "supports only a hybrid key exchange", found: "X25519 alone", tls: func(config *tls.Config) {
		config.CurvePreferences = []tls.CurveID{tls.X25519MLKEM768}
	}},
	{name: "no-reserved", does: "closes a connection on which a stream has a reserved type", over: []string{"h3"}, reserves: true, found: "reserved values"},
	{name: "no-versions", does: "does not answer clients that ask for an unsupported version of QUIC", over: []string{"h3"}, mute: true, found: "versions"},
	{name: "retry", does: "sends a Retry for each connection", over: []string{"h3"}, retries: true, unasked: "the contract allows it; h123 only shows it"},
}

var wrongProcesses = []fault{
	{name: "dies", does: "exits after 5000 requests", found: "trial", answer: after(5000, func(http.ResponseWriter, *http.Request) { os.Exit(1) })},
	{name: "falls", does: "exits at once", found: "trial", begins: func() error { return fmt.Errorf("it does not want to") }},
	{name: "unready", does: "never listens", found: "trial", begins: func() error { time.Sleep(time.Hour); return nil }},
	{name: "deaf", does: "ignores SIGTERM", found: "clean stop", ends: func() { select {} }},
	{name: "slow-end", does: "takes ten seconds to stop", found: "clean stop", ends: func() { time.Sleep(10 * time.Second) }},
	{name: "sorry", does: "exits with status 1 when it is stopped", found: "clean stop", ends: func() { os.Exit(1) }},
	{name: "status-143", does: "exits with status 143 when it is stopped", found: "clean stop", ends: func() { os.Exit(143) }},
	{name: "child", does: "leaves a child process behind, in a separate session", found: "nothing left behind", begins: func() error {
		child := exec.Command("sleep", "1000")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return child.Start()
	}},
	{name: "log-lines", does: "logs a line for each request", found: "log", answer: func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(os.Stderr, r.RemoteAddr, r.Method, r.URL)
			next(w, r)
		}
	}},
	{name: "log-flood", does: "logs 100 MB", found: "log", begins: func() error {
		for range 100 {
			_, _ = os.Stderr.Write(bytes.Repeat([]byte{'x'}, 1<<20))
		}
		return nil
	}},
	{name: "overflow", does: "has a small receive buffer, which it does not read for 20 of every 50 ms", over: []string{"h3"}, overflows: true, unasked: speed},
	{name: "files", does: "leaves a file in /var/tmp", unasked: "this folder belongs to the lab and disappears with it", begins: func() error {
		place := path.Join("/var/tmp", "h123-hostile")
		return os.WriteFile(place, nil, 0o600)
	}},
}
