package peer

import (
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// wire is a relay between client and server. It sees from outside how many connections there are, whatever the
// programs say, and can break them.
type wire struct {
	served
	mutex  sync.Mutex
	ends   []io.Closer
	count  atomic.Int64
	silent atomic.Bool
}

// tap puts a relay before a server.
func tap(t *testing.T, server served) *wire {
	t.Helper()
	w := &wire{served: server}
	behind := net.JoinHostPort("127.0.0.1", strconv.Itoa(server.port))
	if server.protocol == h3 {
		socket, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = socket.Close(); w.cut() })
		w.port = portOf(t, socket.LocalAddr().String())
		go w.relayUDP(socket, behind)
		return w
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close(); w.cut() })
	w.port = portOf(t, listener.Addr().String())
	go w.relayTCP(listener, behind)
	return w
}

func (w *wire) connections() int { return int(w.count.Load()) }

// silence makes the wire swallow all that comes from now on.
func (w *wire) silence() { w.silent.Store(true) }

// cut ends all connections of now; for TCP both sides notice.
func (w *wire) cut() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends = nil
}

func (w *wire) keep(end io.Closer) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.ends = append(w.ends, end)
}

func (w *wire) relayTCP(listener net.Listener, behind string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		w.count.Add(1)
		w.keep(client)
		if w.silent.Load() {
			continue
		}
		server, err := net.Dial("tcp", behind)
		if err != nil {
			_ = client.Close()
			continue
		}
		w.keep(server)
		pass := func(to, from net.Conn) {
			_, _ = io.Copy(to, from)
			_ = to.Close()
			_ = from.Close()
		}
		go pass(server, client)
		go pass(client, server)
	}
}

// relayUDP takes each address of a client for one connection.
func (w *wire) relayUDP(socket net.PacketConn, behind string) {
	servers := map[string]net.Conn{}
	packet := make([]byte, 65536)
	for {
		n, client, err := socket.ReadFrom(packet)
		if err != nil {
			return
		}
		if w.silent.Load() {
			continue
		}
		server := servers[client.String()]
		if server == nil {
			if server, err = net.Dial("udp", behind); err != nil {
				continue
			}
			w.count.Add(1)
			w.keep(server)
			servers[client.String()] = server
			go func() {
				answer := make([]byte, 65536)
				for {
					n, err := server.Read(answer)
					if err != nil {
						return
					}
					_, _ = socket.WriteTo(answer[:n], client)
				}
			}()
		}
		_, _ = server.Write(packet[:n])
	}
}
