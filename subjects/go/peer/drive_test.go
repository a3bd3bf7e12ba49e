package peer

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestRows(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		wire := tap(t, serveProcess(t, p))
		d := wire.drive(t, fields{"cold": true, "warmup": 2, "connections": "per-user", "path": "/bytes/70000"})
		d.mustSucceed(t, 3+3*2+3*4)
		if d.header != header {
			t.Errorf("header %s", d.header)
		}
		if d.count("phase", "cold") != 3 || d.count("phase", "warmup") != 6 || d.count("phase", "warm") != 12 {
			t.Error("phases are not 3 cold, 6 warmup, 12 warm")
		}
		for _, row := range d.rows {
			times := []int64{row.number(t, "start_ns")}
			for _, column := range []string{"connected_ns", "sent_ns", "first_byte_ns", "end_ns"} {
				if column == "connected_ns" && row["phase"] != "cold" {
					if row[column] != "" {
						t.Errorf("connected_ns in %v", row)
					}
					continue
				}
				times = append(times, row.number(t, column))
			}
			reused := map[bool]string{true: "0", false: "1"}[row["phase"] == "cold"]
			if !slices.IsSorted(times) || row["protocol"] != string(p) || row["status"] != "200" || row["reused"] != reused ||
				row["bytes_down"] != "70000" || row["bytes_up"] != "0" || row["connection"] != row["user"] {
				t.Errorf("%v", row)
			}
		}
		for i := 1; i < 3; i++ {
			if d.rows[i].number(t, "start_ns") < d.rows[i-1].number(t, "end_ns") {
				t.Error("cold requests overlap")
			}
		}
		congestion := "cubic"
		if p != h3 {
			congestion = defaultCongestion(t)
		}
		want := tlsFacts{Version: "1.3", KeyExchange: "X25519", ALPN: alpn[p]}
		if len(d.facts.TLS) != 1 || d.facts.TLS[0].Cipher == "" || d.facts.TLS[0].KeyExchange != want.KeyExchange ||
			d.facts.TLS[0].Version != want.Version || d.facts.TLS[0].ALPN != want.ALPN || d.facts.TLS[0].Connections != 3 ||
			d.facts.Congestion == nil || *d.facts.Congestion != congestion || d.facts.Format != "client/1" {
			t.Errorf("facts %+v", d.facts)
		}
	})
}

func defaultCongestion(t *testing.T) string {
	t.Helper()
	name, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(name))
}

func TestUploads(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		d := serveProcess(t, p).drive(t, fields{"method": "POST", "path": "/upload", "upload_bytes": 500_000})
		d.mustSucceed(t, 12)
		if d.count("bytes_up", "500000") != 12 || d.count("bytes_down", "6") != 12 {
			t.Error(d.rows)
		}
	})
}

func TestTLSIsTheVersionAskedFor(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		if p == h3 {
			certificate, key := identity(t)
			status, said := execute(t, "serve", "--address", "127.0.0.1", "--port", "0", "--protocol", "h3", "--tls", "1.2", "--cert", certificate,
				"--key", key, "--qlog", "", "--documents", "", "--alt-svc", "", "--initial-window", "", "--pacing", "", "--max-datagram", "")
			if status != 127 || !strings.Contains(said, "no TLS but 1.3") {
				t.Errorf("exit %d, %s", status, said)
			}
			return
		}
		server := serveAt(t, "127.0.0.1", p, tls12)
		old := server.drive(t, fields{"tls": "1.2"})
		old.mustSucceed(t, 12)
		for _, kind := range old.facts.TLS {
			if kind.Version != "1.2" || kind.KeyExchange != "X25519" || kind.Resumed {
				t.Errorf("%+v", kind)
			}
		}
		if other := server.drive(t, fields{}); other.count("error", "") != 0 {
			t.Error("TLS 1.3 was spoken with a server of TLS 1.2 alone")
		}
	})
}

func TestKeysAreExchangedAsAskedFor(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		server := serveAt(t, "127.0.0.1", p, tls13, "--key-share", "X25519MLKEM768")
		hybrid := server.drive(t, fields{"key_share": "X25519MLKEM768"})
		hybrid.mustSucceed(t, 12)
		for _, kind := range hybrid.facts.TLS {
			if kind.KeyExchange != "X25519MLKEM768" {
				t.Errorf("%+v", kind)
			}
		}
		if other := server.drive(t, fields{}); other.count("error", "") != 0 {
			t.Error("X25519 was taken by a server of X25519MLKEM768 alone")
		}
	})
}

func TestKeysAreLoggedWhereAFileIsNamed(t *testing.T) {
	for _, p := range everyProtocol {
		file := filepath.Join(t.TempDir(), "keys.txt")
		t.Setenv("SSLKEYLOGFILE", file)
		d := serveProcess(t, p).drive(t, fields{})
		d.mustSucceed(t, 12)
		keys, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// One connection for each user over HTTP/1.1, one in all over the others, and a cold one for each cold request.
		logged, opened := bytes.Count(keys, []byte("CLIENT_TRAFFIC_SECRET_0 ")), d.count("reused", "0")
		if logged == 0 || logged != opened {
			t.Errorf("%s: the keys of %d connections, and %d were opened", p, logged, opened)
		}
	}
}

