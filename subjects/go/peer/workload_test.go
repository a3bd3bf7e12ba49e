package peer

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestBadWorkloads(t *testing.T) {
	t.Parallel()
	server := served{protocol: h2, port: 1, ca: "/nowhere/ca.pem"}
	for _, c := range []struct {
		field string
		value any
	}{
		{"protocol", ""}, {"protocol", 2}, {"host", ""}, {"address", "localhost"}, {"port", 0},
		{"port", 70000}, {"port", "443"}, {"ca", ""}, {"ca", "/nowhere/ca.pem"}, {"method", "PUT"}, {"path", "bytes"},
		{"upload_bytes", 5}, {"users", 0}, {"users", -1}, {"users", 1.5}, {"requests", 0}, {"requests", -1}, {"rate", 0},
		{"rate", -2.5}, {"rate", "fast"}, {"connections", "many"}, {"connections", 0}, {"connections", nil}, {"cold", "yes"},
		{"warmup", -1}, {"timeout_ns", 0}, {"seed", -1}, {"mix", []any{}}, {"order", []int{0}},
		{"gaps_ns", []int{1, 2}}, {"dealt_to", slices.Repeat([]int{0}, 12)},
		{"abandoned", []int{1}}, {"abandoned", []int{}}, {"abandon_ns", 5}, {"abandon_ns", -5},
		{"retries", 1}, {"retries", -1}, {"retry_ns", 5}, {"retry_ns", -5}, {"gaps_ns", slices.Repeat([]int{-1}, 12)}, {"gaps_ns", slices.Repeat([]float64{0.5}, 12)},
		{"headers", []fields{{"name": "", "value": "a"}}}, {"headers", []fields{{"name": "a", "value": "short", "changes": true}}},
	} {
		path := server.workloadFile(t, fields{c.field: c.value})
		status, said := execute(t, "drive", "--workload", path, "--samples", "/nowhere/s", "--facts", "/nowhere/f", "--initial-window", "", "--pacing", "", "--max-datagram", "")
		if status != 2 || !strings.Contains(said, c.field) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s = %v: exit %d, %s", c.field, c.value, status, said)
		}
	}
	for field, value := range (fields{"protocol": "h4", "h123": "workload/3", "kind": "journey", "colour": "blue", "tls": "1.1"}) {
		path := server.workloadFile(t, fields{field: value})
		status, said := execute(t, "drive", "--workload", path, "--samples", "s", "--facts", "f", "--initial-window", "", "--pacing", "", "--max-datagram", "")
		if status != 127 || !strings.Contains(said, field) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s %v: exit %d, %s", field, value, status, said)
		}
	}
}

func TestBadRetries(t *testing.T) {
	t.Parallel()
	server := served{protocol: h2, port: 1, ca: "/nowhere/ca.pem"}
	for _, c := range []fields{
		{"retry_ns": 5, "retries": 101}, {"retry_ns": int64(2.5e9), "retries": 2}, {"retry_ns": int64(1<<63 - 1), "retries": 100},
		{"retry_ns": 5, "retries": 1, "abandon_ns": 5, "abandoned": []int{1}},
	} {
		path := server.workloadFile(t, c)
		status, said := execute(t, "drive", "--workload", path, "--samples", "/nowhere/s", "--facts", "/nowhere/f", "--initial-window", "", "--pacing", "", "--max-datagram", "")
		if status != 2 || !strings.Contains(said, "retr") {
			t.Errorf("%v: exit %d, %s", c, status, said)
		}
	}
}

// mixOf makes a workload one of the kind mix.
func mixOf(entries []fields, order []int) fields {
	for _, e := range entries {
		for name, usual := range (fields{"method": "GET", "headers": []any{}, "body_bytes": 0, "body_file": nil, "status": 200, "think_ns": 0}) {
			if _, set := e[name]; !set {
				e[name] = usual
			}
		}
	}
	return fields{"kind": "mix", "mix": entries, "order": order, "method": absent, "path": absent, "upload_bytes": absent}
}

