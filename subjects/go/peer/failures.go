package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/net/http2"
)

var (
	errInterrupted = errors.New("interrupted")
	errTimeout     = errors.New("timeout")
	// errAbandoned ends requests whose user has left, as it should.
	errAbandoned = errors.New("abandoned")
	// errAgain ends tries of requests that are made again.
	errAgain = errors.New("made again")
	// errStatus marks answers that have another status than they must.
	errStatus = errors.New("status")
	// errProtocol marks answers that break HTTP's rules and that the libraries let pass.
	errProtocol = errors.New("protocol")
	// errWrongBytes marks bodies that came whole and are not the block.
	errWrongBytes = errors.New("wrong-bytes")
)

// alertNoApplicationProtocol is TLS's alert for "no protocol in common" (RFC 7301).
const alertNoApplicationProtocol = 120

// classify puts the end of a request into the words of the contract: abandoned, timeout, reset, refused, tls, protocol,
// wrong-bytes, or `other: ` with the error's own text. ctx is the request's.
func classify(ctx context.Context, err error) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errInterrupted):
		return "other: interrupted"
	case errors.Is(cause, errAbandoned):
		return errAbandoned.Error()
	case errors.Is(cause, errTimeout), isTimeout(err):
		return "timeout"
	case errors.Is(err, errWrongBytes):
		return "wrong-bytes"
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

// transient says whether a request that failed may have an answer if it is made again: it has had none, and neither side
// has broken a rule.
func transient(ctx context.Context, err error) bool {
	return !errors.Is(err, errStatus) && !slices.Contains([]string{"tls", "protocol", "wrong-bytes"}, classify(ctx, err))
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
	return says(err, "tls: no application protocol", "malformed HTTP", "connection error: ")
}

func isTLS(err error) bool {
	if transport, ok := errors.AsType[*quic.TransportError](err); ok {
		return transport.ErrorCode.IsCryptoError()
	}
	return says(err, "tls: ", "x509: ")
}

// says looks for words in an error's text: how the errors are told apart whose types the libraries do not export
// (TLS alerts, those of net/http's HTTP/2).
func says(err error, words ...string) bool {
	text := err.Error()
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
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
	return says(err, "http2: server sent GOAWAY", "http2: Transport received", "http2: client conn", "http: server closed idle connection")
}
