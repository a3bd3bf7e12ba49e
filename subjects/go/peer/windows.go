package peer

import (
	"net/http"
	"time"

	"github.com/quic-go/quic-go"
)

// Flow control and concurrency are the same for HTTP/2 and HTTP/3, on both sides, so that they are not what a
// comparison finds. The libraries' defaults differ: a net/http server takes an upload through 1 MiB windows, below
// the bandwidth-delay product of 100 Mbit/s at 100 ms, while quic-go's windows grow to 6 and 15 MiB; and 250
// requests may be under way on an HTTP/2 connection, but 100 on HTTP/3. The windows chosen are Chromium's.
const (
	streamWindow     = 6 << 20
	connectionWindow = 15 << 20
	maxStreams       = 1000
)

func http2Config() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxReceiveBufferPerStream:     streamWindow,
		MaxReceiveBufferPerConnection: connectionWindow,
		MaxConcurrentStreams:          maxStreams,
	}
}

// idle is after how long without a packet a QUIC connection ends; TCP's retransmissions go on for longer than that.
const idle = 300 * time.Second

// quicConfig gives connections the patience of TCP's: quic-go's own limits, 5 s without a packet in a handshake and
// 30 s later, would fail requests across an outage that TCP survives. Keep-alive is that of quic-go's own HTTP/3 client. streams is how
// many requests the other side may have under way, -1 for none.
func quicConfig(handshake time.Duration, streams int64) *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout:           handshake,
		MaxIdleTimeout:                 idle,
		KeepAlivePeriod:                10 * time.Second,
		InitialStreamReceiveWindow:     streamWindow,
		MaxStreamReceiveWindow:         streamWindow,
		InitialConnectionReceiveWindow: connectionWindow,
		MaxConnectionReceiveWindow:     connectionWindow,
		MaxIncomingStreams:             streams,
		InitialPacketSize:              maxDatagram,
		DisablePathMTUDiscovery:        maxDatagram != 0,
	}
}
