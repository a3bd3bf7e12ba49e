// Command h123-rest is the Go subject's server in front of Google Cloud Storage: uploads become objects, downloads
// come out of objects. Its protocols, TLS and clocks are those of h123-go.
package main

import (
	"os"

	"h123.dev/subjects/go/peer"
)

func main() {
	os.Exit(peer.Run(os.Args[1:], os.Stderr, bodies))
}
