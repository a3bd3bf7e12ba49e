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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const header = "phase,user,start_ns,connected_ns,sent_ns,first_byte_ns,end_ns,status,bytes_up,bytes_down,protocol,connection,reused,error,group,resource"

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
		server := serveOver(t, p, tls12)
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

func TestConnectionsAreAsMany(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		server := serveProcess(t, p)
		shared := map[bool]int{true: 4, false: 1}[p == h1]
		for _, c := range []struct {
			connections any
			count       int
		}{{"shared", shared}, {"per-user", 4}, {2, 2}} {
			for _, loop := range []any{nil, 400} {
				for _, cold := range []bool{true, false} {
					wire := tap(t, server)
					d := wire.drive(t, fields{"users": 4, "connections": c.connections, "rate": loop, "cold": cold})
					rows := 16
					if cold {
						rows += c.count
					}
					d.mustSucceed(t, rows)
					dialled := wire.connections()
					// An open loop over HTTP/1.1 takes a connection that is free: it need not use them all.
					if dialled > c.count || (dialled < c.count && !(p == h1 && loop != nil && !cold)) {
						t.Errorf("%v, rate %v, cold %v: %d connections, want %d", c.connections, loop, cold, dialled, c.count)
					}
					if first := d.count("reused", "0"); first != dialled {
						t.Errorf("%d rows are the first of a connection, of %d connections", first, dialled)
					}
				}
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
		// need begin before the last of them is there. Whoever waited for an answer would wait until the time is over.
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

func TestTimeoutsAreRows(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		var asked atomic.Int64
		server := serveHandler(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1)%2 == 0 {
				<-r.Context().Done()
			}
		}))
		d := server.drive(t, fields{"users": 1, "requests": 4, "timeout_ns": 200e6})
		if d.status != 0 || len(d.rows) != 4 || d.count("error", "timeout") != 2 || d.count("error", "") != 2 {
			t.Errorf("exit %d, %v", d.status, d.rows)
		}
		for _, row := range d.rows {
			took := row.number(t, "end_ns") - row.number(t, "start_ns")
			if row["error"] == "timeout" && (took < 200e6 || took > 600e6) {
				t.Errorf("timed out after %d ns", took)
			}
		}
	})
}

// A silent server, and for HTTP/3 an absent one.
func TestDialTimeoutsAreRows(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		wire := tap(t, serveProcess(t, p))
		wire.silence()
		d := wire.drive(t, fields{"users": 2, "requests": 1, "timeout_ns": 200e6, "cold": true})
		connections := map[bool]int{true: 2, false: 1}[p == h1]
		if d.status != 0 || len(d.rows) != 2+connections || d.count("error", "timeout") != len(d.rows) ||
			d.count("connection", "") != len(d.rows) || d.count("protocol", "") != len(d.rows) || len(d.facts.TLS) != 0 {
			t.Errorf("exit %d, %v, %+v", d.status, d.rows, d.facts)
		}
	})
}

// Every request that reached the server is a row, and no other: nothing is repeated in silence.
func TestBrokenRequestsAreNotRepeated(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		var asked atomic.Int64
		server := serveHandler(t, p, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			switch asked.Add(1) % 5 {
			case 3:
				panic(http.ErrAbortHandler) // before an answer
			case 4:
				w.Header().Set("Content-Length", "100000") // and inside one
				_, _ = w.Write(block[:50_000])
				panic(http.ErrAbortHandler)
			}
		}))
		d := server.drive(t, fields{"users": 4, "requests": 25})
		if d.status != 0 || len(d.rows) != 100 || asked.Load() != 100 || d.count("error", "reset") != 40 || d.count("error", "") != 60 {
			t.Errorf("exit %d, %d rows, %d requests at the server, %s", d.status, len(d.rows), asked.Load(), d.said)
		}
	})
}

