package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/quic-go/quic-go"
)

// arrivals is a socket that remembers when datagrams came, and of how many bytes.
type arrivals struct {
	net.PacketConn
	begun time.Time
	seen  []arrival
}

type arrival struct {
	at    time.Duration
	bytes int
}

func (a *arrivals) ReadFrom(into []byte) (int, net.Addr, error) {
	n, from, err := a.PacketConn.ReadFrom(into)
	if err == nil {
		a.seen = append(a.seen, arrival{time.Since(a.begun), n}) // quic-go reads in one goroutine
	}
	return n, from, err
}

// SetReadBuffer is what quic-go asks of a socket.
func (a *arrivals) SetReadBuffer(bytes int) error {
	return a.PacketConn.(*net.UDPConn).SetReadBuffer(bytes)
}

// recordArrivals downloads once and writes the arrivals, from which the server's congestion control shows.
func (p *plan) recordArrivals(ctx context.Context) (string, error) {
	if p.Protocol != "h3" {
		return "", errors.New("only over h3")
	}
	server, err := net.ResolveUDPAddr("udp", p.endpoint())
	if err != nil {
		return "", err
	}
	socket, err := net.ListenUDP("udp", nil)
	if err != nil {
		return "", err
	}
	watched := &arrivals{PacketConn: socket, begun: time.Now()}
	transport := &quic.Transport{Conn: watched}
	conn, err := transport.Dial(ctx, server, p.tls(), quicConfig(streamWindow))
	if err != nil {
		return "", err
	}
	c := overQUIC(conn)
	asked := download(p.Sizes[0])(ctx, c)
	c.close()
	// When it returns, nothing is read any more.
	if err := errors.Join(transport.Close(), socket.Close()); err != nil {
		return "", err
	}
	return "", errors.Join(asked, watched.write(p.Arrivals))
}

func (a *arrivals) write(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	to := bufio.NewWriter(file)
	fmt.Fprintln(to, "at_ns,bytes")
	for _, one := range a.seen {
		fmt.Fprintf(to, "%d,%d\n", one.at.Nanoseconds(), one.bytes)
	}
	return errors.Join(to.Flush(), file.Close())
}
