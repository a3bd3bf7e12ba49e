package peer

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quic-go/quic-go/http3"
	"golang.org/x/net/http2"
	"golang.org/x/sys/unix"
)

// errUnheard marks HTTP/1.1 requests that met a connection's end before the server's host had them.
var errUnheard = errors.New("the connection ended before the request came")

// isUntaken says whether an error means that the server has not taken the request and never will, so that it may be made
// again whatever its method (RFC 9113, sections 6.8 and 8.7; RFC 9114, sections 4.1.1 and 5.2). Of requests that were under
// way when a connection over HTTP/3 ended, quic-go does not tell which ones the server's GOAWAY left out: those are lost.
func isUntaken(err error) bool {
	if stream, ok := errors.AsType[http2.StreamError](err); ok {
		return stream.Code == http2.ErrCodeRefusedStream
	}
	if stream, ok := errors.AsType[*http3.Error](err); ok && stream.ErrorCode == http3.ErrCodeRequestRejected {
		return stream.Remote
	}
	return isLeft(err) || errors.Is(err, errUnheard)
}

// isLeft says whether an error means that the connection takes no more requests, and has not taken this one. The libraries
// do not export these errors.
func isLeft(err error) bool {
	return says(err, "http2: client conn not usable", "http2: Transport received Server's graceful shutdown GOAWAY", "http3: conn unusable")
}

// ending is an HTTP/1.1 connection that remembers how it ended. A server that closes an idle one cannot know that a request
// is on its way (RFC 9112, section 9.5). The kernel can tell: then not all bytes are acknowledged, or a reset comes.
type ending struct {
	net.Conn
	socket  *net.TCPConn
	written atomic.Int64 // bytes so far, with those of a write that is under way
	heard   atomic.Int64 // of them, those that had all been read when it ended; 0: not all had
}

const open = -1

func newEnding(secure net.Conn, socket *net.TCPConn) *ending {
	e := &ending{Conn: secure, socket: socket}
	e.heard.Store(open)
	return e
}

func (e *ending) Read(into []byte) (int, error) {
	n, err := e.Conn.Read(into)
	if err != nil {
		heard := e.written.Load()
		if unacknowledged(e.socket) > 0 || errors.Is(err, syscall.ECONNRESET) || err == io.EOF && e.isReset() {
			heard = 0
		}
		e.heard.CompareAndSwap(open, heard)
	}
	return n, err
}

// afterwards is how long a reset may follow TLS's farewell.
const afterwards = 10 * time.Millisecond

// isReset says whether the other host resets the connection: it does where its program closes it with bytes unread. Bytes
// of a write that was under way have left by the end of this, and are not acknowledged if that program has closed before.
func (e *ending) isReset() bool {
	_ = e.socket.SetReadDeadline(time.Now().Add(afterwards))
	_, err := e.socket.Read(make([]byte, 1))
	return errors.Is(err, syscall.ECONNRESET) || unacknowledged(e.socket) > 0
}

func (e *ending) Write(bytes []byte) (int, error) {
	e.written.Add(int64(len(bytes))) // before: a server may read them and end the connection before the write returns
	n, err := e.Conn.Write(bytes)
	if err != nil {
		e.heard.CompareAndSwap(open, 0)
	}
	return n, err
}

// unheard says whether it has ended before the other side had anything of a request, which began when so many bytes had
// been written.
func (e *ending) unheard(before int64) bool {
	heard := e.heard.Load()
	return heard != open && heard <= before
}

// unacknowledged is how many bytes the other host has not acknowledged, 0 if the kernel does not say.
func unacknowledged(socket *net.TCPConn) (bytes int) {
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(descriptor uintptr) {
			bytes, _ = unix.IoctlGetInt(int(descriptor), unix.SIOCOUTQ)
		})
	}
	return bytes
}