func TestMix(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		file := filepath.Join(t.TempDir(), "body")
		if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
		var mutex sync.Mutex
		seen := map[string]int{}
		server := serveHandler(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent, _ := io.ReadAll(r.Body)
			mutex.Lock()
			seen[fmt.Sprintf("%s %s %d %q %s", r.Method, r.URL.Path, len(sent), r.Header.Get("User-Agent"), r.Header.Get("Cookie"))]++
			mutex.Unlock()
			if r.URL.Path == "/gone" {
				w.WriteHeader(410)
			}
			_, _ = w.Write(make([]byte, 100_000))
		}))
		mix := mixOf([]fields{
			{"path": "/long", "headers": []fields{{"name": "cookie", "value": "abc-000000000000", "changes": true}}},
			{"path": "/up", "method": "POST", "body_bytes": 7, "body_file": file, "headers": []fields{{"name": "user-agent", "value": "me"}}},
			{"path": "/gone", "status": 410, "think_ns": int64(20e6)},
			{"path": "/gone", "status": 200},
		}, []int{0, 1, 2, 3, 0})
		maps.Copy(mix, fields{"users": 2, "requests": 4, "warmup": 1, "cold": true, "connections": "per-user"})
		d := server.drive(t, mix)
		if d.status != 0 || len(d.rows) != 12 || d.count("error", "other: status 410") != 2 || d.count("error", "") != 10 {
			t.Fatalf("exit %d, %v, said: %s", d.status, d.rows, d.said)
		}
		for resource, rows := range map[string]int{"0": 6, "1": 2, "2": 2, "3": 2} {
			if d.count("resource", resource) != rows || d.count("group", "") != 12 {
				t.Errorf("resource %s: %d rows, want %d", resource, d.count("resource", resource), rows)
			}
		}
		want := map[string]int{`POST /up 7 "me" `: 2, `GET /gone 0 "h123" `: 4}
		for _, number := range []int{0, 4, 5, 9, 10, 11} {
			want[fmt.Sprintf(`GET /long 0 "h123" abc-%012d`, number)] = 1
		}
		if !maps.Equal(seen, want) {
			t.Errorf("the server saw %v, want %v", seen, want)
		}
		for _, row := range d.rows {
			before := int64(0)
			for _, other := range d.rows {
				if other["user"] == row["user"] && other.number(t, "end_ns") <= row.number(t, "start_ns") {
					before = max(before, other.number(t, "end_ns"))
				}
			}
			if row["resource"] == "2" && row.number(t, "start_ns")-before < 20e6 {
				t.Errorf("the user did not think before %v", row)
			}
		}
	})
}

func TestOpenLoopKeepsItsSchedule(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		const users, requests, rate = 5, 8, 200.0
		connections := map[bool]int{true: users, false: 1}[p == h1]
		count := users * (requests + 1)
		// With HTTP/2 and HTTP/3 nothing waits for the slow requests before it: all are sent when due, so no answer
		// need begin before the last of them is there. A client that waits for an answer waits until the time is over.
		var asked atomic.Int64
		all := make(chan struct{})
		server := serveHandler(t, p, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if p == h1 {
				time.Sleep(200 * time.Millisecond)
				return
			}
			switch number := int(asked.Add(1)) - connections; {
			case number == count:
				close(all)
			case number > 0: // after the cold ones
				select {
				case <-all:
				case <-r.Context().Done():
				}
			}
		}))
		d := server.drive(t, fields{"users": users, "requests": requests, "rate": rate, "seed": 11, "warmup": 1, "cold": true})
		d.mustSucceed(t, connections+count)
		if d.count("phase", "warmup") != users || d.count("phase", "warm") != users*requests {
			t.Error("phases")
		}
		var starts []int64
		for _, row := range d.rows {
			if row["phase"] == "cold" {
				continue
			}
			starts = append(starts, row.number(t, "start_ns"))
		}
		slices.Sort(starts)
		for i, due := range schedule(11, rate, count) {
			if starts[i]-starts[0] != due-schedule(11, rate, 1)[0] {
				t.Fatalf("request %d started %d ns after the first", i, starts[i]-starts[0])
			}
		}
	})
}

// Nothing that a server has the libraries log grows without end.
func TestNotesAreFew(t *testing.T) {
	t.Parallel()
	n := &notes{}
	for range 1000 {
		fmt.Fprintln(n, "the same again")
	}
	if got := n.all(); !slices.Equal(got, []string{"the same again"}) {
		t.Errorf("%d notes", len(got))
	}
	for i := range 1000 {
		fmt.Fprintf(n, "number %d\n", i)
	}
	if got := n.all(); len(got) != mostNotes {
		t.Errorf("%d notes", len(got))
	}
}

func TestInterrupted(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		var asked atomic.Int64
		server := serveHandler(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) > 10 {
				<-r.Context().Done()
			}
		}))
		d := server.drive(t, fields{"users": 2, "requests": 1000}, func(client *os.Process) {
			reaches(&asked, 12)
			_ = client.Signal(syscall.SIGTERM)
		})
		if d.status != 1 || len(d.rows) != 12 || d.count("error", "other: interrupted") != 2 || !strings.Contains(d.said, "interrupted") {
			t.Errorf("exit %d, %d rows, %s", d.status, len(d.rows), d.said)
		}
	})
}

func TestCannotWrite(t *testing.T) {
	t.Parallel()
	server := serveProcess(t, h1)
	workload := server.workloadFile(t, nil)
	spare := t.TempDir() + "/spare"
	for _, c := range [][3]string{
		{"/dev/full", spare, "no space left"}, {spare, "/dev/full", "no space left"}, {"/nowhere/x", spare, "no such file"},
	} {
		status, said := execute(t, "drive", "--workload", workload, "--samples", c[0], "--facts", c[1], "--initial-window", "", "--pacing", "", "--max-datagram", "")
		if status != 1 || !strings.Contains(said, c[2]) {
			t.Errorf("%v: exit %d, %s", c, status, said)
		}
	}
}
