package probe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"h123.dev/subjects/go/peer"
)

// TestMain is also the program that a probe leaves behind.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		os.Exit(Run(os.Args[2:], os.Stderr))
	}
	os.Exit(m.Run())
}

var everyProtocol = []string{"h1", "h2", "h3"}

// good keeps the contract, apart from limits of the server around it.
func good() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bytes/{count}", func(w http.ResponseWriter, r *http.Request) {
		count, _ := strconv.ParseInt(r.PathValue("count"), 10, 64)
		w.Header().Set("Content-Length", r.PathValue("count"))
		if r.Method == http.MethodGet {
			_, _ = io.Copy(w, peer.Body(count))
		}
	})
	mux.HandleFunc("POST /upload", func(w http.ResponseWriter, r *http.Request) {
		count, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, count)
	})
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	return mux
}

// broken is good, except for the requests whose path begins so.
func broken(path string, instead http.HandlerFunc) http.Handler {
	rest := good()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, path) {
			instead(w, r)
		} else {
			rest.ServeHTTP(w, r)
		}
	})
}

// options are how a server of the tests differs from an ordinary one.
type options struct {
	tls     func(*tls.Config)
	quic    quic.Config
	streams int
	idle    time.Duration
	open    *atomic.Int64 // counts the connections, if it is there
}

func (o *options) changed(by int64) {
	if o.open != nil {
		o.open.Add(by)
	}
}

// serve starts a server and returns the plan of a small probe for it.
func serve(t *testing.T, protocol string, handler http.Handler, o options) *plan {
	t.Helper()
	certificate, roots := identity(t)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{alpn[protocol]}}
	if o.tls != nil {
		o.tls(config)
	}
	p := &plan{
		Format: "probe/1", Protocol: protocol, Address: "127.0.0.1", CA: roots, Timeout: int64(10 * time.Second),
		Methods: []string{"GET", "POST"}, Sizes: []int64{0, 1, 1000, 200_000}, Others: []int64{65_536, 70_001}, AtOnce: 100, InARow: 200,
		Rest: int64(10 * time.Millisecond), Resume: 3, Early: protocol == "h3",
	}
	if protocol == "h3" {
		socket, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &http3.Server{Handler: handler, TLSConfig: config, QUICConfig: &o.quic}
		server.ConnContext = func(ctx context.Context, conn *quic.Conn) context.Context {
			o.changed(1)
			context.AfterFunc(conn.Context(), func() { o.changed(-1) })
			return ctx
		}
		go func() { _ = server.Serve(socket) }()
		t.Cleanup(func() { _ = server.Close(); _ = socket.Close() })
		p.Port = int(netip.MustParseAddrPort(socket.LocalAddr().String()).Port())
		return p
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(protocol == "h1")
	protocols.SetHTTP2(protocol == "h2")
	server := &http.Server{Handler: handler, TLSConfig: config, Protocols: &protocols, IdleTimeout: o.idle,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: o.streams},
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				o.changed(1)
			case http.StateClosed:
				o.changed(-1)
			}
		}}
	// Not ServeTLS, which would put the protocols into an order of its own.
	go func() { _ = server.Serve(tls.NewListener(listener, config)) }()
	t.Cleanup(func() { _ = server.Close() })
	p.Port = listener.Addr().(*net.TCPAddr).Port
	return p
}

// identity is a fresh certificate, and the file of the roots that it has.
func identity(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	chain, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	roots := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: chain}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{chain}, PrivateKey: key}, roots
}

// writePlan is the file that the command reads.
func writePlan(t *testing.T, p *plan) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// probe runs a plan as the command does, from file to file, and returns its checks by name.
func probe(t *testing.T, p *plan) map[string]check {
	t.Helper()
	from, to := writePlan(t, p), filepath.Join(t.TempDir(), "checks.json")
	if status := Run([]string{"--plan", from, "--checks", to}, t.Output()); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	var written struct {
		Format string  `json:"h123"`
		Checks []check `json:"checks"`
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &written); err != nil || written.Format != "checks/1" {
		t.Fatal(written.Format, err)
	}
	found := map[string]check{}
	for _, one := range written.Checks {
		found[one.Name] = one
	}
	return found
}

func eachProtocol(t *testing.T, protocols []string, test func(t *testing.T, protocol string)) {
	t.Parallel()
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			test(t, protocol)
		})
	}
}

