package peer

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// roaming is a client's socket that can be exchanged for another one, as a NAT does that has forgotten a connection.
type roaming struct {
	net.PacketConn // the first, for what the others have alike
	current        atomic.Pointer[net.UDPConn]
}

func roam(t *testing.T) *roaming {
	t.Helper()
	first := loopback(t)
	r := &roaming{PacketConn: first}
	r.current.Store(first)
	return r
}

func loopback(t *testing.T) *net.UDPConn {
	t.Helper()
	socket, err := listenUDP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return socket
}

func (r *roaming) WriteTo(packet []byte, to net.Addr) (int, error) {
	return r.current.Load().WriteTo(packet, to)
}

// ReadFrom looks at whichever socket is the current one, anew every few milliseconds.
func (r *roaming) ReadFrom(packet []byte) (int, net.Addr, error) {
	for {
		socket := r.current.Load()
		_ = socket.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		n, from, err := socket.ReadFrom(packet)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			continue
		}
		return n, from, err
	}
}

func (r *roaming) SetReadDeadline(time.Time) error { return nil }

// balanced starts two servers behind a balancer and says where it listens.
func balanced(t *testing.T, by policy) net.Addr {
	t.Helper()
	certificate, key := identity(t)
	config, err := serverTLS(h3, tls13, x25519, certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{policy: by, front: loopback(t), flows: map[flow]*net.UDPConn{}, given: map[netip.AddrPort]int{}}
	for n := range byte(2) {
		named := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, n) })
		running, err := startNumbered(n, 1, config, named)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(running.stop)
		b.servers = append(b.servers, running.address)
	}
	go b.run()
	t.Cleanup(b.close)
	return b.front.LocalAddr()
}

// reach opens a connection from the socket to the balancer.
func reach(t *testing.T, socket net.PacketConn, to net.Addr) *http3.ClientConn {
	t.Helper()
	transport := &quic.Transport{Conn: socket}
	t.Cleanup(func() { _ = transport.Close() })
	trusting := &tls.Config{InsecureSkipVerify: true, ServerName: serverName, NextProtos: []string{http3.NextProtoH3}}
	connection, err := transport.Dial(t.Context(), to, trusting, quicConfig(5*time.Second, -1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.CloseWithError(0, "") })
	return (&http3.Transport{}).NewClientConn(connection)
}

// answered is the number of the server that answers within a time.
func answered(t *testing.T, c *http3.ClientConn, within time.Duration) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+serverName+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func TestClientsAreSharedBetweenServers(t *testing.T) {
	for _, by := range []policy{byAddress, byConnectionID} {
		front, servers := balanced(t, by), map[string]int{}
		for range 24 {
			server, err := answered(t, reach(t, loopback(t), front), 10*time.Second)
			if err != nil {
				t.Fatal(by, err)
			}
			servers[server]++
		}
		if len(servers) != 2 || (by == byAddress && servers["0"] != 12) { // by ID, all alike once in eight million times
			t.Error(by, servers)
		}
	}
}

func TestOnlyByConnectionIDAClientKeepsItsServer(t *testing.T) {
	for by, keeps := range map[policy]bool{byConnectionID: true, byAddress: false} {
		front, socket := balanced(t, by), roam(t)
		client := reach(t, socket, front)
		before, err := answered(t, client, 10*time.Second)
		if err != nil {
			t.Fatal(by, err)
		}
		socket.current.Store(loopback(t))
		patience := 2 * time.Second // of a server that never answers
		if keeps {
			patience = 20 * time.Second
		}
		after, err := answered(t, client, patience)
		if keeps != (err == nil && after == before) {
			t.Error(by, before, after, err)
		}
	}
}

func TestConnectionIDsSayWhoMadeThem(t *testing.T) {
	for _, servers := range []int{1, 2, 3, 100, 256} {
		for range 200 {
			number := servers - 1
			id, err := numbered{byte(number), byte(servers - 1)}.GenerateConnectionID()
			if err != nil || int(id.Bytes()[0])%servers != number || id.Len() != idLength {
				t.Fatal(servers, id, err)
			}
		}
	}
}

func TestFirstByteOfAConnectionID(t *testing.T) {
	for _, packet := range []struct {
		bytes []byte
		first byte
		known bool
	}{
		{[]byte{0x40, 7, 8}, 7, true},                   // short header
		{[]byte{0xc0, 0, 0, 0, 1, 8, 9, 1, 2}, 9, true}, // long header
		{[]byte{0xc0, 0, 0, 0, 1, 0, 9}, 0, false},      // without an ID
		{[]byte{0xc0, 0, 0, 0, 1, 8}, 0, false},         // cut off
		{[]byte{0x40}, 0, false}, {nil, 0, false},
	} {
		if first, known := firstOfID(packet.bytes); known != packet.known || first != packet.first {
			t.Error(packet, first, known)
		}
	}
}
