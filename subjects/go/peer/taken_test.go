package peer

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/net/http2"
)

// serveRaw serves each connection, its handshake complete, by a function of the test's own.
func serveRaw(t *testing.T, p protocol, serve func(net.Conn)) served {
	t.Helper()
	certificate, key := identity(t)
	config, err := serverTLS(p, tls13, x25519, certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); serve(conn) }()
		}
	}()
	return served{p, portOf(t, listener.Addr().String()), certificate, nil}
}

// answering serves HTTP/2: what to do about the nth request of a connection, from 1, says the test.
func answering(requests *atomic.Int64, ask func(framer *http2.Framer, n int, stream uint32)) func(net.Conn) {
	return func(conn net.Conn) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(conn, preface); err != nil {
			return
		}
		framer := http2.NewFramer(conn, conn)
		_ = framer.WriteSettings()
		for n := 0; ; {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			switch f := frame.(type) {
			case *http2.SettingsFrame:
				if !f.IsAck() {
					_ = framer.WriteSettingsAck()
				}
			case *http2.HeadersFrame:
				n++
				requests.Add(1)
				ask(framer, n, f.StreamID)
			}
		}
	}
}

func success(framer *http2.Framer, stream uint32) {
	const status200 = "\x88"
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(status200), EndStream: true, EndHeaders: true})
}

// What a server has not taken, and says so, is made again, uploads too, and is one row without an error.
func TestRequestsThatAreNotTakenAreMadeAgain(t *testing.T) {
	t.Parallel()
	const limit = 5
	for name, ask := range map[string]func(framer *http2.Framer, n int, stream uint32){
		"a limit of requests": func(framer *http2.Framer, n int, stream uint32) {
			if n <= limit {
				success(framer, stream)
			}
			if n == limit {
				_ = framer.WriteGoAway(stream, http2.ErrCodeNo, nil)
			}
		},
		"a notice before": func(framer *http2.Framer, n int, stream uint32) {
			switch n {
			case limit:
				_ = framer.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
				success(framer, stream)
				_ = framer.WriteGoAway(stream, http2.ErrCodeNo, nil)
			case 1, 2, 3, 4:
				success(framer, stream)
			}
		},
		"refused streams": func(framer *http2.Framer, n int, stream uint32) {
			if n%2 == 0 {
				success(framer, stream)
			} else {
				_ = framer.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, changes := range []fields{{}, {"method": "POST", "path": "/upload", "upload_bytes": 0}} {
				var requests atomic.Int64
				server := serveRaw(t, h2, answering(&requests, ask))
				changes["users"], changes["requests"] = 8, 10
				d := server.drive(t, changes)
				d.mustSucceed(t, 80)
				if again := requests.Load() - 80; again > 0 && !strings.Contains(strings.Join(d.facts.Notes, ""), "made again") {
					t.Errorf("%d requests were made again, and the notes are %q", again, d.facts.Notes)
				}
			}
		})
	}
}

// A server that takes nothing at all gets no endless storm.
func TestServersThatTakeNothing(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := serveRaw(t, h2, answering(&requests, func(framer *http2.Framer, _ int, stream uint32) {
		_ = framer.WriteGoAway(0, http2.ErrCodeNo, nil)
	}))
	d := server.drive(t, fields{"users": 1, "requests": 1})
	if d.status != 0 || d.count("error", "reset") != 1 || requests.Load() > mostMoves+1 {
		t.Errorf("exit %d, %v, %d requests at the server", d.status, d.rows, requests.Load())
	}
}

// A stream of HTTP/3 that the server rejects has not been processed (RFC 9114, section 4.1.1).
func TestStreamsThatAreRejected(t *testing.T) {
	t.Parallel()
	certificate, key := identity(t)
	config, err := serverTLS(h3, tls13, x25519, certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := quic.ListenAddr("127.0.0.1:0", config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept(context.Background())
			if err != nil {
				return
			}
			go reject(conn)
		}
	}()
	d := served{h3, portOf(t, listener.Addr().String()), certificate, nil}.drive(t, fields{"users": 4, "requests": 20, "path": "/upload", "method": "POST"})
	d.mustSucceed(t, 80)
	if !strings.Contains(strings.Join(d.facts.Notes, ""), "made again") {
		t.Errorf("notes %q", d.facts.Notes)
	}
}

// reject serves HTTP/3, rejecting every other request.
func reject(conn *quic.Conn) {
	const settings, status200 = "\x00\x04\x00", "\x01\x03\x00\x00\xd9"
	if control, err := conn.OpenUniStream(); err == nil {
		_, _ = io.WriteString(control, settings)
	}
	for n := 0; ; n++ {
		stream, err := conn.AcceptStream(context.Background())
		if err != nil {
			return
		}
		if n%2 == 0 {
			stream.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestRejected))
			stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestRejected))
			continue
		}
		_, _ = io.WriteString(stream, status200)
		_ = stream.Close()
	}
}

// Over HTTP/1.1 a server may close a connection after an answer, and need not say so before. One that closes it with a
// request unread has not taken that.
func TestConnectionsThatAreClosedInSilence(t *testing.T) {
	t.Parallel()
	const length, closes = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n", "connection: close\r\n"
	for name, head := range map[string]string{"in silence": length, "HTTP/1.0": "HTTP/1.0 200 OK\r\n", "close": length + closes} {
		for _, farewell := range []bool{true, false} {
			if !farewell && name == "HTTP/1.0" {
				continue // nobody can tell such an end from a cut
			}
			t.Run(fmt.Sprintf("%s, farewell %t", name, farewell), func(t *testing.T) {
				t.Parallel()
				var requests atomic.Int64
				server := serveRaw(t, h1, func(conn net.Conn) {
					from := bufio.NewReader(conn)
					for range 2 {
						if _, err := http.ReadRequest(from); err != nil {
							return
						}
						requests.Add(1)
						_, _ = io.WriteString(conn, head+"\r\n"+string(block[:1000]))
						if head != length {
							break
						}
					}
					if head == length {
						time.Sleep(20 * time.Millisecond) // in which the next request comes
					}
					if !farewell {
						_ = conn.(*tls.Conn).NetConn().Close()
					}
				})
				d := server.drive(t, fields{"users": 4, "requests": 20})
				d.mustSucceed(t, 80)
				if requests.Load() != 80 {
					t.Errorf("%d requests came to the server", requests.Load())
				}
			})
		}
	}
}
