package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/net/http2"
)

var (
	errInterrupted = errors.New("interrupted")
	errTimeout     = errors.New("timeout")
	// errProtocol marks answers that break HTTP's rules and that the libraries let pass.
	errProtocol = errors.New("protocol")
)

// alertNoApplicationProtocol is TLS's alert for "no protocol in common" (RFC 7301).
const alertNoApplicationProtocol = 120

// classify puts the error of a request into the words of the contract: timeout, reset, refused, tls, protocol, or
// `other: ` with the error's own text. ctx is the request's.
func classify(ctx context.Context, err error) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errInterrupted):
		return "other: interrupted"
	case errors.Is(cause, errTimeout), isTimeout(err):
		return "timeout"
	case isRefused(err):
		return "refused"
	case isProtocol(err):
		return "protocol"
	case isTLS(err):
		return "tls"
	case isReset(err):
		return "reset"
	}
	return fmt.Sprintf("other: %s", strings.Join(strings.Fields(err.Error()), " "))
}

func isTimeout(err error) bool {
	timed, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || (ok && timed.Timeout())
}

func isRefused(err error) bool {
	transport, ok := errors.AsType[*quic.TransportError](err)
	return errors.Is(err, syscall.ECONNREFUSED) || (ok && transport.ErrorCode == quic.ConnectionRefused)
}

func isProtocol(err error) bool {
	if errors.Is(err, errProtocol) || errors.Is(err, errWrongALPN) {
		return true
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return alert == alertNoApplicationProtocol
	}
	if transport, ok := errors.AsType[*quic.TransportError](err); ok {
		switch transport.ErrorCode {
		case quic.NoError, quic.InternalError:
			return false
		case 0x100 + alertNoApplicationProtocol:
			return true
		}
		return !transport.ErrorCode.IsCryptoError()
	}
	if _, ok := errors.AsType[*quic.VersionNegotiationError](err); ok {
		return true
	}
	return strings.HasPrefix(err.Error(), "connection error: ") || // net/http's HTTP/2, of a type it does not export
		strings.Contains(err.Error(), "malformed HTTP")
}

func isTLS(err error) bool {
	if transport, ok := errors.AsType[*quic.TransportError](err); ok {
		return transport.ErrorCode.IsCryptoError()
	}
	var (
		alert        tls.AlertError
		record       tls.RecordHeaderError
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		hostname     x509.HostnameError
		invalid      x509.CertificateInvalidError
	)
	return errors.As(err, &alert) || errors.As(err, &record) || errors.As(err, &verification) ||
		errors.As(err, &authority) || errors.As(err, &hostname) || errors.As(err, &invalid) ||
		strings.HasPrefix(err.Error(), "tls: ")
}

// isReset says whether the other side, or its host, ended the connection or the stream before the answer was whole.
func isReset(err error) bool {
	for _, end := range []error{syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, end) {
			return true
		}
	}
	if _, ok := errors.AsType[http2.StreamError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*http3.Error](err); ok {
		return true
	}
	for _, text := range []string{"http2: server sent GOAWAY", "http2: client connection", "http2: client conn ",
		"http: server closed idle connection", "http: ClientConn closed"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}
