package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"h123.dev/subjects/go/peer"
)

const stallsEvery = 500 * time.Millisecond

// dice fall the same way in each process, so that a trial can be carried out again.
var dice = throws{rand: rand.New(rand.NewPCG(1, 2))}

type throws struct {
	mutex sync.Mutex
	rand  *rand.Rand
}

func (t *throws) below(n uint64) uint64 {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.rand.Uint64N(n)
}

// causing is what a server does that costs its clients time. Left as it is, it costs nothing.
type causing struct {
	think, thinkMost time.Duration
	thinkEvery       uint64
	compute          time.Duration
	oneAtOnce        bool
	stall            time.Duration
	proxy            bool
	origins          int
	headFirst        bool
	chunked          bool
	pause            time.Duration
	piece            int64
	pieces           int
	readPiece        int64
	readPause        time.Duration
	nagle            bool
	sendBuffer       int
	receiveBuffer    int
	streamWindow     int
	window           int
	streams          int
	retry, overflow  bool
	p256, late, ends bool
}

// made is the command `made`: a server whose answers take time for a reason that is known, because it was chosen.
func made(arguments []string) error {
	var c causing
	set := flag.NewFlagSet("h123-hostile made", flag.ContinueOnError)
	set.DurationVar(&c.think, "think", 0, "wait before each answer")
	set.DurationVar(&c.thinkMost, "think-most", 0, "wait at random, from think up to this")
	set.Uint64Var(&c.thinkEvery, "think-every", 1, "wait before one answer in so many, at random")
	set.DurationVar(&c.compute, "compute", 0, "compute before each answer")
	set.BoolVar(&c.oneAtOnce, "one-at-once", false, "answer one request after another")
	set.BoolVar(&c.proxy, "proxy", false, "forward requests to an origin, which has the wait and the pauses")
	set.IntVar(&c.origins, "origin-connections", mostAtOnce, "so many connections to the origin")
	set.DurationVar(&c.stall, "stall", 0, "answer nothing for so long, twice a second")
	set.BoolVar(&c.headFirst, "head-first", false, "send the head alone, in a write of its own")
	set.BoolVar(&c.chunked, "chunked", false, "do not announce the body's length")
	set.DurationVar(&c.pause, "pause", 0, "wait before each piece of the body")
	set.Int64Var(&c.piece, "piece", 0, "write the body in pieces of so many bytes")
	set.IntVar(&c.pieces, "pieces", 1<<30, "so many pieces, then the rest at once")
	set.Int64Var(&c.readPiece, "read-piece", 0, "read an upload in pieces of so many bytes")
	set.DurationVar(&c.readPause, "read-pause", 0, "wait before each of them is read")
	set.BoolVar(&c.nagle, "nagle", false, "leave Nagle's algorithm on")
	set.IntVar(&c.sendBuffer, "send-buffer", 0, "bytes of the socket's send buffer")
	set.IntVar(&c.receiveBuffer, "receive-buffer", 0, "bytes of the socket's receive buffer")
	set.IntVar(&c.streamWindow, "stream-window", goodWindow, "bytes of a stream that a client may send at once")
	set.IntVar(&c.window, "window", goodTotal, "bytes of a connection that a client may send at once")
	set.IntVar(&c.streams, "streams", mostAtOnce, "requests at a time on a connection")
	set.BoolVar(&c.retry, "retry", false, "send a Retry for each QUIC connection")
	set.BoolVar(&c.overflow, "overflow", false, "let the UDP socket's buffer run over")
	set.BoolVar(&c.p256, "p256", false, "exchange keys by P-256 alone, which clients do not guess")
	set.BoolVar(&c.late, "no-early-data", false, "refuse requests in the first flight of a resumed QUIC session")
	set.BoolVar(&c.ends, "close", false, "end the connection after each answer of HTTP/1.1")
	version := set.String("tls", "1.3", "the version of TLS that it speaks")
	protocol := set.String("protocol", "", "h1, h2 or h3")
	address := set.String("address", "", "to listen on")
	port := set.String("port", "", "to listen on")
	certificate := set.String("cert", "", "file")
	key := set.String("key", "", "file")
	if err := set.Parse(arguments); err != nil {
		return err
	}
	onlyProtocol = *protocol
	f, err := c.fault(*version)
	if err != nil {
		return err
	}
	return f.run(*certificate, *key, net.JoinHostPort(*address, *port))
}

