package probe

import (
	"context"
	"errors"
	"fmt"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const (
	// reserved is a setting and a type of streams that mean nothing, and that everybody has to bear (RFC 9114, 7.2.4.1
	// and 6.2.3): browsers send such.
	reserved     = 0x21
	qpackEncoder = 0x02 // types of streams (RFC 9204, 4.2)
	qpackDecoder = 0x03
)

// askReserved sends both, then a request; the server has to have settings of its own.
func (p *plan) askReserved(ctx context.Context) (string, error) {
	conn, told, err := p.dialTold(ctx)
	if err != nil {
		return "", err
	}
	defer conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
	transport := &http3.Transport{DisableCompression: true, AdditionalSettings: map[uint64]uint64{reserved: 1}}
	client := transport.NewClientConn(conn)
	// With its settings the client has begun its own stream, for which there must be room.
	if err := download(1000)(ctx, client); err != nil {
		return "", fmt.Errorf("a request beside a reserved setting: %w", err)
	}
	// nginx wants QPACK's streams, which may be missing, before it bears others. They stay open, and empty.
	kinds := []byte{qpackEncoder, qpackDecoder, reserved}
	if told.parameters().InitialMaxStreamsUni <= int64(len(kinds)) {
		return "without a reserved stream: the server allows no more than HTTP/3's own", nil
	}
	for _, kind := range kinds {
		stream, err := conn.OpenUniStreamSync(ctx)
		if err != nil {
			return "", err
		}
		_, _ = stream.Write([]byte{kind})
		if kind == reserved {
			// The server may refuse to read it, which is none of our business.
			_ = stream.Close()
		}
	}
	for range 2 { // the second request comes when the first one's stream has surely been seen
		if err := download(1000)(ctx, client); err != nil {
			return "", fmt.Errorf("a request beside a reserved stream: %w", err)
		}
	}
	select {
	case <-client.ReceivedSettings():
		return "", nil
	case <-ctx.Done():
		return "", errors.New("the server sent no SETTINGS")
	}
}
