package peer

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

var errWrongALPN = errors.New("the other side does not speak the protocol asked for")

// tlsVersion is the one that a workload or a server's command asks for; empty: 1.3.
type tlsVersion string

const (
	tls12 tlsVersion = "1.2"
	tls13 tlsVersion = "1.3"
)

// versions are those of crypto/tls.
var versions = map[tlsVersion]uint16{"": tls.VersionTLS13, tls12: tls.VersionTLS12, tls13: tls.VersionTLS13}

// keyShare is the one that a workload or a server's command asks for; empty in a workload: X25519.
type keyShare string

const (
	x25519         keyShare = "X25519"
	x25519MLKEM768 keyShare = "X25519MLKEM768"
)

// groups are those of crypto/tls.
var groups = map[keyShare]tls.CurveID{"": tls.X25519, x25519: tls.X25519, x25519MLKEM768: tls.X25519MLKEM768}

// curves are what keys are exchanged by: one alone. TLS 1.2 has the certificate's curve in the same list (RFC 8422,
// section 5.1.1), behind it.
func curves(version tlsVersion, share keyShare) []tls.CurveID {
	if version == tls12 {
		return []tls.CurveID{tls.X25519, tls.CurveP256}
	}
	return []tls.CurveID{groups[share]}
}

// supported refuses what is not known here, and what does not exist.
func (s keyShare) supported(v tlsVersion) error {
	switch {
	case groups[s] == 0:
		return failure{exitUnsupported, fmt.Errorf("key share: only %s and %s are possible here, not %q", x25519, x25519MLKEM768, string(s))}
	case s == x25519MLKEM768 && v == tls12:
		return failure{exitUnsupported, errors.New("key share: TLS 1.2 has no X25519MLKEM768")}
	}
	return nil
}

// supported refuses what is not known here, and what does not exist.
func (v tlsVersion) supported(p protocol) error {
	switch {
	case versions[v] == 0:
		return failure{exitUnsupported, fmt.Errorf("tls: only %s and %s are possible here, not %q", tls12, tls13, string(v))}
	case v == tls12 && p == h3:
		return failure{exitUnsupported, errors.New("tls: HTTP/3 has no TLS but 1.3 (RFC 9001)")}
	}
	return nil
}

// pinned is what both sides have in common: one version of TLS, one key share (post-quantum ones, which add about 1.1 kB
// each way, only where they are asked for) and a single protocol. Go does not let TLS 1.3 ciphers be chosen; it takes
// AES-128-GCM where the processor has AES instructions, with TLS 1.2 too.
func pinned(p protocol, version tlsVersion, share keyShare) *tls.Config {
	return &tls.Config{
		MinVersion:       versions[version],
		MaxVersion:       versions[version],
		CurvePreferences: curves(version, share),
		NextProtos:       []string{alpn[p]},
	}
}

// serverTLS is the server's configuration with the certificate of two PEM files.
func serverTLS(p protocol, version tlsVersion, share keyShare, certificate, key string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("cannot load the certificate %s with the key %s: %w", certificate, key, err)
	}
	config := pinned(p, version, share)
	config.Certificates = []tls.Certificate{pair}
	if p == h2 {
		// Go would serve HTTP/1.1 on this port to clients that offer it, or offer nothing.
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if offered := hello.SupportedProtos; !slices.Contains(offered, alpn[p]) {
				return nil, fmt.Errorf("%w: the client offers %q, this server speaks %q", errWrongALPN, offered, alpn[p])
			}
			return nil, nil
		}
	}
	return config, nil
}

// clientTLS is the client's configuration: it trusts the roots of one PEM file and asks for host. It keeps no
// session cache, so every handshake is a full one.
func clientTLS(p protocol, version tlsVersion, share keyShare, host, roots string) (*tls.Config, error) {
	pem, err := os.ReadFile(roots)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", roots)
	}
	config := pinned(p, version, share)
	config.RootCAs = pool
	config.ServerName = host
	if config.KeyLogWriter, err = keyLog(); err != nil {
		return nil, err
	}
	// What the server ignores is not an error in TLS. Without ALPN at all it speaks HTTP/1.1.
	config.VerifyConnection = func(state tls.ConnectionState) error {
		name := state.NegotiatedProtocol
		if name == alpn[p] || (p == h1 && name == "") {
			return nil
		}
		return fmt.Errorf("%w: negotiated %q, want %q", errWrongALPN, name, alpn[p])
	}
	return config, nil
}

// keyLog is the file to which the keys of connections are appended, so that a capture can be read: the one that
// SSLKEYLOGFILE names, or nil.
func keyLog() (io.Writer, error) {
	name := os.Getenv("SSLKEYLOGFILE")
	if name == "" {
		return nil, nil
	}
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}