// fault is the server's, as of one that keeps the contract otherwise.
func (c *causing) fault(version string) (*fault, error) {
	f := &fault{name: "made", room: c.receiveBuffer, retries: c.retry, overflows: c.overflow, answer: c.answering}
	if c.proxy {
		origin, err := c.origin()
		if err != nil {
			return nil, err
		}
		f.answer = func(next http.HandlerFunc) http.HandlerFunc { return c.forwarded(origin, next) }
	}
	f.http = func(server *http.Server) {
		server.SetKeepAlivesEnabled(!c.ends)
		server.HTTP2.MaxConcurrentStreams = c.streams
		server.HTTP2.MaxReceiveBufferPerStream, server.HTTP2.MaxReceiveBufferPerConnection = c.streamWindow, c.window
	}
	f.quic = func(config *quic.Config) {
		config.MaxIncomingStreams, config.Allow0RTT = int64(c.streams), !c.late
		config.InitialStreamReceiveWindow, config.MaxStreamReceiveWindow = uint64(c.streamWindow), uint64(c.streamWindow)
		config.InitialConnectionReceiveWindow, config.MaxConnectionReceiveWindow = uint64(c.window), uint64(c.window)
	}
	f.tls = func(config *tls.Config) {
		if version == "1.2" {
			config.MaxVersion = tls.VersionTLS12
		}
		if c.p256 {
			config.CurvePreferences = []tls.CurveID{tls.CurveP256}
		}
	}
	if c.nagle || c.sendBuffer > 0 {
		f.accepts = func(socket *net.TCPConn) {
			_ = socket.SetNoDelay(!c.nagle)
			if c.sendBuffer > 0 {
				_ = socket.SetWriteBuffer(c.sendBuffer)
			}
		}
	}
	return f, nil
}

func (c *causing) answering(next http.HandlerFunc) http.HandlerFunc {
	answer := next
	var stopped sync.RWMutex
	if c.stall > 0 {
		go func() {
			for {
				stopped.Lock()
				time.Sleep(c.stall)
				stopped.Unlock()
				time.Sleep(stallsEvery - c.stall)
			}
		}()
	}
	if c.piece > 0 || c.headFirst || c.chunked {
		answer = on("/bytes/", c.inPieces)(answer)
	}
	thoughtful := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" {
			next(w, r)
			return
		}
		if r.Method == http.MethodPost {
			c.receive(w, r)
			return
		}
		stopped.RLock()
		stopped.RUnlock() // it only waits
		c.wait()
		answer(w, r)
	}
	if c.oneAtOnce {
		return oneAfterAnother(thoughtful)
	}
	return thoughtful
}

// wait is the server's own time before an answer.
func (c *causing) wait() {
	if c.think > 0 && dice.below(c.thinkEvery) == 0 {
		time.Sleep(c.think + time.Duration(dice.below(uint64(max(c.thinkMost-c.think, 0))+1)))
	}
	for began := time.Now(); time.Since(began) < c.compute; {
	}
}

// receive takes an upload, in its own time, and then answers.
func (c *causing) receive(w http.ResponseWriter, r *http.Request) {
	count := int64(0)
	for {
		time.Sleep(c.readPause)
		n, err := io.CopyN(io.Discard, r.Body, max(c.readPiece, 64<<10))
		count += n
		if err == io.EOF {
			break
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	c.wait()
	fmt.Fprint(w, count)
}

// inPieces sends a body as it comes.
func (c *causing) inPieces(w http.ResponseWriter, r *http.Request) {
	size, body := sizeOf(r), peer.Body(sizeOf(r))
	if !c.chunked {
		w.Header().Set("Content-Length", fmt.Sprint(size))
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodGet {
		return
	}
	if c.headFirst {
		w.(http.Flusher).Flush()
	}
	for n := 0; c.piece > 0 && n < c.pieces; n++ {
		if n > 0 || c.headFirst {
			time.Sleep(c.pause)
		}
		if _, err := io.CopyN(w, body, c.piece); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
	if c.piece > 0 {
		time.Sleep(c.pause)
	}
	_, _ = io.Copy(w, body)
}

// origin begins a server of HTTP/1.1 on this host, which has what the answers wait for.
func (c *causing) origin() (*url.URL, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { _ = http.Serve(listener, c.answering(keeps())) }()
	return url.Parse("http://" + listener.Addr().String())
}

// forwarded asks the origin for everything but the server's health.
func (c *causing) forwarded(origin *url.URL, next http.HandlerFunc) http.HandlerFunc {
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(origin) },
		FlushInterval: -1,
		Transport:     &http.Transport{MaxIdleConnsPerHost: mostAtOnce, MaxConnsPerHost: c.origins, DisableCompression: true},
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" {
			next(w, r)
			return
		}
		proxy.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
	}
}

// accepting changes each connection's socket.
type accepting struct {
	net.Listener
	change func(*net.TCPConn)
}

func (a accepting) Accept() (net.Conn, error) {
	conn, err := a.Listener.Accept()
	if err == nil {
		a.change(conn.(*net.TCPConn))
	}
	return conn, err
}
