package peer

import (
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

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
