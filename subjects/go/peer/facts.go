package peer

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"io"
	"slices"
)

// facts is client.json: what the connections of a run were like.
type facts struct {
	Format     string     `json:"h123"`
	TLS        []tlsFacts `json:"tls"`
	Congestion *string    `json:"congestion"` // null where there was no connection to ask
	Notes      []string   `json:"notes"`
}

type tlsFacts struct {
	Version     string `json:"version"`
	Cipher      string `json:"cipher"`
	KeyExchange string `json:"key_exchange"`
	ALPN        string `json:"alpn"`
	Connections int    `json:"connections"`
	Resumed     bool   `json:"resumed,omitempty"` // an earlier connection's session
	Early       bool   `json:"early,omitempty"`   // the server took early data
}

// facts describes the connections made so far whose handshake was complete, like ones counted together.
func (d *dialer) facts(notes []string) facts {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	f := facts{Format: "client/1", TLS: []tlsFacts{}, Notes: append([]string{}, notes...)}
	counts := map[tlsFacts]int{}
	var congestions []string
	for _, c := range d.connections {
		if state := c.state(); state.HandshakeComplete {
			counts[describe(state)]++
		}
		if c.congestion != "" && !slices.Contains(congestions, c.congestion) {
			congestions = append(congestions, c.congestion)
		}
	}
	for kind, count := range counts {
		kind.Connections = count
		f.TLS = append(f.TLS, kind)
	}
	slices.SortFunc(f.TLS, func(a, b tlsFacts) int { return cmp.Compare(b.Connections, a.Connections) })
	if len(congestions) > 0 {
		f.Congestion = &congestions[0]
	}
	for _, other := range congestions[min(1, len(congestions)):] {
		f.Notes = append(f.Notes, "connections differ in congestion control: also "+other)
	}
	return f
}

func describe(state session) tlsFacts {
	version := map[uint16]string{tls.VersionTLS12: "1.2", tls.VersionTLS13: "1.3"}[state.Version]
	return tlsFacts{
		Version:     cmp.Or(version, tls.VersionName(state.Version)),
		Cipher:      tls.CipherSuiteName(state.CipherSuite),
		KeyExchange: state.CurveID.String(),
		ALPN:        state.NegotiatedProtocol,
		Resumed:     state.DidResume,
		Early:       state.early,
	}
}

func (f facts) write(to io.Writer) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(f)
}
