package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

var errWrongALPN = errors.New("the other side does not speak the protocol asked for")

// pinned is what both sides have in common: TLS 1.3, X25519 (no post-quantum share, which would add about 1.1 kB
// each way to some stacks only) and a single protocol. Go does not let TLS 1.3 ciphers be chosen; it takes
// AES-128-GCM where the processor has AES instructions.
func pinned(p protocol) *tls.Config {
	return &tls.Config{
		MinVersion:       tls.VersionTLS13,
		MaxVersion:       tls.VersionTLS13,
		CurvePreferences: []tls.CurveID{tls.X25519},
		NextProtos:       []string{alpn[p]},
		// Without this check a peer that ignores ALPN, or an HTTP/1.1 client of an HTTP/2 server, would be
		// taken for HTTP/1.1.
		VerifyConnection: func(state tls.ConnectionState) error {
			name := state.NegotiatedProtocol
			if name == alpn[p] || (p == h1 && name == "") {
				return nil
			}
			return fmt.Errorf("%w: negotiated %q, want %q", errWrongALPN, name, alpn[p])
		},
	}
}

// serverTLS is the server's configuration with the certificate of two PEM files.
func serverTLS(p protocol, certificate, key string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("cannot load the certificate %s with the key %s: %w", certificate, key, err)
	}
	config := pinned(p)
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// clientTLS is the client's configuration: it trusts the roots of one PEM file and asks for host. It keeps no
// session cache, so every handshake is a full one.
func clientTLS(p protocol, host, roots string) (*tls.Config, error) {
	pem, err := os.ReadFile(roots)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", roots)
	}
	config := pinned(p)
	config.RootCAs = pool
	config.ServerName = host
	return config, nil
}
