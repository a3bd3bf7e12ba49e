package main

import (
	"net"
	"time"
)

const (
	// smallBuffer is what the socket of a server that overflows is asked to hold, in bytes: some ten datagrams.
	smallBuffer = 8 << 10
	awake       = 30 * time.Millisecond
	asleep      = 20 * time.Millisecond
)

// sleepy is a UDP socket whose reader sleeps every now and then, as one does that has other work, so that datagrams
// find its buffer full. It hides that the socket's buffer can be enlarged, which QUIC's library would do.
type sleepy struct {
	net.PacketConn
	woke time.Time
}

func newSleepy(socket net.PacketConn) (*sleepy, error) {
	return &sleepy{PacketConn: socket}, socket.(*net.UDPConn).SetReadBuffer(smallBuffer)
}

func (s *sleepy) ReadFrom(into []byte) (int, net.Addr, error) {
	if time.Since(s.woke) > awake {
		time.Sleep(asleep)
		s.woke = time.Now()
	}
	return s.PacketConn.ReadFrom(into)
}
