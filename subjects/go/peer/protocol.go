package peer

import "fmt"

// protocol is an HTTP version as the contracts name it.
type protocol string

const (
	h1 protocol = "h1"
	h2 protocol = "h2"
	h3 protocol = "h3"
)

// alpn maps each protocol to its name in TLS.
var alpn = map[protocol]string{h1: "http/1.1", h2: "h2", h3: "h3"}

// protocols maps HTTP's major version to the protocol.
var protocols = map[int]protocol{1: h1, 2: h2, 3: h3}

// supported refuses what this subject does not speak.
func (p protocol) supported() error {
	if alpn[p] == "" {
		return failure{exitUnsupported, fmt.Errorf("protocol %q is not supported: it is h1, h2 or h3", string(p))}
	}
	return nil
}
