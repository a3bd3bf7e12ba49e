// Command h123-go is the Go subject of h123: an HTTP server and a load generator on net/http (HTTP/1.1, HTTP/2)
// and quic-go (HTTP/3); the probe, which tests other servers; the spoiler, which tests clients; the scout, which finds
// out about servers of which nothing is known.
package main

import (
	"os"

	"h123.dev/subjects/go/peer"
	"h123.dev/subjects/go/probe"
	"h123.dev/subjects/go/scout"
	"h123.dev/subjects/go/spoil"
)

func main() {
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	switch command {
	case "probe":
		os.Exit(probe.Run(os.Args[2:], os.Stderr))
	case "scout":
		os.Exit(scout.Run(os.Args[2:], os.Stderr))
	case "spoil":
		os.Exit(spoil.Run(os.Args[2:], os.Stderr))
	}
	os.Exit(peer.Run(os.Args[1:], os.Stderr, nil))
}
