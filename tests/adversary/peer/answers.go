package main

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"h123.dev/subjects/go/peer"
)

// attacks are all that the server knows.
var attacks = slicesOf(anyProtocol, onlyHTTP1, onlyHTTP2, onlyHTTP3)

func slicesOf(lists ...[]attack) (all []attack) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

var (
	whole   = block(size)
	half    = whole[:size/2]
	part    = whole[:16<<10]
	filler  = field{"x-fill", strings.Repeat("x", 100)}
	length  = func(n int) field { return field{"content-length", strconv.Itoa(n)} }
	refused = errors.New("h123-hostile refuses all handshakes")
)

const second = time.Second

func block(count int64) []byte {
	body, _ := io.ReadAll(peer.Body(count)) // made up: it does not fail
	return body
}

var anyProtocol = []attack{
	{name: "endless-headers", does: "a header whose fields never end", any: func(e exchange) error {
		return forever(e.open(200), func() error { return e.more(filler) })
	}},
	{name: "endless-trailers", does: "the whole body, then trailers that never end", any: func(e exchange) error {
		err := errors.Join(e.head(200), e.write(whole), e.open(0))
		return forever(err, func() error { return e.more(filler) })
	}},
	{name: "endless-1xx", does: "an endless series of informational answers, never the final one", any: func(e exchange) error {
		return forever(nil, func() error { return e.head(103, filler) })
	}},
	{name: "switching", does: "status 101, then silence", any: func(e exchange) error {
		return errors.Join(e.head(101), e.wait())
	}},
	{name: "silence", does: "no answer", any: exchange.wait},
	{name: "slow-header", does: "one header field per second", any: func(e exchange) error {
		return forever(e.open(200), func() error { time.Sleep(second); return e.more(filler) })
	}},
	{name: "slow-body", does: "one byte of the body per second", any: func(e exchange) error {
		return forever(e.head(200, length(size)), func() error { time.Sleep(second); return e.write(whole[:1]) })
	}},
	{name: "endless-body", does: "a body that never ends, without a content-length", any: func(e exchange) error {
		return forever(e.head(200), func() error { return e.write(part) })
	}},
	{name: "body-too-long", does: "a body that never ends, with a content-length", any: func(e exchange) error {
		return forever(e.head(200, length(size)), func() error { return e.write(part) })
	}, answers: true},
	{name: "length-too-small", does: "a body twice as long as its content-length", any: func(e exchange) error {
		return errors.Join(e.head(200, length(size/2)), e.write(whole), e.end())
	}},
	{name: "length-too-large", does: "the whole body, with twice its size as content-length", any: func(e exchange) error {
		return errors.Join(e.head(200, length(2*size)), e.write(whole), e.end(), e.hangUp())
	}},
	{name: "length-missing", does: "the whole body, without a content-length", any: func(e exchange) error {
		return errors.Join(e.head(200), e.write(whole), e.end())
	}, answers: true},
	{name: "length-negative", does: "the whole body, with a negative content-length", any: func(e exchange) error {
		return errors.Join(e.head(200, length(-1)), e.write(whole), e.end(), e.hangUp())
	}, answers: true},
	{name: "length-huge", does: "the whole body, with a content-length of more than 64 bits", any: func(e exchange) error {
		huge := field{"content-length", "92233720368547758080000"}
		return errors.Join(e.head(200, huge), e.write(whole), e.end(), e.hangUp())
	}, answers: true},
	{name: "length-twice", does: "the whole body, with two different content-lengths", any: func(e exchange) error {
		return errors.Join(e.head(200, length(size), length(1)), e.write(whole), e.end(), e.hangUp())
	}, answers: true},
	{name: "half", does: "half of the requested bytes, as a complete answer", any: func(e exchange) error {
		return errors.Join(e.head(200, length(size/2)), e.write(half), e.end())
	}},
	{name: "zeros", does: "zeros instead of the requested bytes, as a complete answer", any: func(e exchange) error {
		return errors.Join(e.head(200, length(size)), e.write(make([]byte, size)), e.end())
	}},
	{name: "wrong-byte", does: "one wrong byte in the middle of the body", any: func(e exchange) error {
		wrong := bytes.Clone(whole)
		wrong[size/2] ^= 1
		return errors.Join(e.head(200, length(size)), e.write(wrong), e.end())
	}},
	{name: "cut", does: "half of the body, then the connection closes", any: func(e exchange) error {
		return errors.Join(e.head(200, length(size)), e.write(half), e.hangUp())
	}},
	{name: "reset", does: "half of the body, then a reset", any: func(e exchange) error {
		return errors.Join(e.head(200, length(size)), e.write(half), e.reset())
	}},
	{name: "hang-up", does: "the connection closes without an answer", any: exchange.hangUp},
	{name: "gzip-bomb", does: "gzip of the requested size that unpacks to a thousand times its size", any: func(e exchange) error {
		return errors.Join(e.head(200, length(size), field{"content-encoding", "gzip"}), e.write(bomb()), e.end())
	}, answers: true},
	{name: "endless-gzip", does: "gzip that never ends and unpacks to a thousand times its size", any: func(e exchange) error {
		packed := bomb()
		return forever(e.head(200, field{"content-encoding", "gzip"}), func() error { return e.write(packed) })
	}},
	{name: "garbage", does: "random bytes instead of the protocol", any: func(e exchange) error {
		return forever(nil, func() error { return e.raw(noise()) })
	}},
	{name: "tls-alert", does: "a TLS alert in response to the ClientHello", tls: func(config *tls.Config) {
		config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, refused }
	}},
	{name: "other-alpn", does: "a handshake that selects a different protocol; if the client offers no protocols, the connection closes", tls: func(config *tls.Config) {
		config.NextProtos = []string{"h123"}
	}, any: exchange.hangUp},
	{name: "mute", does: "no response to the ClientHello", stream: drain, datagram: func(socket net.PacketConn) {
		heard(socket, func(net.Addr) {})
	}},
	{name: "noise", does: "random bytes in response to the ClientHello", stream: func(socket net.Conn) {
		for {
			if _, err := socket.Write(noise()); err != nil {
				return
			}
		}
	}, datagram: func(socket net.PacketConn) {
		heard(socket, func(from net.Addr) {
			for range 100 {
				_, _ = socket.WriteTo(noise()[:1200], from)
			}
		})
	}},
}

// forever repeats a step until it fails, as it does when the client has gone; err is what came before it.
func forever(err error, step func() error) error {
	for err == nil {
		err = step()
	}
	return err
}

func noise() []byte {
	random := make([]byte, 16<<10)
	_, _ = rand.Read(random)
	return random
}

// bomb is as many bytes of gzip as were asked for, which unpack to about a thousand times as many. Where they end, the
// file does not.
var bomb = sync.OnceValue(func() []byte {
	var zeros bytes.Buffer
	writer, _ := flate.NewWriter(&zeros, flate.BestCompression)
	_, _ = writer.Write(make([]byte, 1<<20))
	_ = writer.Flush() // to a whole byte, and so that what follows can be the same again
	packed := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	for len(packed) < size {
		packed = append(packed, zeros.Bytes()...)
	}
	return packed[:size]
})

// drain reads what comes until the other side has gone.
func drain(socket net.Conn) {
	buffer := make([]byte, 16<<10)
	for {
		if _, err := socket.Read(buffer); err != nil {
			return
		}
	}
}

// heard calls for every datagram that comes.
func heard(socket net.PacketConn, answer func(from net.Addr)) {
	buffer := make([]byte, 2<<10)
	for {
		_, from, err := socket.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			answer(from)
		}
	}
}
