package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// tickets keeps the sessions that a server offers and tells of the first.
type tickets struct {
	tls.ClientSessionCache
	once  sync.Once
	first chan struct{}
}

func newTickets() *tickets {
	return &tickets{ClientSessionCache: tls.NewLRUClientSessionCache(4), first: make(chan struct{})}
}

func (t *tickets) Put(key string, state *tls.ClientSessionState) {
	t.ClientSessionCache.Put(key, state)
	if state != nil {
		t.once.Do(func() { close(t.first) })
	}
}

// session makes a first connection, a request on it, and waits for a ticket; what it returns resumes.
func (p *plan) session(ctx context.Context) (*tls.Config, error) {
	offered := newTickets()
	config := p.tls()
	config.ClientSessionCache = offered
	c, err := p.dial(ctx, config)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := download(1)(ctx, c); err != nil {
		return nil, err
	}
	select {
	case <-offered.first:
		return config, nil
	case <-ctx.Done():
	case <-time.After(noMore):
	}
	return nil, errors.New("the server offered no session ticket")
}

// askResumption makes further connections, whose handshakes must be abbreviated ones.
func (p *plan) askResumption(ctx context.Context) (string, error) {
	for n := range p.Resume {
		config, err := p.session(ctx)
		if err != nil {
			return "", err
		}
		if err := p.resume(ctx, config); err != nil {
			return "", fmt.Errorf("time %d of %d: %w", n+1, p.Resume, err)
		}
	}
	return "", nil
}

func (p *plan) resume(ctx context.Context, config *tls.Config) error {
	c, err := p.dial(ctx, config)
	if err != nil {
		return err
	}
	defer c.close()
	if err := download(1)(ctx, c); err != nil {
		return err
	}
	if !c.state().DidResume {
		return errors.New("a ticket was offered, but the second connection was not resumed")
	}
	return nil
}

// askEarly sends a request in the first flight of a second connection: it must be accepted as such, and answered.
func (p *plan) askEarly(ctx context.Context) (string, error) {
	if p.Protocol != "h3" {
		return "", errors.New("the probe has no 0-RTT over TCP")
	}
	config, err := p.session(ctx)
	if err != nil {
		return "", err
	}
	conn, err := quic.DialAddrEarly(ctx, p.endpoint(), config, quicConfig(streamWindow))
	if err != nil {
		return "", err
	}
	c := overQUIC(conn)
	defer c.close()
	if err := get(http3.MethodGet0RTT, 1000)(ctx, c); err != nil {
		return "", fmt.Errorf("a request in 0-RTT: %w", err)
	}
	select {
	case <-conn.HandshakeComplete():
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if !conn.ConnectionState().Used0RTT {
		return "", errors.New("a ticket was offered, but 0-RTT was not accepted with it")
	}
	return "", nil
}
