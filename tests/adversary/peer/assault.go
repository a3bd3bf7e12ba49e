package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
)

// assault is what the client does to a server until its time is over, by protocol.
type assault struct {
	name string
	does string
	h1   func(*target)
	h2   func(*target)
	h3   func(*target)
}

func (a *assault) over(protocol string) func(*target) {
	return map[string]func(*target){"h1": a.h1, "h2": a.h2, "h3": a.h3}[protocol]
}

func (a assault) MarshalJSON() ([]byte, error) {
	over := slices.DeleteFunc([]string{"h1", "h2", "h3"}, func(protocol string) bool { return a.over(protocol) == nil })
	return json.Marshal(map[string]any{"name": a.name, "does": a.does, "protocols": over})
}

func findAssault(name, protocol string) (func(*target), error) {
	for i := range assaults {
		if a := &assaults[i]; a.name == name && a.over(protocol) != nil {
			return a.over(protocol), nil
		}
	}
	return nil, errors.New("there is no assault " + name + " over " + protocol)
}

// target is the server, for as long as ctx lasts.
type target struct {
	context.Context
	endpoint string
	host     string
	tls      *tls.Config
}

const (
	// few and many are how many connections an assault holds at once.
	few  = 4
	many = 500
	// large is a body that outlasts the assault.
	large = "/bytes/1000000000"
)

var assaults = []assault{
	{name: "slowloris", does: "many connections whose requests arrive at one header field per second", h1: slow1, h2: slow2, h3: slow3},
	{name: "connection-flood", does: "connections that are opened and left idle", h1: idleTCP, h2: idleTCP, h3: idleQUIC},
	{name: "handshake-flood", does: "handshakes that are abandoned immediately", h1: halfTLS, h2: halfTLS, h3: halfQUIC},
	{name: "huge-headers", does: "requests whose header never ends", h1: huge1, h2: huge2, h3: huge3},
	{name: "endless-uploads", does: "uploads that never end", h1: uploads("h1"), h2: uploads("h2"), h3: uploads("h3")},
	{name: "unread", does: "large downloads that the client does not read", h1: unread1, h2: unread2, h3: unread3},
	{name: "rapid-reset", does: "requests that are reset immediately", h2: resets2, h3: resets3},
	{name: "window-zero", does: "large downloads with a window of zero bytes", h2: closed2},
	{name: "window-one", does: "large downloads with windows that grow by one byte at a time", h2: bytewise2},
	{name: "control-flood", does: "PING and SETTINGS frames; the client does not read the responses", h2: control2},
	{name: "garbage", does: "random bytes instead of the protocol", h1: garbage, h2: garbage, h3: malformed},
}

// hold keeps n of what one function makes at a time, each begun again when it ends, until the time is over.
func (t *target) hold(n int, one func() error) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for t.Err() == nil {
				_ = one()
			}
		})
	}
	all.Wait()
}

// socket connects over TCP; it is closed when the time is over.
func (t *target) socket() (net.Conn, error) {
	var dialer net.Dialer
	socket, err := dialer.DialContext(t, "tcp", t.endpoint)
	if err == nil {
		context.AfterFunc(t, func() { _ = socket.Close() })
	}
	return socket, err
}

// secure connects with TLS.
func (t *target) secure() (*tls.Conn, error) {
	socket, err := t.socket()
	if err != nil {
		return nil, err
	}
	secure := tls.Client(socket, t.tls)
	return secure, secure.HandshakeContext(t)
}

func idleTCP(t *target) {
	t.hold(many, func() error {
		socket, err := t.socket()
		if err == nil {
			drain(socket)
		}
		return err
	})
}

func halfTLS(t *target) {
	t.hold(few, func() error {
		socket, err := t.socket()
		if err != nil {
			return err
		}
		hello := tls.Client(socket, t.tls)
		go func() { _ = hello.Handshake() }()
		shortly()
		return socket.Close()
	})
}

func garbage(t *target) {
	t.hold(few, func() error {
		secure, err := t.secure()
		if err != nil {
			return err
		}
		defer secure.Close()
		return forever(nil, func() error { _, err := secure.Write(noise()); return err })
	})
}

// malformed sends datagrams that begin like QUIC's and go on at random.
func malformed(t *target) {
	t.hold(few, func() error {
		socket, err := net.Dial("udp", t.endpoint)
		if err != nil {
			return err
		}
		defer socket.Close()
		for t.Err() == nil {
			datagram := noise()[:1+rand.N(1400)]
			if rand.N(2) == 0 && len(datagram) > 5 {
				copy(datagram, []byte{0xc0 | datagram[0]&0x3f, 0, 0, 0, 1})
			}
			_, _ = socket.Write(datagram)
		}
		return nil
	})
}
