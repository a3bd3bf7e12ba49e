package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
	"golang.org/x/net/http2"
)

// leastIdle is what a server may announce over QUIC; clients keep connections open that need longer.
const leastIdle = 30 * time.Second

// askLimits says what the server lets a client send at first. The contract sets no numbers but that of requests under
// way, which is asked for by making them; but who compares uploads must know the windows.
func (p *plan) askLimits(ctx context.Context) (string, error) {
	if p.Protocol == "h3" {
		return p.limitsOverQUIC(ctx)
	}
	conn, err := p.dialTLS(ctx, p.tls())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return limitsOverTCP(conn)
}

// limitsOverTCP reads what the server says before it answers a PING, which comes behind its settings.
func limitsOverTCP(conn *tls.Conn) (string, error) {
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return "", err
	}
	framer := http2.NewFramer(conn, conn)
	if err := errors.Join(framer.WriteSettings(), framer.WritePing(false, [8]byte{})); err != nil {
		return "", err
	}
	const before = 65535 // what RFC 9113 begins with
	stream, connection, streams := uint32(before), uint32(before), "any number of"
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return "", fmt.Errorf("no answer to a PING: %w", err)
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if value, told := frame.Value(http2.SettingInitialWindowSize); told {
				stream = value
			}
			if value, told := frame.Value(http2.SettingMaxConcurrentStreams); told {
				streams = fmt.Sprint(value)
			}
		case *http2.WindowUpdateFrame:
			if frame.StreamID == 0 {
				connection += frame.Increment
			}
		case *http2.PingFrame:
			if frame.IsAck() {
				return fmt.Sprintf("receive windows of %d bytes a stream and %d a connection, %s requests at a time",
					stream, connection, streams), nil
			}
		}
	}
}

func (p *plan) limitsOverQUIC(ctx context.Context) (string, error) {
	conn, told, err := p.dialTold(ctx)
	if err != nil {
		return "", err
	}
	c := overQUIC(conn)
	defer c.close()
	if err := download(1)(ctx, c); err != nil {
		return "", err
	}
	if idle := told.parameters().MaxIdleTimeout; idle > 0 && idle < leastIdle {
		return "", fmt.Errorf("a connection may be idle for %v, which is less than %v: connections would end in a study's pauses", idle, leastIdle)
	}
	return told.String(), nil
}

// dialTold connects, and keeps in mind what the server says of itself.
func (p *plan) dialTold(ctx context.Context) (*quic.Conn, *parameters, error) {
	told := &parameters{}
	terms := quicConfig(streamWindow)
	terms.Tracer = func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace { return told }
	conn, err := quic.DialAddr(ctx, p.endpoint(), p.tls(), terms)
	return conn, told, err
}

// parameters keeps in mind what the server says of itself as a connection begins. quic-go tells its log.
type parameters struct {
	mutex   sync.Mutex
	its     qlog.ParametersSet
	retried bool
}

func (t *parameters) AddProducer() qlogwriter.Recorder { return t }

func (t *parameters) SupportsSchemas(string) bool { return true }

func (t *parameters) Close() error { return nil }

func (t *parameters) RecordEvent(event qlogwriter.Event) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	switch event := event.(type) {
	case qlog.ParametersSet:
		if event.Initiator == qlog.InitiatorRemote {
			t.its = event
		}
	case qlog.PacketReceived:
		t.retried = t.retried || event.Header.PacketType == qlog.PacketTypeRetry
	}
}

func (t *parameters) parameters() qlog.ParametersSet {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.its
}

func (t *parameters) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	idle := "no limit to idleness"
	if t.its.MaxIdleTimeout > 0 {
		idle = fmt.Sprintf("idle for %v", t.its.MaxIdleTimeout.Round(time.Millisecond))
	}
	said := fmt.Sprintf("receive windows of %d bytes a stream and %d a connection, %d requests at a time, %s, datagrams of %d bytes",
		t.its.InitialMaxStreamDataBidiRemote, t.its.InitialMaxData, t.its.InitialMaxStreamsBidi, idle, t.its.MaxUDPPayloadSize)
	if t.retried {
		said += ", after a round trip more (Retry)"
	}
	return said
}
