// A service in Go: HTTP/1.1 and HTTP/2 of the standard library, HTTP/3 of quic-go.
package main

import (
	"bytes"
	"flag"
	"log"
	"net/http"
	"time"

	"github.com/quic-go/quic-go/http3"
)

var (
	orders = bytes.Repeat([]byte("0123456789"), 2000)
	thinks = flag.Duration("thinks", 0, "before each answer")
	cert   = flag.String("cert", "cert.pem", "the file of its certificates")
	key    = flag.String("key", "key.pem", "the file of its key")
)

func main() {
	flag.Parse()
	http.HandleFunc("/orders", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(*thinks)
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(orders)
	})
	log.Fatal(http3.ListenAndServeTLS(":8443", *cert, *key, nil))
}
