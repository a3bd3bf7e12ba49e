// The application behind the reverse proxy: plain HTTP/1.1, for this host alone.
package main

import (
	"bytes"
	"log"
	"net/http"
)

var orders = bytes.Repeat([]byte("0123456789"), 2000)

func main() {
	http.HandleFunc("/orders", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(orders)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil))
}
