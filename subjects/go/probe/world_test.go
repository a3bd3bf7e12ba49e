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
		Format: "probe/1", Protocol: protocol, TLS: "1.3", Address: "127.0.0.1", CA: roots, Timeout: int64(10 * time.Second),
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
