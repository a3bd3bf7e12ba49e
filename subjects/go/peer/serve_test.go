package peer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// connect opens a connection to a server, as the client does.
func (s served) connect(t *testing.T) *connection {
	t.Helper()
	w := workload{Protocol: s.protocol, Host: serverName, Address: "127.0.0.1", Port: s.port, CA: s.ca, TimeoutNs: 5e9}
	d, err := newDialer(&w)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.dial(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

// ask makes a request and returns the answer with its whole body.
func (c *connection) ask(t *testing.T, method, path string, body io.Reader) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "https://"+serverName+path, body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, data
}

func TestAnnouncesWhatItIsTold(t *testing.T) {
	for _, services := range []string{"", `h3=":4443"; ma=86400`} {
		answer := httptest.NewRecorder()
		announcing(services, routes(nil, "")).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/nowhere", nil))
		if told := strings.Join(answer.Header().Values("Alt-Svc"), ", "); told != services {
			t.Errorf("it announced %q instead of %q", told, services)
		}
	}
}

func TestServesBytes(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		c := serveProcess(t, p).connect(t)
		for _, count := range []int{0, 1, len(block), 200_001} {
			response, data := c.ask(t, "GET", fmt.Sprint("/bytes/", count), nil)
			want := bytes.Repeat(block, count/len(block)+1)[:count]
			if protocols[response.ProtoMajor] != p || response.ContentLength != int64(count) ||
				sha256.Sum256(data) != sha256.Sum256(want) {
				t.Errorf("/bytes/%d: %s, length %d, %d bytes", count, response.Proto, response.ContentLength, len(data))
			}
		}
		response, data := c.ask(t, "HEAD", "/bytes/1234", nil)
		if response.StatusCode != 200 || response.Header.Get("Content-Length") != "1234" || len(data) != 0 {
			t.Errorf("HEAD: %s, %v, %d bytes", response.Status, response.Header, len(data))
		}
		for path, status := range map[string]int{
			"/health": 200, "/": 404, "/bytes/": 404, "/bytes/x": 400, "/bytes/-1": 400, "/bytes/99999999999999": 400, "/upload": 405,
		} {
			if response, _ := c.ask(t, "GET", path, nil); response.StatusCode != status {
				t.Errorf("GET %s: %d, want %d", path, response.StatusCode, status)
			}
		}
	})
}

// TestServesDocuments: a browser takes a style for one only if it is called so, and none may be kept.
func TestServesDocuments(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		c := serveProcess(t, p).connect(t)
		for path, kind := range map[string]string{"/site/0.html": "text/html; charset=utf-8", "/site/1.css": "text/css; charset=utf-8"} {
			response, data := c.ask(t, "GET", path, nil)
			header := response.Header
			if response.StatusCode != 200 || header.Get("Content-Type") != kind || header.Get("Cache-Control") != "no-store" ||
				response.ContentLength != int64(len(data)) {
				t.Errorf("GET %s: %s, %v, %d bytes", path, response.Status, header, len(data))
			}
		}
		if response, _ := c.ask(t, "GET", "/site/2.js", nil); response.StatusCode != 404 {
			t.Errorf("GET /site/2.js: %s", response.Status)
		}
	})
}

// TestBlock holds the block against its digest, which docs/contracts.md states: other programs make it too.
func TestBlock(t *testing.T) {
	digest := sha256.Sum256(block)
	if got := hex.EncodeToString(digest[:]); len(block) != 65_536 || got != "51701f62987c025c65dffc5728b4a3d1d10d50e6e1251608096c3454c21aa5a1" {
		t.Errorf("%d bytes with the digest %s", len(block), got)
	}
}