func TestAServerThatKeepsTheContractPasses(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		found := probe(t, serve(t, protocol, good(), options{quic: quic.Config{Allow0RTT: true}}))
		for _, one := range found {
			if !one.Passed {
				t.Errorf("%s: %s", one.Name, one.Detail)
			}
		}
		names := []string{"connection", "TLS", "ALPN", "GET 0", "GET 200000", "POST 0", "POST 200000", "HEAD", "404", "health",
			"X25519 alone", "other protocols", "no compression", "any host", "GET of other sizes", "POST of other sizes", "POST in halves",
			"100 downloads at once", "100 uploads at once", "200 requests on a connection", "resumption"}
		if protocol == "h3" {
			names = append(names, "0-RTT", "reserved values")
		}
		for _, name := range names {
			if _, asked := found[name]; !asked {
				t.Errorf("%s was not asked", name)
			}
		}
		if seen := found["TLS"].Detail; !strings.HasPrefix(seen, "TLS 1.3, TLS_") || !strings.Contains(seen, "X25519") {
			t.Error(seen)
		}
	})
}

func TestBrokenServersFail(t *testing.T) {
	wrong := func(w http.ResponseWriter, r *http.Request) {
		count, _ := strconv.ParseInt(filepath.Base(r.URL.Path), 10, 64)
		w.Header().Set("Content-Length", strconv.FormatInt(count, 10))
		_, _ = w.Write(make([]byte, count))
	}
	unsized := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		if count, _ := strconv.ParseInt(filepath.Base(r.URL.Path), 10, 64); r.Method == http.MethodGet {
			_, _ = io.Copy(w, peer.Body(count))
		}
	}
	headless := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(405)
			return
		}
		good().ServeHTTP(w, r)
	}
	cases := map[string]struct {
		handler http.Handler
		failing []string
	}{
		"wrong bytes":       {broken("/bytes/", wrong), []string{"GET 1", "GET 1000", "GET 200000", "10 downloads at once"}},
		"no content-length": {broken("/bytes/", unsized), []string{"GET 1000", "HEAD"}},
		"no HEAD":           {broken("/bytes/", headless), []string{"HEAD"}},
		"no 404":            {broken("/there", func(http.ResponseWriter, *http.Request) {}), []string{"404"}},
		"no count": {broken("/upload", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, "thanks")
		}), []string{"POST 0", "POST 1000", "10 uploads at once"}},
		"wrong whole blocks": {broken("/bytes/65536", wrong), []string{"GET of other sizes"}},
		"compression": {broken("/bytes/", func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.Header.Get("Accept-Encoding"), "br") {
				w.Header().Set("Content-Encoding", "br")
			}
			good().ServeHTTP(w, r)
		}), []string{"no compression"}},
		"one host": {broken("/", func(w http.ResponseWriter, r *http.Request) {
			if r.Host != host {
				w.WriteHeader(421)
				return
			}
			good().ServeHTTP(w, r)
		}), []string{"any host"}},
		"an early answer": {broken("/upload", func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			said := strconv.FormatInt(r.ContentLength, 10)
			w.Header().Set("Content-Length", strconv.Itoa(len(said)))
			fmt.Fprint(w, said)
			w.(http.Flusher).Flush()
			_, _ = io.Copy(io.Discard, r.Body)
		}), []string{"POST in halves"}},
		"a short answer": {broken("/bytes/200000", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "200000")
			_, _ = io.Copy(w, peer.Body(100_000))
		}), []string{"GET 200000"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
				p := serve(t, protocol, c.handler, options{})
				p.AtOnce, p.InARow, p.Resume, p.Early = 10, 0, 0, false
				if slices.Contains(c.failing, "POST in halves") {
					p.Rest = int64(9 * time.Second) // the answer is there sooner
				}
				mustFail(t, probe(t, p), c.failing)
			})
		})
	}
}

// mustFail holds the checks that failed against those named; others may not have been asked for.
func mustFail(t *testing.T, found map[string]check, names []string) {
	t.Helper()
	for _, name := range names {
		if one, asked := found[name]; !asked || one.Passed {
			t.Errorf("%s passed or was not asked", name)
		}
	}
	for name, one := range found {
		innocent := []string{"connection", "TLS", "ALPN", "health", "404"}
		if !one.Passed && slices.Contains(innocent, name) && !slices.Contains(names, name) {
			t.Errorf("%s failed too: %s", name, one.Detail)
		}
	}
}

