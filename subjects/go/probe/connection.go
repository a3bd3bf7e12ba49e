package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// Windows of flow control.
const (
	streamWindow     = 6 << 20  // large enough not to be what holds a server back
	crowdWindow      = 64 << 10 // so small that a larger body cannot end before it is read
	connectionWindow = 15 << 20 // of a whole crowd, too
)

// A QUIC connection may be idle for long as far as the probe is concerned; as other clients, it sees to it that the
// server's own limit does not end it.
const (
	patience  = 2 * time.Minute
	keepAlive = 10 * time.Second
)

// connection is one to the server.
type connection struct {
	http.RoundTripper
	state func() tls.ConnectionState
	quic  *quic.Conn // nil over TCP
	close func()
}

// tls is a configuration that leaves all but the protocol to the server.
func (p *plan) tls() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		RootCAs:    p.roots,
		ServerName: host,
		NextProtos: []string{alpn[p.Protocol]},
	}
}

func quicConfig(window uint64) *quic.Config {
	return &quic.Config{
		MaxIdleTimeout:                 patience,
		KeepAlivePeriod:                keepAlive,
		InitialStreamReceiveWindow:     window,
		MaxStreamReceiveWindow:         window,
		InitialConnectionReceiveWindow: connectionWindow,
		MaxConnectionReceiveWindow:     connectionWindow,
	}
}

// dial connects once; the connection is ready for requests.
func (p *plan) dial(ctx context.Context, config *tls.Config) (*connection, error) {
	return p.dialWindow(ctx, config, streamWindow)
}

// dialWindow connects with a window for each stream, at most of 4 MB over HTTP/2; HTTP/1.1 has none.
func (p *plan) dialWindow(ctx context.Context, config *tls.Config, window int) (*connection, error) {
	if p.Protocol != "h3" {
		return p.dialTCP(ctx, config, min(window, 4<<20))
	}
	conn, err := quic.DialAddr(ctx, p.endpoint(), config, quicConfig(uint64(window)))
	if err != nil {
		return nil, err
	}
	return overQUIC(conn), nil
}

func overQUIC(conn *quic.Conn) *connection {
	transport := &http3.Transport{DisableCompression: true}
	return &connection{
		RoundTripper: transport.NewClientConn(conn),
		state:        func() tls.ConnectionState { return conn.ConnectionState().TLS },
		quic:         conn,
		close:        func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") },
	}
}

func (p *plan) dialTCP(ctx context.Context, config *tls.Config, window int) (*connection, error) {
	var protocols http.Protocols
	protocols.SetHTTP1(p.Protocol == "h1")
	protocols.SetHTTP2(p.Protocol == "h2")
	var secure *tls.Conn
	transport := &http.Transport{
		Protocols:          &protocols,
		DisableCompression: true,
		HTTP2:              &http.HTTP2Config{MaxReceiveBufferPerStream: window},
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var err error
			secure, err = p.dialTLS(ctx, config)
			if err != nil {
				return nil, err
			}
			return secure, nil
		},
	}
	client, err := transport.NewClientConn(ctx, "https", p.endpoint())
	if err != nil {
		return nil, err
	}
	return &connection{
		RoundTripper: client, state: secure.ConnectionState, close: func() { _ = secure.Close() },
	}, nil
}

func (p *plan) dialTLS(ctx context.Context, config *tls.Config) (*tls.Conn, error) {
	dialer := tls.Dialer{Config: config}
	conn, err := dialer.DialContext(ctx, "tcp", p.endpoint())
	if err != nil {
		return nil, err
	}
	return conn.(*tls.Conn), nil
}

// negotiate is the protocol that the server chose.
func (p *plan) negotiate(ctx context.Context, config *tls.Config) (string, error) {
	if p.Protocol == "h3" {
		conn, err := quic.DialAddr(ctx, p.endpoint(), config, quicConfig(streamWindow))
		if err != nil {
			return "", err
		}
		defer conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
		return conn.ConnectionState().TLS.NegotiatedProtocol, nil
	}
	conn, err := p.dialTLS(ctx, config)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().NegotiatedProtocol, nil
}
