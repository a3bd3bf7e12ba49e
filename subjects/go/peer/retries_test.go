package peer

import (
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
)

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
			// On a busy machine the hook for what was sent may run after the answer: then the time is not known.
			if row["sent_ns"] != "" && row.number(t, "sent_ns")-row.number(t, "start_ns") < map[bool]int64{true: 300e6}[again] {
				t.Errorf("the times are not those of the last try: %v", row)
			}
		}
		if connections := map[bool]string{true: "2", false: "0"}[p == h1]; d.rows[3]["connection"] != connections {
			t.Errorf("connection %s instead of %s", d.rows[3]["connection"], connections)
		}
	})
}

// After a try that fails, the client waits until the next one is due, so that it does not flood the server.
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

// Another try would not change what has been answered or is forbidden.
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