// A request that has no answer in time is made again, whole, and is one row.
func TestRequestsAreMadeAgain(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		const size = 200_000
		var asked, sent atomic.Int64
		server := serveHandler(t, p, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			n, _ := io.Copy(io.Discard, r.Body)
			sent.Add(n)
			if asked.Add(1)%3 == 1 {
				<-r.Context().Done()
			}
		}))
		d := server.drive(t, fields{"users": 1, "requests": 4, "method": "POST", "path": "/upload", "upload_bytes": size, "retry_ns": 300e6, "retries": 3})
		d.mustSucceed(t, 4)
		if d.header != header+",tries" || asked.Load() != 6 || sent.Load() != 6*size || d.count("bytes_up", strconv.Itoa(size)) != 4 {
			t.Errorf("header %s, %d requests and %d bytes at the server", d.header, asked.Load(), sent.Load())
		}
		for n, row := range d.rows { // the first and the fourth reach the server as its first and fourth
			took := row.number(t, "end_ns") - row.number(t, "start_ns")
			again := n%2 == 0
			if row["tries"] != map[bool]string{true: "2", false: "1"}[again] || (took >= 300e6) != again || took > 600e6 {
				t.Errorf("took %d ns, %v", took, row)
			}
			// On a busy machine the hook for what was sent may run after the answer: then nobody knows when it was.
			if row["sent_ns"] != "" && row.number(t, "sent_ns")-row.number(t, "start_ns") < map[bool]int64{true: 300e6}[again] {
				t.Errorf("the last try is not the one told of: %v", row)
			}
		}
		if connections := map[bool]string{true: "2", false: "0"}[p == h1]; d.rows[3]["connection"] != connections {
			t.Errorf("connection %s instead of %s", d.rows[3]["connection"], connections)
		}
	})
}

// A try that fails waits until the next one is due, so that nobody is stormed.
func TestFailedTriesWait(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		var asked atomic.Int64
		server := serveHandler(t, p, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = w.Write(block[:50_000])
			panic(http.ErrAbortHandler)
		}))
		d := server.drive(t, fields{"users": 2, "requests": 2, "retry_ns": 150e6, "retries": 2})
		if d.status != 0 || len(d.rows) != 4 || asked.Load() != 12 || d.count("tries", "3") != 4 || d.count("error", "reset") != 4 {
			t.Errorf("exit %d, %d requests at the server, %v", d.status, asked.Load(), d.rows)
		}
		for _, row := range d.rows {
			if took := row.number(t, "end_ns") - row.number(t, "start_ns"); took < 300e6 || took > 600e6 {
				t.Errorf("took %d ns", took)
			}
		}
	})
}

// What has been answered, or is forbidden, another try would not change.
func TestAnswersAreNotAskedForAgain(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		server := serveProcess(t, p)
		stranger, _ := identity(t)
		for want, changes := range map[string]fields{"other: status 404": {"path": "/nothing"}, "tls": {"ca": stranger}} {
			maps.Copy(changes, fields{"users": 1, "requests": 2, "retry_ns": int64(2e9), "retries": 2})
			if d := server.drive(t, changes); d.status != 0 || d.count("error", want) != 2 || d.count("tries", "1") != 2 {
				t.Errorf("%s: exit %d, %v", want, d.status, d.rows)
			}
		}
	})
}

// A try ends with its handshake, and the last one with the request's time. A cold request is made once.
func TestUnheardRequestsAreMadeAgain(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		wire := tap(t, serveProcess(t, p))
		wire.silence()
		d := wire.drive(t, fields{"users": 1, "requests": 1, "cold": true, "timeout_ns": 400e6, "retry_ns": 100e6, "retries": 2})
		if d.status != 0 || d.count("error", "timeout") != 2 || d.rows[0]["tries"] != "1" || d.rows[1]["tries"] != "3" {
			t.Errorf("exit %d, %v", d.status, d.rows)
		}
		for _, row := range d.rows {
			if took := row.number(t, "end_ns") - row.number(t, "start_ns"); took < 400e6 || took > 800e6 {
				t.Errorf("took %d ns", took)
			}
		}
		if dialled := wire.connections(); p != h3 && dialled != 4 {
			t.Errorf("%d connections instead of one for each try", dialled)
		}
	})
}

func TestCutConnectionsAreDialledAgain(t *testing.T) {
	t.Parallel()
	for _, p := range []protocol{h1, h2} {
		var asked atomic.Int64
		wire := tap(t, serveHandler(t, p, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })))
		d := wire.drive(t, fields{"users": 2, "rate": 200, "requests": 100}, func(*os.Process) {
			reaches(&asked, 30)
			wire.cut()
		})
		dialled := wire.connections()
		if d.status != 0 || len(d.rows) != 200 || dialled < 2 || d.count("reused", "0")-d.count("connection", "") != dialled {
			t.Errorf("%s: exit %d, %d rows, %d connections, %s", p, d.status, len(d.rows), dialled, d.said)
		}
		if good := d.count("error", ""); good < 100 || d.count("connection", strconv.Itoa(dialled-1)) < 2 {
			t.Errorf("%s: no recovery: %d good rows, %d connections", p, good, dialled)
		}
	}
}

// reaches waits until a counter has reached a value, 10 s at most.
func reaches(counter *atomic.Int64, value int64) {
	for deadline := time.Now().Add(10 * time.Second); counter.Load() < value && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
}

