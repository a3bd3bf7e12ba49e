// A service in Go: HTTP/1.1 and HTTP/2 of the standard library, HTTP/3 of quic-go.
package main

import (
	"bytes"
	"log"
	"net/http"

	"github.com/quic-go/quic-go/http3"
)

var orders = bytes.Repeat([]byte("0123456789"), 2000)

func main() {
	http.HandleFunc("/orders", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(orders)
	})
	log.Fatal(http3.ListenAndServeTLS(":8443", "cert.pem", "key.pem", nil))
}
