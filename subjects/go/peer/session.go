package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

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
	c, err := l.dialer.establish(ctx, false)
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
	first     http.RoundTripper
	begun     atomic.Int64 // requests, each on a stream of its own
	refused   sync.Once
	next      http.RoundTripper // after early data has been refused
	failed    error
}

func newEager(conn *quic.Conn, transport *http3.Transport) *eager {
	return &eager{conn: conn, transport: transport, first: transport.NewClientConn(conn)}
}

func (e *eager) RoundTrip(request *http.Request) (*http.Response, error) {
	early := request.WithContext(request.Context())
	if request.Method == http.MethodGet {
		early.Method = http3.MethodGet0RTT
	}
	e.begun.Add(1)
	response, err := e.first.RoundTrip(early)
	if !errors.Is(err, quic.Err0RTTRejected) {
		return response, err
	}
	if e.refused.Do(func() { e.failed = e.renew(request.Context()) }); e.failed != nil {
		return nil, e.failed
	}
	return e.next.RoundTrip(request)
}

// renew waits for the handshake that has refused early data. The streams of what was refused are numbered again from the
// first, but quic-go still resets those that it had: as many are given up, or it would be the next requests'.
func (e *eager) renew(ctx context.Context) error {
	conn, err := e.conn.NextConnection(ctx)
	if err != nil {
		return err
	}
	for range e.begun.Load() {
		stream, err := conn.OpenStreamSync(ctx)
		if err != nil {
			return err
		}
		stream.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
		stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
	}
	e.next = e.transport.NewClientConn(conn)
	return nil
}