func TestKilledServer(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		server := serveProcess(t, p)
		// 300 requests last 3 s at this rate; the server lives for the first part of them.
		d := server.drive(t, fields{"users": 3, "rate": 100, "requests": 100, "timeout_ns": 300e6}, func(*os.Process) {
			time.Sleep(700 * time.Millisecond)
			_ = server.process.Process.Kill()
		})
		good := d.count("error", "")
		named := good + d.count("error", "refused") + d.count("error", "reset") + d.count("error", "timeout")
		if d.status != 0 || len(d.rows) != 300 || good == 0 || good == 300 || named != 300 {
			t.Errorf("exit %d, %d rows, %d good, %d with an error that has a name, %s", d.status, len(d.rows), good, named, d.said)
		}
	})
}

// A server may limit the requests of a connection: that is an end in good order, and costs a dial, not an error.
func TestDrainedConnections(t *testing.T) {
	t.Parallel()
	for _, p := range []protocol{h1, h2} {
		var asked atomic.Int64
		server := serveHandler(t, p, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1)%10 == 0 {
				w.Header().Set("Connection", "close") // with HTTP/2, net/http sends GOAWAY
			}
		}))
		d := server.drive(t, fields{"users": 1, "requests": 40})
		d.mustSucceed(t, 40)
		if asked.Load() != 40 || d.count("reused", "0") != 4 || d.count("connection", "3") != 10 {
			t.Errorf("%s: %d requests at the server, %v", p, asked.Load(), d.rows)
		}
	}
}

func TestErrorsHaveNames(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		server := serveProcess(t, p)
		stranger, _ := identity(t)
		check := func(what, want string, changes fields) {
			changes["users"], changes["requests"], changes["timeout_ns"] = 2, 2, 10e9
			if want == "timeout" { // only where it is waited for: a busy machine takes its time
				changes["timeout_ns"] = 300e6
			}
			if d := server.drive(t, changes); d.status != 0 || len(d.rows) != 4 || d.count("error", want) != 4 {
				t.Errorf("%s: exit %d, want %q, %v", what, d.status, want, d.rows)
			}
		}
		check("unknown authority", "tls", fields{"ca": stranger})
		check("wrong name", "tls", fields{"host": "other.test"})
		check("missing", "other: status 404", fields{"path": "/nothing"})
		refusal := map[bool]string{true: "timeout", false: "refused"}[p == h3] // QUIC sockets are told of no refusal
		check("closed port", refusal, fields{"port": closedPort(t)})
		switch p {
		case h1:
			check("HTTP/2 with an HTTP/1.1 server", "protocol", fields{"protocol": h2})
		case h2: // Go's server can refuse this one only with an "internal error"
			check("HTTP/1.1 with an HTTP/2 server", "tls", fields{"protocol": h1})
		}
	})
}

// What never ends is given up as soon as it cannot be an answer any more, long before its time is over.
func TestEndlessAnswers(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		server := serveHandler(t, p, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}))
		d := server.drive(t, fields{"users": 1, "requests": 2, "timeout_ns": 100 * int64(time.Second)})
		if d.status != 0 || len(d.rows) != 2 || d.count("error", "protocol") != 2 {
			t.Errorf("exit %d, %v, %s", d.status, d.rows, d.said)
		}
	})
}

func TestSwitchingProtocols(t *testing.T) {
	t.Parallel()
	server := serveHandler(t, h1, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		fmt.Fprint(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n")
		_, _ = io.Copy(io.Discard, connection) // silence
	}))
	d := server.drive(t, fields{"users": 1, "requests": 2, "timeout_ns": int64(time.Second)})
	if d.status != 0 || len(d.rows) != 2 || d.count("error", "protocol") != 2 || d.count("status", "101") != 2 {
		t.Errorf("exit %d, %v, %s", d.status, d.rows, d.said)
	}
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

func TestRowsOfOddErrors(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	j := journal{}
	j.add(&sample{phase: warm, connection: noConnection, start: 5, failure: `other: "a", b`})
	if err := j.write(&text); err != nil {
		t.Fatal(err)
	}
	want := header + "\n" + `warm,0,5,,,,,0,0,0,,,0,"other: ""a"", b",,0` + "\n"
	if text.String() != want {
		t.Errorf("%s", text.String())
	}
}

func TestAlarmIsNeverEarly(t *testing.T) {
	t.Parallel()
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for i := range 20 {
		due := now() + int64(i)*200_000
		if err := a.wait(t.Context(), due); err != nil || now() < due {
			t.Fatal(err, now()-due)
		}
	}
}
