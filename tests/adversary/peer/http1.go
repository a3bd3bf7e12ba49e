package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
)

var onlyHTTP1 = []attack{
	{name: "endless-line", does: "a header field whose value never ends", h1: func(e *exchange1) error {
		err := e.raw([]byte("HTTP/1.1 200 OK\r\nx-fill: "))
		return forever(err, func() error { return e.raw(letters) })
	}},
	{name: "endless-status", does: "a status line that never ends", h1: func(e *exchange1) error {
		return forever(e.raw([]byte("HTTP/1.1 200 ")), func() error { return e.raw(letters) })
	}},
	{name: "endless-chunk-size", does: "a chunk size with an extension that never ends", h1: func(e *exchange1) error {
		err := e.raw([]byte("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1000;"))
		return forever(err, func() error { return e.raw(letters) })
	}},
	{name: "chunk-too-large", does: "a chunk of 2^64 bytes", h1: func(e *exchange1) error {
		err := e.raw([]byte("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10000000000000000\r\n"))
		return forever(err, func() error { return e.raw(part) })
	}},
	{name: "blank-lines", does: "an endless series of blank lines instead of an answer", h1: func(e *exchange1) error {
		return forever(nil, func() error { return e.raw([]byte("\r\n\r\n\r\n\r\n")) })
	}},
}

// letters is text without an end of line.
var letters = []byte(filler.value)

// exchange1 is a request on an HTTP/1.1 connection.
type exchange1 struct {
	conn    net.Conn
	to      *bufio.Writer
	chunked bool
}

// http1 answers the requests of one connection.
func http1(conn net.Conn, a *attack) {
	from := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		e := &exchange1{conn: conn, to: bufio.NewWriter(conn)}
		act := a.h1
		if act == nil {
			act = func(e *exchange1) error { return a.any(e) }
		}
		if act(e) != nil {
			return
		}
	}
}

func (e *exchange1) head(status int, fields ...field) error {
	stated := slices.ContainsFunc(fields, func(f field) bool { return f.name == "content-length" })
	switch {
	case status == 101:
		fields = append(fields, field{"connection", "upgrade"}, field{"upgrade", "h123"})
	case status >= 200 && !stated:
		e.chunked = true
		fields = append(fields, field{"transfer-encoding", "chunked"})
	}
	e.line("HTTP/1.1 %d Hostile\r\n", status)
	_ = e.more(fields...)
	e.line("\r\n")
	return e.to.Flush()
}

func (e *exchange1) open(status int) error {
	if status == 0 {
		e.line("0\r\n")
	} else {
		e.line("HTTP/1.1 %d Hostile\r\n", status)
	}
	return e.to.Flush()
}

func (e *exchange1) more(fields ...field) error {
	for _, f := range fields {
		e.line("%s: %s\r\n", f.name, f.value)
	}
	return e.to.Flush()
}

func (e *exchange1) write(part []byte) error {
	if e.chunked {
		e.line("%x\r\n%s\r\n", len(part), part)
	} else {
		_, _ = e.to.Write(part)
	}
	return e.to.Flush()
}

func (e *exchange1) end() error {
	if e.chunked {
		e.line("0\r\n\r\n")
	}
	return e.to.Flush()
}

func (e *exchange1) reset() error {
	if secure, ok := e.conn.(*tls.Conn); ok {
		_ = secure.NetConn().(*net.TCPConn).SetLinger(0)
		return secure.NetConn().Close()
	}
	return e.conn.Close()
}

func (e *exchange1) hangUp() error {
	_ = e.conn.Close()
	return net.ErrClosed
}

func (e *exchange1) raw(data []byte) error {
	_, err := e.conn.Write(data)
	return err
}

func (e *exchange1) wait() error {
	drain(e.conn)
	return net.ErrClosed
}

// line writes text; a failure shows when it is flushed.
func (e *exchange1) line(format string, arguments ...any) {
	_, _ = fmt.Fprintf(e.to, format, arguments...)
}
