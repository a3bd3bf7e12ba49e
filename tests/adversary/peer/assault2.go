package main

import (
	"bytes"
	"crypto/tls"
	"net"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// crowd is how many requests an assault has on a connection at once.
const crowd = 100

// caller2 is the client's side of one HTTP/2 connection.
type caller2 struct {
	*http2.Framer
	conn    *tls.Conn
	encoded bytes.Buffer
	encoder *hpack.Encoder
	last    uint32
}

// call2 begins a connection whose streams have a window of `window` bytes.
func (t *target) call2(window uint32) (*caller2, error) {
	conn, err := t.secure()
	if err != nil {
		return nil, err
	}
	c := &caller2{Framer: http2.NewFramer(conn, conn), conn: conn}
	c.encoder = hpack.NewEncoder(&c.encoded)
	c.AllowIllegalWrites = true
	if err := say(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	return c, c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
}

// hold2 is hold for what is done on a connection; what the server sends is read and forgotten.
func (t *target) hold2(n int, window uint32, reads bool, act func(*caller2) error) {
	t.hold(n, func() error {
		c, err := t.call2(window)
		if err != nil {
			return err
		}
		defer c.conn.Close()
		if reads {
			go drain(c.conn)
		}
		return act(c)
	})
}

// ask begins a request for a large body; its header ends if `ends`.
func (c *caller2) ask(ends bool) error {
	c.encoded.Reset()
	for _, f := range []field{{":method", "GET"}, {":scheme", "https"}, {":authority", "h123.test"}, {":path", large}} {
		_ = c.encoder.WriteField(hpack.HeaderField{Name: f.name, Value: f.value})
	}
	c.last = max(1, c.last+2)
	return c.WriteHeaders(http2.HeadersFrameParam{
		StreamID: c.last, BlockFragment: c.encoded.Bytes(), EndStream: true, EndHeaders: ends,
	})
}

// crowd begins as many requests as a server may allow.
func (c *caller2) crowd() error {
	for range crowd {
		if err := c.ask(true); err != nil {
			return err
		}
	}
	return nil
}

// stay goes on for ever.
func stay(net.Conn) error { time.Sleep(second); return nil }

func (c *caller2) linger() error { return forever(nil, func() error { return stay(c.conn) }) }

// continued sends fields of a header that was begun.
func (c *caller2) continued() error {
	c.encoded.Reset()
	_ = c.encoder.WriteField(hpack.HeaderField{Name: filler.name, Value: filler.value})
	return c.WriteContinuation(c.last, false, c.encoded.Bytes())
}

func slow2(t *target) {
	t.hold2(many, maxWindow, true, func(c *caller2) error {
		return forever(c.ask(false), func() error { time.Sleep(second); return c.continued() })
	})
}

func huge2(t *target) {
	t.hold2(few, maxWindow, true, func(c *caller2) error { return forever(c.ask(false), c.continued) })
}

func unread2(t *target) {
	t.hold2(few, maxWindow, false, func(c *caller2) error {
		if err := c.WriteWindowUpdate(0, maxWindow-1<<16); err != nil {
			return err
		}
		if err := c.crowd(); err != nil {
			return err
		}
		<-t.Done()
		return nil
	})
}

func resets2(t *target) {
	t.hold2(few, maxWindow, true, func(c *caller2) error {
		return forever(nil, func() error {
			if err := c.ask(true); err != nil {
				return err
			}
			return c.WriteRSTStream(c.last, http2.ErrCodeCancel)
		})
	})
}

func closed2(t *target) {
	t.hold2(few, 0, true, func(c *caller2) error {
		if err := c.crowd(); err != nil {
			return err
		}
		<-t.Done()
		return nil
	})
}

func bytewise2(t *target) {
	t.hold2(few, 0, true, func(c *caller2) error {
		return forever(c.crowd(), func() error {
			for stream := uint32(1); stream <= c.last; stream += 2 {
				if err := c.WriteWindowUpdate(stream, 1); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func control2(t *target) {
	t.hold2(few, maxWindow, false, func(c *caller2) error {
		return forever(nil, func() error {
			if err := c.WriteSettings(); err != nil {
				return err
			}
			return c.WritePing(false, [8]byte{})
		})
	})
}
