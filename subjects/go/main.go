// Command h123-go is the Go subject of h123: an HTTP server and a load generator on net/http (HTTP/1.1, HTTP/2)
// and quic-go (HTTP/3).
package main

import (
	"os"

	"h123.dev/subjects/go/peer"
)

func main() {
	os.Exit(peer.Run(os.Args[1:], os.Stderr, nil))
}
