package peer

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

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

// Every request that reached the server is a row, and no other: the client repeats nothing in silence.
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

func TestKilledServer(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		address := ownAddress()
		server := serveAt(t, address, p, tls13)
		// 300 requests last 3 s at this rate; the server lives for the first part of them.
		d := server.drive(t, fields{"address": address, "users": 3, "rate": 100, "requests": 100, "timeout_ns": 300e6}, func(*os.Process) {
			time.Sleep(700 * time.Millisecond)
			_ = server.process.Process.Kill()
		})
		good := d.count("error", "")
		named := good + d.count("error", "refused") + d.count("error", "reset") + d.count("error", "timeout")
		if d.status != 0 || len(d.rows) != 300 || good == 0 || good == 300 || named != 300 {
			errors := map[string]int{}
			for _, row := range d.rows {
				errors[row["error"]]++
			}
			t.Errorf("exit %d, %d rows, errors %v, %s", d.status, len(d.rows), errors, d.said)
		}
	})
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
		refusal := map[bool]string{true: "timeout", false: "refused"}[p == h3] // QUIC sockets see no refusal
		closed := ownAddress()
		check("closed port", refusal, fields{"address": closed, "port": closedPort(t, closed)})
		switch p {
		case h1:
			check("HTTP/2 with an HTTP/1.1 server", "protocol", fields{"protocol": h2})
		case h2: // Go's server can refuse this one only with an "internal error"
			check("HTTP/1.1 with an HTTP/2 server", "tls", fields{"protocol": h1})
		}
	})
}

// The client gives up what never ends as soon as it cannot be an answer any more, long before its time is over.
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
	d := server.drive(t, fields{"users": 1, "requests": 2, "timeout_ns": 5 * int64(time.Second)})
	if d.status != 0 || len(d.rows) != 2 || d.count("error", "protocol") != 2 || d.count("status", "101") != 2 {
		t.Errorf("exit %d, %v, %s", d.status, d.rows, d.said)
	}
}
