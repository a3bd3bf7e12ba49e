package peer

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// A load balancer of layer 4 before several servers over HTTP/3, each with a socket of its own on loopback that knows
// nothing of the others' connections. Which of them gets a packet, the balancer decides by what stands in it: by the
// client's address and port, as such balancers do for TCP, or by the connection ID, of which each server makes its own.

const (
	// idLength is what the servers' connection IDs have, bytes. A packet with a short header does not say it.
	idLength = 8
	// mostFlows is how many pairs of a client's address and a server have a socket; packets of others are dropped.
	mostFlows = 4096
	// datagramRoom holds any datagram.
	datagramRoom = 1 << 16
)

// policy is what a balancer goes by.
type policy string

const (
	byAddress      policy = "address"
	byConnectionID policy = "connection-id"
)

// balance is the command `balance`.
func balance(arguments []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("balance", flag.ContinueOnError)
	by := flags.String("by", "", "address or connection-id: what decides which server gets a packet")
	servers := flags.Uint("servers", 0, "`number` of servers, 1 to 256")
	address := flags.String("address", "", "IP address to listen on")
	port := flags.Uint("port", 0, "UDP port to listen on; 0 for any that is free")
	certificate := flags.String("cert", "", "certificate chain, PEM `file`")
	key := flags.String("key", "", "its private key, PEM `file`")
	documents := documentsFlag(flags)
	sendingFlags(flags)
	if err := parse(flags, arguments, stderr); err != nil {
		return err
	}
	if goesBy := policy(*by); (goesBy != byAddress && goesBy != byConnectionID) || *servers < 1 || *servers > 256 {
		return failure{exitBadInput, errors.New("--by is address or connection-id, --servers 1 to 256")}
	}
	config, err := serverTLS(h3, tls13, x25519, *certificate, *key)
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer release()
	endpoint := net.JoinHostPort(*address, strconv.FormatUint(uint64(*port), 10))
	front, err := listenUDP(endpoint)
	if err != nil {
		return err
	}
	b := &balancer{policy: policy(*by), front: front, flows: map[flow]*net.UDPConn{}, given: map[netip.AddrPort]int{}}
	defer b.close()
	for n := range *servers {
		running, err := startNumbered(byte(n), byte(*servers-1), config, routes(nil, *documents))
		if err != nil {
			return err
		}
		defer running.stop()
		b.servers = append(b.servers, running.address)
	}
	fmt.Fprintf(stderr, "h123-go: serving h3 on %s, by %s to %d servers\n", front.LocalAddr(), *by, *servers)
	go b.run()
	<-ctx.Done()
	return nil
}

func listenUDP(endpoint string) (*net.UDPConn, error) {
	socket, err := net.ListenPacket("udp", endpoint)
	if err != nil {
		return nil, listenError(endpoint, err)
	}
	return socket.(*net.UDPConn), nil
}

// startNumbered starts a server on loopback whose connection IDs say which of the servers it is.
func startNumbered(number, last byte, config *tls.Config, handler http.Handler) (*service, error) {
	socket, err := listenUDP("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	transport := &quic.Transport{Conn: socket, ConnectionIDGenerator: numbered{number, last}}
	quicly := quicConfig(serverHandshakeTime, maxStreams)
	quicly.Allow0RTT = true
	listener, err := transport.ListenEarly(http3.ConfigureTLSConfig(config), quicly)
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	server := &http3.Server{Handler: handler}
	end := make(chan error, 1)
	go func() { end <- server.ServeListener(listener) }()
	return &service{server, socket.LocalAddr(), end}, nil
}

// numbered makes the connection IDs of one server: their first byte, modulo the number of servers, is its own number.
// So is that of an ID that a client makes up for its first packets, of whichever server gets them.
type numbered struct{ number, last byte }

func (n numbered) GenerateConnectionID() (quic.ConnectionID, error) {
	id := make([]byte, idLength)
	if _, err := rand.Read(id); err != nil {
		return quic.ConnectionID{}, err
	}
	servers := int(n.last) + 1
	id[0] = byte(int(id[0])%(256/servers)*servers + int(n.number))
	return quic.ConnectionIDFromBytes(id), nil
}

func (n numbered) ConnectionIDLen() int { return idLength }

// flow is a client's address and the server that its packets go to.
type flow struct {
	client netip.AddrPort
	server int
}

type balancer struct {
	policy  policy
	front   *net.UDPConn
	servers []net.Addr
	given   map[netip.AddrPort]int // by address: the server of each client, in turn
	lock    sync.Mutex             // of flows, which close looks at, too
	flows   map[flow]*net.UDPConn
}

// run passes packets on until the front is closed.
func (b *balancer) run() {
	packet := make([]byte, datagramRoom)
	for {
		length, client, err := b.front.ReadFromUDPAddrPort(packet)
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue // what a client that has gone answers
		}
		server, known := b.choose(packet[:length], client)
		if !known {
			continue
		}
		if socket := b.flow(flow{client, server}); socket != nil {
			_, _ = socket.Write(packet[:length]) // one that is lost is sent again by its sender
		}
	}
}

// choose says which server gets a packet; false: it is none of QUIC's.
func (b *balancer) choose(packet []byte, client netip.AddrPort) (int, bool) {
	if b.policy == byConnectionID {
		first, known := firstOfID(packet)
		return int(first) % len(b.servers), known
	}
	server, known := b.given[client]
	if !known {
		server = len(b.given) % len(b.servers)
		b.given[client] = server
	}
	return server, true
}

// firstOfID is the first byte of a packet's destination connection ID (RFC 8999, section 5).
func firstOfID(packet []byte) (byte, bool) {
	const longHeader, lengthAt = 0x80, 5
	at := 1
	if len(packet) > lengthAt && packet[0]&longHeader != 0 {
		if packet[lengthAt] == 0 {
			return 0, false
		}
		at = lengthAt + 1
	}
	if len(packet) <= at {
		return 0, false
	}
	return packet[at], true
}

// flow is the socket that a server knows this client's address by; nil where there is none to be had.
func (b *balancer) flow(f flow) *net.UDPConn {
	b.lock.Lock()
	defer b.lock.Unlock()
	if socket, known := b.flows[f]; known {
		return socket
	}
	if len(b.flows) == mostFlows {
		return nil
	}
	socket, err := net.DialUDP("udp", nil, b.servers[f.server].(*net.UDPAddr))
	if err != nil {
		return nil
	}
	b.flows[f] = socket
	go b.answer(socket, f.client)
	return socket
}

// answer passes on what a server sends to a client, until the socket is closed.
func (b *balancer) answer(from *net.UDPConn, client netip.AddrPort) {
	packet := make([]byte, datagramRoom)
	for {
		length, err := from.Read(packet)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			_, _ = b.front.WriteToUDPAddrPort(packet[:length], client)
		}
	}
}

func (b *balancer) close() {
	b.lock.Lock()
	defer b.lock.Unlock()
	_ = b.front.Close()
	for _, socket := range b.flows {
		_ = socket.Close()
	}
}
