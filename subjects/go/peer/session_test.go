package peer

import (
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// onePerUser is a workload with a cold request on each of three connections.
func onePerUser(sessions any) fields {
	return fields{"cold": true, "connections": "per-user", "requests": 1, "sessions": sessions}
}

func (d driven) mustHave(t *testing.T, resumed, early bool) {
	t.Helper()
	if len(d.facts.TLS) != 1 || d.facts.TLS[0].Connections != 3 || d.facts.TLS[0].Resumed != resumed ||
		d.facts.TLS[0].Early != early || d.facts.TLS[0].Version != "1.3" {
		t.Errorf("facts %+v", d.facts)
	}
}

func TestSessions(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		server := serveProcess(t, p)
		full := server.drive(t, onePerUser(absent))
		full.mustSucceed(t, 6)
		full.mustHave(t, false, false)
		resumed := server.drive(t, onePerUser("resumed"))
		resumed.mustSucceed(t, 6)
		resumed.mustHave(t, true, false)
		if p == h3 {
			early := server.drive(t, onePerUser("early"))
			early.mustSucceed(t, 6)
			early.mustHave(t, true, true)
			return
		}
		status, said := execute(t, driving(server.workloadFile(t, onePerUser("early")))...)
		if status != 127 || !strings.Contains(said, "early data over "+string(p)) {
			t.Errorf("exit %d, %s", status, said)
		}
	})
}

func driving(workload string) []string {
	return []string{"drive", "--workload", workload, "--samples", "/nowhere/s", "--facts", "/nowhere/f",
		"--initial-window", "", "--pacing", "", "--max-datagram", ""}
}

func TestSessionsThatAreUnknownAreRefused(t *testing.T) {
	t.Parallel()
	server := served{protocol: h3, port: 1, ca: "/nowhere/ca.pem"}
	for _, c := range []struct {
		changes fields
		status  int
		said    string
	}{
		{fields{"sessions": "half", "cold": true}, 127, "half"},
		{fields{"sessions": "resumed"}, 2, "sessions"},
		{fields{"sessions": "resumed", "cold": true, "protocol": "h2", "tls": "1.2"}, 2, "sessions"},
		{fields{"sessions": "early", "cold": true, "method": "POST", "path": "/upload", "upload_bytes": 1}, 2, "sessions"},
	} {
		if status, said := execute(t, driving(server.workloadFile(t, c.changes))...); status != c.status || !strings.Contains(said, c.said) {
			t.Errorf("%v: exit %d, %s", c.changes, status, said)
		}
	}
}

// serveQUIC serves HTTP/3 with this configuration of QUIC and of TLS.
func serveQUIC(t *testing.T, config *quic.Config, change func(*tls.Config)) served {
	t.Helper()
	certificate, key := identity(t)
	secure, err := serverTLS(h3, tls13, x25519, certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	change(secure)
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http3.Server{Handler: routes(nil, ""), TLSConfig: secure, QUICConfig: config}
	go func() { _ = server.Serve(socket) }()
	t.Cleanup(func() { _ = server.Close(); _ = socket.Close() })
	return served{h3, portOf(t, socket.LocalAddr().String()), certificate, nil}
}

// Early data that is refused is sent again once the handshake is complete, and the facts say so.
func TestEarlyDataThatIsRefused(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	server := serveQUIC(t, &quic.Config{Allow0RTT: true, GetConfigForClient: func(*quic.ClientInfo) (*quic.Config, error) {
		// An answer that came at once would meet quic-go's client before it has opened its streams.
		time.Sleep(50 * time.Millisecond)
		return &quic.Config{Allow0RTT: connections.Add(1) == 1}, nil
	}}, func(*tls.Config) {})
	d := server.drive(t, onePerUser("early"))
	d.mustSucceed(t, 6)
	d.mustHave(t, true, false)
	if connections.Load() != 4 {
		t.Errorf("%d connections, not 4", connections.Load())
	}
}

func TestServersWithoutTicketsEndTheRun(t *testing.T) {
	t.Parallel()
	server := serveQUIC(t, &quic.Config{}, func(config *tls.Config) { config.SessionTicketsDisabled = true })
	d := server.drive(t, fields{"cold": true, "sessions": "resumed", "timeout_ns": 5 * int64(time.Second)})
	if d.status != 1 || len(d.rows) != 0 || !strings.Contains(d.said, "no session ticket") {
		t.Errorf("exit %d, %d rows, %s", d.status, len(d.rows), d.said)
	}
}

// What earns the session is a request that moves nothing, on a connection that ends before the others begin.
func TestHowASessionIsEarned(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		var methods []string
		server := serveHandler(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			methods = append(methods, r.Method)
			routes(nil, "").ServeHTTP(w, r)
		}))
		d := server.drive(t, fields{"cold": true, "sessions": "resumed", "users": 1, "requests": 1})
		d.mustSucceed(t, 2)
		if strings.Join(methods, " ") != "HEAD GET GET" {
			t.Errorf("methods %v", methods)
		}
	})
}
