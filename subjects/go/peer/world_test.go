package peer

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/csv"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The tests run the real program over loopback: this test binary is started again as h123-go.
func TestMain(m *testing.M) {
	if os.Getenv("H123_GO_SELF") != "" {
		os.Exit(Run(os.Args[1:], os.Stderr, nil))
	}
	os.Exit(m.Run())
}

const serverName = "h123.test"

var everyProtocol = []protocol{h1, h2, h3}

// self is a command line of the program under test.
func self(arguments ...string) *exec.Cmd {
	command := exec.Command(os.Args[0], arguments...)
	// A program with the race detector sleeps for a second before it exits, unless told not to.
	command.Env = append(os.Environ(), "H123_GO_SELF=1", "GORACE=atexit_sleep_ms=0")
	return command
}

// execute runs a command line to its end and returns its exit status and what it said.
func execute(t *testing.T, arguments ...string) (status int, said string) {
	t.Helper()
	command := self(arguments...)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), output.String()
}

// identity writes a fresh self-signed certificate and its key; the certificate serves as the client's root too.
func identity(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName, "*." + serverName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	chain, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("certificate.pem", "CERTIFICATE", chain), write("key.pem", "PRIVATE KEY", secret)
}

// addresses counts what ownAddress has given.
var addresses atomic.Int32

// ownAddress is an address of loopback that no other test of this run listens on, so no other server can take over the
// port of a server that ended.
func ownAddress() string {
	n := addresses.Add(1)
	return netip.AddrFrom4([4]byte{127, 1, byte(n >> 8), byte(n)}).String()
}

// closedPort is a port of an address on which nothing listens.
func closedPort(t *testing.T, address string) int {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// portOf is the port of an address.
func portOf(t *testing.T, address string) int {
	t.Helper()
	endpoint, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return int(endpoint.Port())
}

// served is a server of the tests: where it listens, and the root that its certificate has.
type served struct {
	protocol protocol
	port     int
	ca       string
	process  *exec.Cmd // nil for a server inside the test
}

// serveProcess starts `h123-go serve` and waits until it says that it serves.
func serveProcess(t *testing.T, p protocol) served {
	t.Helper()
	return serveAt(t, "127.0.0.1", p, tls13)
}

// serveAt is the same at an address and with a version of TLS, and more flags.
func serveAt(t *testing.T, at string, p protocol, version tlsVersion, more ...string) served {
	t.Helper()
	certificate, key := identity(t)
	command := self("serve", "--address", at, "--port", "0", "--protocol", string(p), "--tls", string(version), "--cert", certificate, "--key", key,
		"--qlog", "", "--documents", documentsOf(t), "--alt-svc", "", "--initial-window", "", "--pacing", "", "--max-datagram", "")
	command.Args = append(command.Args, more...)
	line := firstLine(t, command)
	address, serves := strings.CutPrefix(line, "h123-go: serving "+string(p)+" on ")
	if !serves {
		t.Fatalf("the server said %q", line)
	}
	return served{p, portOf(t, address), certificate, command}
}

// documentsOf is a folder with three of a page's documents, one of them longer than any answer that is no download.
func documentsOf(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"0.html": "<!doctype html><link rel=stylesheet href=1.css>", "1.css": "/* */", "2.json": strings.Repeat(" ", shortAnswer+1)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// firstLine starts a server that ends with the test and returns the first line that it says.
func firstLine(t *testing.T, server *exec.Cmd) string {
	t.Helper()
	says, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	line, _ := bufio.NewReader(says).ReadString('\n')
	return strings.TrimSpace(line)
}

// serveHandler serves a handler of the test's own, through the server that `serve` uses.
func serveHandler(t *testing.T, p protocol, handler http.Handler) served {
	t.Helper()
	certificate, key := identity(t)
	config, err := serverTLS(p, tls13, x25519, certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	running, err := start(p, "127.0.0.1:0", config, handler, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.server.Close() })
	return served{p, portOf(t, running.address.String()), certificate, nil}
}

// fields are fields of a workload that a test sets.
type fields map[string]any

// absent stands for a field that is not there.
const absent = "\x00"

// workloadFile writes a small, valid workload for a server, with some fields changed.
func (s served) workloadFile(t *testing.T, changes fields) string {
	t.Helper()
	content := fields{
		"h123": "workload/2", "kind": "requests", "headers": []any{}, "protocol": s.protocol, "host": serverName, "address": "127.0.0.1", "port": s.port, "ca": s.ca,
		"method": "GET", "path": "/bytes/1000", "upload_bytes": 0, "users": 3, "requests": 4, "rate": nil,
		"connections": "shared", "cold": false, "warmup": 0, "timeout_ns": int64(5 * time.Second), "seed": 7,
	}
	for name, value := range changes {
		content[name] = value
		if value == absent {
			delete(content, name)
		}
	}
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "workload.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// driven is what a run of `drive` left.
type driven struct {
	status int
	said   string
	header string
	rows   []record
	facts  facts
}

// record is one row of samples.csv by column.
type record map[string]string

func (r record) number(t *testing.T, column string) int64 {
	t.Helper()
	value, err := strconv.ParseInt(r[column], 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", column, err)
	}
	return value
}

// drive runs a workload against the server, in a process of its own; `during` runs meanwhile.
func (s served) drive(t *testing.T, changes fields, during ...func(client *os.Process)) driven {
	t.Helper()
	directory := t.TempDir()
	samplesPath, factsPath := filepath.Join(directory, "samples.csv"), filepath.Join(directory, "client.json")
	command := self("drive", "--workload", s.workloadFile(t, changes), "--samples", samplesPath, "--facts", factsPath, "--initial-window", "", "--pacing", "", "--max-datagram", "")
	var said bytes.Buffer
	command.Stderr = &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for _, step := range during {
		step(command.Process)
	}
	_ = command.Wait()
	d := driven{status: command.ProcessState.ExitCode(), said: said.String()}
	data, err := os.ReadFile(samplesPath)
	if err != nil {
		t.Fatalf("%v; the client said: %s", err, d.said)
	}
	d.header, _, _ = strings.Cut(string(data), "\n")
	table, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range table[1:] {
		row := record{}
		for i, name := range table[0] {
			row[name] = line[i]
		}
		d.rows = append(d.rows, row)
	}
	data, err = os.ReadFile(factsPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &d.facts); err != nil {
		t.Fatal(err)
	}
	return d
}

// count counts the rows that have a value in a column.
func (d driven) count(column, value string) int {
	n := 0
	for _, row := range d.rows {
		if row[column] == value {
			n++
		}
	}
	return n
}

// mustSucceed fails the test unless the client ended well, with this many rows and none failed.
func (d driven) mustSucceed(t *testing.T, rows int) {
	t.Helper()
	if d.status != 0 || len(d.rows) != rows || d.count("error", "") != rows {
		t.Fatalf("exit %d, %d rows of %d, said: %s", d.status, len(d.rows), rows, d.said)
	}
}

// eachProtocol runs a test for the three protocols at once.
func eachProtocol(t *testing.T, test func(t *testing.T, p protocol)) {
	t.Parallel()
	for _, p := range everyProtocol {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}
