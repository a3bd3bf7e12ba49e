package peer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
)

// workload is workload.json: what a client is to do. Its fields are described in docs/contracts.md.
type workload struct {
	Format      string      `json:"h123"`
	Protocol    protocol    `json:"protocol"`
	Host        string      `json:"host"`
	Address     string      `json:"address"`
	Port        int         `json:"port"`
	CA          string      `json:"ca"`
	Method      string      `json:"method"`
	Path        string      `json:"path"`
	UploadBytes int64       `json:"upload_bytes"`
	Users       int         `json:"users"`
	Requests    int         `json:"requests"`
	Rate        *float64    `json:"rate"` // requests a second; nil: closed loop
	Connections connections `json:"connections"`
	Cold        bool        `json:"cold"`
	Warmup      int         `json:"warmup"`
	TimeoutNs   int64       `json:"timeout_ns"`
	Seed        uint64      `json:"seed"`
}

const workloadFormat = "workload/1"

// connections is `shared`, `per-user` or a number.
type connections struct {
	perUser bool
	number  int // 0: not given as a number
}

func (c *connections) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil && (word == "shared" || word == "per-user") {
		*c = connections{perUser: word == "per-user"}
		return nil
	}
	var number int
	if err := json.Unmarshal(data, &number); err != nil || number < 1 {
		return fmt.Errorf(`connections: %s is not "shared", "per-user" or a number from 1`, data)
	}
	*c = connections{number: number}
	return nil
}

// count is how many connections the workload asks for. An HTTP/1.1 connection carries one request at a time, so
// sharing gives each user one.
func (w *workload) count() int {
	switch {
	case w.Connections.number > 0:
		return w.Connections.number
	case w.Connections.perUser || w.Protocol == h1:
		return w.Users
	default:
		return 1
	}
}

// perUser is how many requests each user makes once the users have started.
func (w *workload) perUser() int { return w.Warmup + w.Requests }

// readWorkload reads and checks a workload; its errors name the file and the field, and exit 2.
func readWorkload(path string) (*workload, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failure{exitBadInput, fmt.Errorf("cannot read the workload: %w", err)}
	}
	w, err := parseWorkload(data)
	if err != nil {
		return nil, failure{exitBadInput, fmt.Errorf("%s: %w", path, err)}
	}
	return w, w.Protocol.supported()
}

func parseWorkload(data []byte) (*workload, error) {
	var w workload
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&w); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, fmt.Errorf("%s: %s where %s is wanted", wrong.Field, wrong.Value, wrong.Type)
		}
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	return &w, w.check()
}

// check says which field cannot be, or nothing. The protocol is not its business: an unknown one is unsupported,
// not wrong.
func (w *workload) check() error {
	_, addressError := netip.ParseAddr(w.Address)
	upload := w.Method == "POST"
	for _, rule := range []struct {
		holds bool
		field string
		want  string
	}{
		{w.Format == workloadFormat, "h123", fmt.Sprintf("%q, not %q", workloadFormat, w.Format)},
		{w.Protocol != "", "protocol", "h1, h2 or h3"},
		{w.Host != "", "host", "the server's name"},
		{addressError == nil, "address", fmt.Sprintf("an IP address, not %q", w.Address)},
		{w.Port >= 1 && w.Port <= 65535, "port", "1 to 65535"},
		{w.CA != "", "ca", "a PEM file of the trusted roots"},
		{upload || w.Method == "GET", "method", fmt.Sprintf("GET or POST, not %q", w.Method)},
		{strings.HasPrefix(w.Path, "/"), "path", "a path from /"},
		{w.UploadBytes >= 0 && (upload || w.UploadBytes == 0), "upload_bytes", "0 or more with POST, 0 with GET"},
		{w.Users >= 1, "users", "1 or more"},
		{w.Requests >= 0, "requests", "0 or more"},
		{w.Rate == nil || *w.Rate > 0, "rate", "more than 0, or null for the closed loop"},
		{w.Warmup >= 0, "warmup", "0 or more"},
		{w.Cold || w.perUser() > 0, "requests", "1 or more where there is neither a cold request nor a warm-up"},
		{w.TimeoutNs >= 1, "timeout_ns", "1 or more"},
	} {
		if !rule.holds {
			return fmt.Errorf("%s: must be %s", rule.field, rule.want)
		}
	}
	return nil
}
