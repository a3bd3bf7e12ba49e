package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// askTLS says what was negotiated with a client that leaves the choice to the server.
func (p *plan) askTLS(ctx context.Context) (string, error) {
	c, err := p.dial(ctx, p.tls())
	if err != nil {
		return "", err
	}
	defer c.close()
	state := c.state()
	seen := fmt.Sprintf("%s, %s, %s", tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite), state.CurveID)
	if state.HelloRetryRequest {
		seen += ", after a round trip more (HelloRetryRequest)"
	}
	if state.Version != versions[p.TLS] {
		return "", errors.New(seen)
	}
	return seen, nil
}

// askALPN offers HTTP/1.1 and HTTP/2 together over TCP: the server must choose the one that it was told to speak.
func (p *plan) askALPN(ctx context.Context) (string, error) {
	config := p.tls()
	if p.Protocol != "h3" {
		config.NextProtos = []string{"h2", "http/1.1"}
		if p.Protocol == "h2" {
			slices.Reverse(config.NextProtos)
		}
	}
	name, err := p.negotiate(ctx, config)
	if err != nil {
		return "", err
	}
	if p.Protocol == "h1" && name == "" {
		return "none: the server takes no part in ALPN, which stands for HTTP/1.1", nil
	}
	if name != alpn[p.Protocol] {
		return "", fmt.Errorf("offered %q, the server chose %q", config.NextProtos, name)
	}
	return name, nil
}

// askX25519 offers nothing else for the exchange of keys, as the clients do that are to be alike. TLS 1.2 has the
// certificate's curve in the same list (RFC 8422, section 5.1.1).
func (p *plan) askX25519(ctx context.Context) (string, error) {
	config := p.tls()
	config.CurvePreferences = []tls.CurveID{tls.X25519}
	if versions[p.TLS] == tls.VersionTLS12 {
		config.CurvePreferences = append(config.CurvePreferences, tls.CurveP256)
	}
	if _, err := p.negotiate(ctx, config); err != nil {
		return "", fmt.Errorf("no connection where X25519 alone is offered: %w", err)
	}
	return "", nil
}

// askOthers offers what the server was not told to speak, by itself. The contract lets it have that, since some cannot
// refuse it, and clients tell what they spoke.
func (p *plan) askOthers(ctx context.Context) (string, error) {
	offered := map[string][]string{"h1": {"h2"}, "h2": {"http/1.1"}, "h3": {"h2", "http/1.1"}}
	var spoken []string
	for _, name := range offered[p.Protocol] {
		config := p.tls()
		config.NextProtos = []string{name}
		// Whoever refuses does so in a way of its own: an alert, the end of the connection, no port at all.
		conn, err := p.dialTLS(ctx, config)
		if err != nil {
			continue
		}
		if conn.ConnectionState().NegotiatedProtocol == name {
			spoken = append(spoken, name)
		}
		_ = conn.Close()
	}
	if ctx.Err() != nil {
		return "", errors.New("a connection that offers another protocol alone is neither refused nor accepted")
	}
	if len(spoken) == 0 {
		return "none", nil
	}
	return strings.Join(spoken, " and ") + ", over TCP, where nothing else is offered", nil
}
