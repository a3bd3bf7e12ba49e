package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// Windows of flow control, large enough not to be what holds a server back.
const (
	streamWindow     = 6 << 20
	connectionWindow = 15 << 20
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

func quicConfig() *quic.Config {
	return &quic.Config{
		InitialStreamReceiveWindow:     streamWindow,
		MaxStreamReceiveWindow:         streamWindow,
		InitialConnectionReceiveWindow: connectionWindow,
		MaxConnectionReceiveWindow:     connectionWindow,
	}
}

// dial connects once; the connection is ready for requests.
func (p *plan) dial(ctx context.Context, config *tls.Config) (*connection, error) {
	if p.Protocol != "h3" {
		return p.dialTCP(ctx, config)
	}
	conn, err := quic.DialAddr(ctx, p.endpoint(), config, quicConfig())
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

func (p *plan) dialTCP(ctx context.Context, config *tls.Config) (*connection, error) {
	var protocols http.Protocols
	protocols.SetHTTP1(p.Protocol == "h1")
	protocols.SetHTTP2(p.Protocol == "h2")
	var secure *tls.Conn
	transport := &http.Transport{
		Protocols:          &protocols,
		DisableCompression: true,
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
		conn, err := quic.DialAddr(ctx, p.endpoint(), config, quicConfig())
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