// TestOrigin speaks to the origin as a proxy does: without TLS, over one connection.
func TestOrigin(t *testing.T) {
	t.Parallel()
	command := self("origin", "--address", "127.0.0.1", "--port", "0", "--documents", documentsOf(t))
	_, address, _ := strings.Cut(firstLine(t, command), "serving as the origin on ")
	transport := &http.Transport{MaxConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	for path, want := range map[string][]byte{"/health": []byte("ok\n"), "/site/1.css": []byte("/* */"), "/bytes/70000": slices.Concat(block, block[:70000-len(block)])} {
		response, err := (&http.Client{Transport: transport}).Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != 200 || !bytes.Equal(data, want) {
			t.Errorf("%s: %s, %d bytes, %v", path, response.Status, len(data), err)
		}
	}
	response, err := (&http.Client{Transport: transport}).Post("http://"+address+"/upload", "", bytes.NewReader(make([]byte, 100_000)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if data, _ := io.ReadAll(response.Body); string(data) != "100000" {
		t.Errorf("upload: %s, %q", response.Status, data)
	}
}

func TestTakesUploads(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		c := serveProcess(t, p).connect(t)
		for _, count := range []int{0, 3_000_000} {
			response, data := c.ask(t, "POST", "/upload", bytes.NewReader(make([]byte, count)))
			if response.StatusCode != 200 || string(data) != strconv.Itoa(count) {
				t.Errorf("upload of %d: %s, answer %q", count, response.Status, data)
			}
		}
	})
}

// TestWritesQlog stops the server while a connection lasts. It may take no longer than drainTime to write the rest,
// which a busy machine can make too short: what is judged by time is tried again before it counts.
func TestWritesQlog(t *testing.T) {
	t.Parallel()
	certificate, key := identity(t)
	var data []byte
	for range 3 {
		if data = qlogOfStoppedServer(t, certificate, key); whole(data) {
			return
		}
	}
	t.Errorf("%d packets sent in %d bytes, which end in %q", packetsSent(data), len(data), data[max(0, len(data)-80):])
}

func qlogOfStoppedServer(t *testing.T, certificate, key string) []byte {
	t.Helper()
	folder := t.TempDir()
	command := self("serve", "--address", "127.0.0.1", "--port", "0", "--protocol", "h3", "--tls", "1.3", "--cert", certificate, "--key", key,
		"--qlog", folder, "--documents", "", "--alt-svc", "", "--initial-window", "", "--pacing", "", "--max-datagram", "")
	_, address, _ := strings.Cut(firstLine(t, command), "serving h3 on ")
	served{h3, portOf(t, address), certificate, command}.connect(t).ask(t, "GET", "/bytes/100000", nil)
	_ = command.Process.Signal(syscall.SIGTERM) // while the connection lasts
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	logs, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	data, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// whole tells whether a log has all that was sent for the body of 100000 bytes, to the end of its last line.
func whole(data []byte) bool { return packetsSent(data) >= 70 && bytes.HasSuffix(data, []byte("}\n")) }

func packetsSent(data []byte) int { return bytes.Count(data, []byte("packet_sent")) }

func TestStopsPromptly(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		server := serveProcess(t, p)
		server.connect(t).ask(t, "GET", "/health", nil) // and stays connected
		told := time.Now()
		if err := server.process.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := server.process.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if took := time.Since(told); took > 1200*time.Millisecond {
			t.Errorf("the server took %v to stop", took)
		}
	})
}

func TestSpeaksOneProtocolOnly(t *testing.T) {
	t.Parallel()
	for _, p := range []protocol{h1, h2} {
		server := serveProcess(t, p)
		for _, offered := range [][]string{{"http/1.1"}, {"h2"}, {"h2", "http/1.1"}} {
			config, err := clientTLS(p, tls13, x25519, serverName, server.ca)
			if err != nil {
				t.Fatal(err)
			}
			config.NextProtos = offered
			config.VerifyConnection = nil
			conn, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(server.port)), config)
			if err == nil {
				// A server's refusal of a TLS 1.3 client comes after that has ended its own handshake.
				err = conn.SetDeadline(time.Now().Add(5 * time.Second))
				if conn.ConnectionState().NegotiatedProtocol != alpn[p] && err == nil {
					_, err = conn.Read(make([]byte, 1))
				}
				_ = conn.Close()
			}
			speaks := strings.Contains(strings.Join(offered, " "), alpn[p])
			if (err == nil) != speaks {
				t.Errorf("%s server, client offers %v: %v", p, offered, err)
			}
		}
	}
}