func TestBadMixes(t *testing.T) {
	t.Parallel()
	server := served{protocol: h2, port: 1, ca: "/nowhere/ca.pem"}
	for _, c := range []struct {
		entry fields
		order []int
		said  string
	}{
		{fields{"path": "/"}, []int{1}, "order"}, {fields{"path": "/"}, []int{}, "order"}, {fields{"path": "/"}, []int{-1}, "order"},
		{fields{"path": "/", "method": "PUT"}, []int{0}, "mix[0]: method"}, {fields{"path": "x"}, []int{0}, "mix[0]: path"},
		{fields{"path": "/", "body_bytes": 1}, []int{0}, "mix[0]: upload_bytes"}, {fields{"path": "/", "status": 99}, []int{0}, "mix[0]: status"},
		{fields{"path": "/", "think_ns": -1}, []int{0}, "mix[0]: think_ns"},
	} {
		path := server.workloadFile(t, mixOf([]fields{c.entry}, c.order))
		status, said := execute(t, "drive", "--workload", path, "--samples", "/nowhere/s", "--facts", "/nowhere/f", "--initial-window", "", "--pacing", "", "--max-datagram", "")
		if status != 2 || !strings.Contains(said, c.said) {
			t.Errorf("%v: exit %d, %s", c, status, said)
		}
	}
}

func TestConnectionsAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol    protocol
		connections string
		count       int
	}{
		{h1, `"shared"`, 6}, {h2, `"shared"`, 1}, {h3, `"shared"`, 1}, {h1, `"per-user"`, 6}, {h3, `"per-user"`, 6}, {h1, `2`, 2}, {h2, `9`, 9},
	} {
		w := workload{Protocol: c.protocol, Users: 6}
		if err := json.Unmarshal([]byte(c.connections), &w.Connections); err != nil || w.count() != c.count {
			t.Errorf("%s, %s: %d connections, want %d (%v)", c.protocol, c.connections, w.count(), c.count, err)
		}
	}
}

func TestToldSchedule(t *testing.T) {
	t.Parallel()
	rate := 50.0
	told := workload{Users: 2, Requests: 2, GapsNs: []int64{5, 0, 0, 7}}
	if due := told.schedule(); !slices.Equal(due, []int64{5, 5, 5, 12}) {
		t.Errorf("requests are due at %v", due)
	}
	random := workload{Users: 2, Requests: 2, Seed: 7, Rate: &rate}
	if due := random.schedule(); !slices.Equal(due, schedule(7, rate, 4)) {
		t.Errorf("requests are due at %v", due)
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	const rate, count = 50.0, 20_000
	due := schedule(7, rate, count)
	if !slices.Equal(due, schedule(7, rate, count)) || slices.Equal(due, schedule(8, rate, count)) {
		t.Error("the schedule is not a function of its seed")
	}
	if !slices.Equal(due[:100], schedule(7, rate, 100)) {
		t.Error("a longer schedule does not begin as a shorter one")
	}
	// Golden: the same on every machine, and after every change of this program.
	if want := []int64{6_369_928, 73_190_739, 80_270_501}; !slices.Equal(due[:len(want)], want) {
		t.Errorf("schedule(7, 50) begins %v, want %v", due[:len(want)], want)
	}
	// Gaps are exponential: mean and standard deviation are 1/rate (5 sigma of 20 000 draws: 3.5 %, 7 %),
	// and a share exp(-1) of them is above the mean.
	var mean, square, above float64
	previous := int64(0)
	for _, at := range due {
		gap := float64(at-previous) / 1e9 * rate
		if gap < 0 {
			t.Fatal("the schedule goes back in time")
		}
		previous = at
		mean += gap / count
		square += gap * gap / count
		if gap > 1 {
			above += 1.0 / count
		}
	}
	deviation := math.Sqrt(square - mean*mean)
	if math.Abs(mean-1) > 0.035 || math.Abs(deviation-1) > 0.07 || math.Abs(above-math.Exp(-1)) > 0.017 {
		t.Errorf("gaps have mean %.4f, deviation %.4f (want 1), %.4f above the mean (want 0.368)", mean, deviation, above)
	}
}
