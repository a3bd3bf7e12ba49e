package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// sessions is what a workload asks of the TLS sessions of its connections; empty: each handshake is a full one.
type sessions string

const (
	resumedSessions sessions = "resumed" // each connection resumes an earlier one's
	earlySessions   sessions = "early"   // and its first request goes out as early data (0-RTT)
)

// supported refuses what is not known here, and what the libraries cannot do.
func (s sessions) supported(p protocol) error {
	switch {
	case s != "" && s != resumedSessions && s != earlySessions:
		return failure{exitUnsupported, fmt.Errorf("sessions: only %s and %s are possible here, not %q", resumedSessions, earlySessions, string(s))}
	case s == earlySessions && p != h3:
		return failure{exitUnsupported, fmt.Errorf("sessions: early data over %s is not supported: crypto/tls has none over TCP", p)}
	}
	return nil
}

// mostTokens is how many address tokens are kept; a connection takes one and is given another.
const mostTokens = 8

// memory is what a client keeps of earlier connections to a server: sessions, and over QUIC tokens that prove its
// address (RFC 9000, section 8.1.3), as browsers do. It tells of the first session.
type memory struct {
	tls.ClientSessionCache
	tokens quic.TokenStore
	once   sync.Once
	first  chan struct{}
}

func newMemory() *memory {
	return &memory{
		ClientSessionCache: tls.NewLRUClientSessionCache(1),
		tokens:             quic.NewLRUTokenStore(1, mostTokens),
		first:              make(chan struct{}),
	}
}

func (m *memory) Put(key string, state *tls.ClientSessionState) {
	m.ClientSessionCache.Put(key, state)
	if state != nil {
		m.once.Do(func() { close(m.first) })
	}
}

// earn makes a connection that no row and no fact tells of, and closes it once the server has given it a session.
func (l *load) earn(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, l.requester.timeout, errTimeout)
	defer cancel()
	kept := l.dialer.remember()
	c, err := l.dialer.establish(ctx, "", false)
	if err != nil {
		return fmt.Errorf("the connection that should earn a session failed: %w", err)
	}
	defer c.close()
	request := l.requester.asked[0].request(ctx, 0)
	request.Method = http.MethodHead
	response, err := c.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("the request that should earn a session failed: %w", err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	select {
	case <-kept.first:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the server gave no session ticket, so there is nothing to resume: %w", context.Cause(ctx))
	}
}

// eager sends requests on an HTTP/3 connection before its handshake is complete. Where the server refuses early data,
// they are sent again after it, as any client does, and take the longer for it.
type eager struct {
	conn      *quic.Conn
	transport *http3.Transport
	first     *http3.ClientConn
	settled   sync.Once
	next      http.RoundTripper // once the handshake is complete
	failed    error
}

// newEager takes a connection that DialAddrEarly gave. One whose handshake is complete had no early data to offer.
func newEager(ctx context.Context, conn *quic.Conn, transport *http3.Transport) (http.RoundTripper, error) {
	if complete(conn) {
		conn, err := conn.NextConnection(ctx)
		if err != nil {
			return nil, err
		}
		return transport.NewClientConn(conn), nil
	}
	return &eager{conn: conn, transport: transport, first: transport.NewClientConn(conn)}, nil
}

func (e *eager) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet && !complete(e.conn) {
		response, err := e.early(request)
		if !errors.Is(err, quic.Err0RTTRejected) {
			return response, err
		}
	}
	if e.settled.Do(func() { e.failed = e.settle(request.Context()) }); e.failed != nil {
		return nil, e.failed
	}
	return e.next.RoundTrip(request)
}

func complete(conn *quic.Conn) bool {
	select {
	case <-conn.HandshakeComplete():
		return true
	default:
		return false
	}
}

// early sends a request at once, and reads its answer once the handshake has told whether the server took it. A stream
// that was refused must not be touched again: http3's RoundTrip resets it, and its number is another request's by then.
func (e *eager) early(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	stream, err := e.first.OpenRequestStream(ctx)
	if err != nil {
		return nil, err
	}
	if err := stream.SendRequestHeader(request); err != nil {
		return nil, err
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	_ = stream.Close()
	select {
	case <-e.conn.HandshakeComplete():
	case <-e.conn.Context().Done():
		return nil, context.Cause(e.conn.Context())
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if !e.conn.ConnectionState().Used0RTT {
		return nil, quic.Err0RTTRejected
	}
	return answerOf(ctx, stream)
}

// answerOf reads the answer of a request, which is given up when its context ends.
func answerOf(ctx context.Context, stream *http3.RequestStream) (*http.Response, error) {
	stop := context.AfterFunc(ctx, func() {
		stream.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
		stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
	})
	response, err := stream.ReadResponse()
	if err != nil {
		stop()
		return nil, err
	}
	response.Body = &answerBody{response.Body, stop}
	return response, nil
}

// answerBody lets go of the request's context when it has been read.
type answerBody struct {
	io.ReadCloser
	stop func() bool
}

func (b *answerBody) Close() error {
	b.stop()
	return b.ReadCloser.Close()
}

// settle waits for the end of the handshake. Where it has refused early data, the connection begins anew.
func (e *eager) settle(ctx context.Context) error {
	conn, err := e.conn.NextConnection(ctx)
	if err != nil {
		return err
	}
	if e.next = e.first; !conn.ConnectionState().Used0RTT {
		e.next = e.transport.NewClientConn(conn)
	}
	return nil
}