func TestRefusesToServe(t *testing.T) {
	t.Parallel()
	certificate, key := identity(t)
	for _, p := range everyProtocol {
		holder := serveProcess(t, p)
		status, said := execute(t, "serve", "--address", "127.0.0.1", "--port", strconv.Itoa(holder.port),
			"--protocol", string(p), "--tls", "1.3", "--cert", certificate, "--key", key, "--qlog", "", "--documents", "", "--alt-svc", "", "--initial-window", "", "--pacing", "", "--max-datagram", "")
		if status != 1 || !strings.Contains(said, "the port is in use") || strings.Count(said, "\n") != 1 {
			t.Errorf("%s, port in use: exit %d, %s", p, status, said)
		}
	}
	for _, c := range []struct {
		protocol, certificate string
		status                int
		says                  string
	}{
		{"h4", certificate, 127, "not supported"},
		{"h2", certificate + ".none", 1, "cannot load the certificate"},
		{"h2", key, 1, "cannot load the certificate"},
	} {
		status, said := execute(t, "serve", "--address", "127.0.0.1", "--port", "1", "--protocol", c.protocol,
			"--tls", "1.3", "--cert", c.certificate, "--key", key, "--qlog", "", "--documents", "", "--alt-svc", "", "--initial-window", "", "--pacing", "", "--max-datagram", "")
		if status != c.status || !strings.Contains(said, c.says) || strings.Count(said, "\n") != 1 {
			t.Errorf("%v: exit %d, %s", c, status, said)
		}
	}
	for _, arguments := range [][]string{{}, {"sing"}, {"serve"}, {"serve", "--port", "x"}, {"origin"}, {"drive", "--loud"}} {
		if status, said := execute(t, arguments...); status != 2 || said == "" {
			t.Errorf("%v: exit %d, %s", arguments, status, said)
		}
	}
	if status, said := execute(t, "--help"); status != 0 || !strings.Contains(said, "Example") {
		t.Errorf("--help: exit %d, %s", status, said)
	}
}

// TestWindows looks at what goes over the wire, as net/http documents a narrower range than it accepts.
func TestWindows(t *testing.T) {
	t.Parallel()
	check := func(side string, framer *http2.Framer) {
		var stream, streams, connection uint32
		for connection == 0 {
			frame, err := framer.ReadFrame()
			if err != nil {
				t.Fatal(side, err)
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					stream, _ = frame.Value(http2.SettingInitialWindowSize)
					streams, _ = frame.Value(http2.SettingMaxConcurrentStreams)
				}
			case *http2.WindowUpdateFrame:
				connection = frame.Increment
			}
		}
		if stream != streamWindow || connection > connectionWindow || connection < connectionWindow-65535 {
			t.Errorf("%s announces windows of %d and %d", side, stream, connection)
		}
		if side == "server" && streams != maxStreams {
			t.Errorf("the server takes %d streams", streams)
		}
	}
	server := serveProcess(t, h2)
	config, err := clientTLS(h2, tls13, x25519, serverName, server.ca)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(server.port)), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	framer := http2.NewFramer(conn, conn)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	check("server", framer)

	certificate, key := identity(t)
	listening, err := serverTLS(h2, tls13, x25519, certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", listening)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	d, err := newDialer(&workload{Protocol: h2, Host: serverName, Address: "127.0.0.1", CA: certificate,
		Port: listener.Addr().(*net.TCPAddr).Port})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = d.dial(context.Background(), "") }()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	_ = accepted.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.ReadFull(accepted, make([]byte, len(http2.ClientPreface))); err != nil {
		t.Fatal(err)
	}
	check("client", http2.NewFramer(accepted, accepted))
}