func TestLimitsOfTheServerFail(t *testing.T) {
	t.Run("streams", func(t *testing.T) {
		eachProtocol(t, []string{"h2", "h3"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{streams: 30, quic: quic.Config{MaxIncomingStreams: 30}})
			p.Timeout, p.InARow, p.Resume, p.Early = int64(2*time.Second), 0, 0, false
			found, failing := probe(t, p), []string{"100 downloads at once", "100 uploads at once"}
			mustFail(t, found, failing)
			for _, name := range failing {
				if said := found[name].Detail; !strings.Contains(said, " of 100 had begun") {
					t.Errorf("%s: %s", name, said)
				}
			}
		})
	})
	t.Run("streams in turn", func(t *testing.T) {
		eachProtocol(t, []string{"h2", "h3"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{streams: 30, quic: quic.Config{MaxIncomingStreams: 30}})
			p.Timeout, p.Methods, p.InTurn, p.InARow, p.Resume, p.Early = int64(2*time.Second), nil, true, 0, 0, false
			if found := probe(t, p); !found["100 downloads at once"].Passed {
				t.Error(found)
			}
		})
	})
	t.Run("requests", func(t *testing.T) {
		eachProtocol(t, []string{"h1"}, func(t *testing.T, protocol string) {
			asked := 0
			p := serve(t, protocol, broken("/bytes/1", func(w http.ResponseWriter, r *http.Request) {
				if asked++; asked%150 == 0 {
					w.Header().Set("Connection", "close")
				}
				good().ServeHTTP(w, r)
			}), options{})
			p.Sizes, p.AtOnce, p.Resume = []int64{0}, 0, 0
			mustFail(t, probe(t, p), []string{"200 requests on a connection"})
		})
	})
}

func TestWrongNegotiationFails(t *testing.T) {
	t.Run("ALPN", func(t *testing.T) {
		eachProtocol(t, []string{"h1", "h2"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{tls: func(config *tls.Config) {
				config.NextProtos = []string{"h2", "http/1.1"} // in the order of preference
				if protocol == "h2" {
					slices.Reverse(config.NextProtos)
				}
			}})
			p.AtOnce, p.InARow, p.Resume = 0, 0, 0
			mustFail(t, probe(t, p), []string{"ALPN"})
		})
	})
	t.Run("none", func(t *testing.T) {
		eachProtocol(t, []string{"h1", "h2"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{tls: func(config *tls.Config) { config.NextProtos = nil }})
			p.AtOnce, p.InARow, p.Resume = 0, 0, 0
			if found := probe(t, p); found["ALPN"].Passed != (protocol == "h1") {
				t.Errorf("%v", found)
			}
		})
	})
	t.Run("TLS 1.2", func(t *testing.T) {
		eachProtocol(t, []string{"h1", "h2"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{tls: func(config *tls.Config) { config.MaxVersion = tls.VersionTLS12 }})
			p.AtOnce, p.InARow, p.Resume = 0, 0, 0
			mustFail(t, probe(t, p), []string{"TLS"})
		})
	})
	t.Run("nobody", func(t *testing.T) {
		p := serve(t, "h1", good(), options{})
		p.Port = 1
		if found := probe(t, p); len(found) != 1 || found["connection"].Passed {
			t.Errorf("%v", found)
		}
	})
}

func TestSessionsThatAreNotOfferedFail(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{tls: func(config *tls.Config) { config.SessionTicketsDisabled = true }})
		p.Timeout, p.AtOnce, p.InARow = int64(time.Second), 0, 0
		failing := []string{"resumption"}
		if p.Early {
			failing = append(failing, "0-RTT")
		}
		mustFail(t, probe(t, p), failing)
	})
}

func TestSessionsWithoutEarlyDataFail(t *testing.T) {
	t.Parallel()
	p := serve(t, "h3", good(), options{})
	p.AtOnce, p.InARow = 0, 0
	found := probe(t, p)
	mustFail(t, found, []string{"0-RTT"})
	if !found["resumption"].Passed {
		t.Error(found["resumption"].Detail)
	}
}

func TestSessionsThatOneProcessOfTwoKnowsFail(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{tls: func(config *tls.Config) {
			processes := [2]*tls.Config{config.Clone(), config.Clone()}
			for i, process := range processes {
				process.SetSessionTicketKeys([][32]byte{{byte(i + 1)}})
			}
			var connections atomic.Int64
			config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
				return processes[min(connections.Add(1)%3, 1)], nil
			}
		}})
		p.AtOnce, p.InARow, p.Early = 0, 0, false
		mustFail(t, probe(t, p), []string{"resumption"})
	})
}

func TestOtherExchangesOfKeysFail(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{tls: func(config *tls.Config) { config.CurvePreferences = []tls.CurveID{tls.CurveP256} }})
		p.AtOnce, p.InARow, p.Resume, p.Early = 0, 0, 0, false
		found := probe(t, p)
		mustFail(t, found, []string{"X25519 alone"})
		if seen := found["TLS"].Detail; !strings.Contains(seen, "HelloRetryRequest") {
			t.Error(seen)
		}
	})
}

func TestAConnectionThatEndsWhenItIsIdleFails(t *testing.T) {
	eachProtocol(t, []string{"h1", "h2"}, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{idle: 500 * time.Millisecond})
		p.AtOnce, p.InARow, p.Resume, p.Idle = 0, 0, 0, int64(2*time.Second)
		mustFail(t, probe(t, p), []string{"a connection idle for 2s"})
		p.Idle = int64(time.Millisecond)
		if found := probe(t, p); !found["a connection idle for 1ms"].Passed {
			t.Error(found)
		}
	})
}

func TestALittleIdlenessAnnouncedFails(t *testing.T) {
	t.Parallel()
	p := serve(t, "h3", good(), options{quic: quic.Config{MaxIdleTimeout: 20 * time.Second}})
	p.AtOnce, p.InARow, p.Resume, p.Early = 0, 0, 0, false
	mustFail(t, probe(t, p), []string{"limits"})
}

func TestLimitsAreTold(t *testing.T) {
	eachProtocol(t, []string{"h2", "h3"}, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{streams: 77, quic: quic.Config{MaxIncomingStreams: 77}})
		p.AtOnce, p.InARow, p.Resume, p.Early = 0, 0, 0, false
		if seen := probe(t, p)["limits"].Detail; !strings.Contains(seen, ", 77 requests at a time") {
			t.Error(seen)
		}
	})
}

func TestArrivalsAreWritten(t *testing.T) {
	t.Parallel()
	p := serve(t, "h3", good(), options{})
	p.Sizes, p.Arrivals = []int64{200_000}, filepath.Join(t.TempDir(), "arrivals.csv")
	found := probe(t, p)
	if len(found) != 1 || !found["download"].Passed {
		t.Fatalf("%v", found)
	}
	data, err := os.ReadFile(p.Arrivals)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(data)), "\n")
	if rows[0] != "at_ns,bytes" || len(rows) < 130 {
		t.Fatalf("%d rows after %s", len(rows)-1, rows[0])
	}
	total, last := 0, 0
	for _, row := range rows[1:] {
		var at, bytes int
		if _, err := fmt.Sscanf(row, "%d,%d", &at, &bytes); err != nil || at < last || bytes < 1 {
			t.Fatalf("%q after %d: %v", row, last, err)
		}
		total, last = total+bytes, at
	}
	if total < 200_000 || total > 250_000 {
		t.Errorf("%d bytes arrived", total)
	}
}

func TestAConnectionIsLeftOpen(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		var open atomic.Int64
		p := serve(t, protocol, good(), options{open: &open})
		p.path = writePlan(t, p)
		holder, err := p.leaveHolder()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = holder.Process.Kill(); _ = holder.Wait() })
		time.Sleep(200 * time.Millisecond) // in which a client that ends has closed its connection
		if open.Load() != 1 {
			t.Errorf("%d connections are open", open.Load())
		}
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", holder.Process.Pid))
		if err != nil || !strings.Contains(string(state), ") T ") {
			t.Errorf("not stopped: %s, %v", state, err)
		}
	})
}

func TestNothingIsLeftOpenWhereNobodyAnswers(t *testing.T) {
	t.Parallel()
	p := serve(t, "h1", good(), options{})
	p.Port = 1
	p.path = writePlan(t, p)
	if _, err := p.leaveHolder(); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
}

func TestBadPlansAreRefused(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"{}", `{"h123": "probe/2"}`, "no JSON"} {
		path := filepath.Join(t.TempDir(), "plan.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if status := Run([]string{"--plan", path, "--checks", path + ".out"}, t.Output()); status != 2 {
			t.Errorf("%s: exit status %d", content, status)
		}
	}
}

func TestDownloadsThatCannotBeHeldOpenAreNotAskedFor(t *testing.T) {
	t.Parallel()
	p := serve(t, "h2", good(), options{})
	p.Sizes = []int64{1, crowdWindow, 1_000_000}
	if _, err := readPlan(writePlan(t, p)); err == nil || !strings.Contains(err.Error(), "held open") {
		t.Errorf("%v", err)
	}
	p.AtOnce = 0
	if _, err := readPlan(writePlan(t, p)); err != nil {
		t.Error(err)
	}
}
