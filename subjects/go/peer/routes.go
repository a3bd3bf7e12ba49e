package peer

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// maxBody bounds what /bytes/<n> serves.
const maxBody = 16 << 30

// block is what every body is made of, repeated: nothing on the way can compress it, and any program can make it, to
// serve it or to check it. It is the digests of "h123" followed by a counter.
var block = func() []byte {
	data := make([]byte, 0, 64<<10)
	for counter := range uint32(cap(data) / sha256.Size) {
		digest := sha256.Sum256(binary.BigEndian.AppendUint32([]byte("h123"), counter))
		data = append(data, digest[:]...)
	}
	return data
}()

var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// routes is what a server of the contract answers; from a store, if there is one, and a page's own documents from a
// folder, if one is named.
func routes(store Store, documents string) http.Handler {
	mux := http.NewServeMux()
	if documents != "" {
		files := http.StripPrefix("/site/", http.FileServer(http.Dir(documents)))
		mux.HandleFunc("GET /site/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			files.ServeHTTP(w, r)
		})
	}
	if store == nil {
		mux.HandleFunc("GET /bytes/{count}", serveBytes)
		mux.HandleFunc("POST /upload", takeUpload)
	} else {
		mux.HandleFunc("GET /bytes/{count}", serveObject(store))
		mux.HandleFunc("POST /upload", storeUpload(store))
	}
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// announcing tells of other services (RFC 7838) in every answer, if there is something to tell.
func announcing(services string, handler http.Handler) http.Handler {
	if services == "" {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Alt-Svc", services)
		handler.ServeHTTP(w, r)
	})
}

func serveBytes(w http.ResponseWriter, r *http.Request) {
	count, ok := bytesAsked(w, r)
	if !ok {
		return
	}
	announce(w, count)
	if r.Method == http.MethodHead {
		return
	}
	for count > 0 {
		written, err := w.Write(block[:min(count, int64(len(block)))])
		if err != nil {
			return // the client has gone
		}
		count -= int64(written)
	}
}

// bytesAsked is the n of /bytes/<n>; what is none is answered.
func bytesAsked(w http.ResponseWriter, r *http.Request) (count int64, ok bool) {
	count, err := strconv.ParseInt(r.PathValue("count"), 10, 64)
	if err != nil || count < 0 || count > maxBody {
		http.Error(w, fmt.Sprintf("/bytes/<n>: n is a number from 0 to %d", int64(maxBody)), http.StatusBadRequest)
		return 0, false
	}
	return count, true
}

// announce says what body follows.
func announce(w http.ResponseWriter, count int64) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(count, 10))
}

func takeUpload(w http.ResponseWriter, r *http.Request) {
	buffer := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	count, err := discard(r.Body, buffer[:])
	if err != nil {
		http.Error(w, "the body ended early: "+err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, count)
}

// discard reads a body to its end through a buffer and counts its bytes. (io.Copy to io.Discard would read 8 kB at
// a time.)
func discard(body io.Reader, buffer []byte) (int64, error) {
	var count int64
	for {
		n, err := body.Read(buffer)
		count += int64(n)
		if err == io.EOF {
			return count, nil
		}
		if err != nil {
			return count, err
		}
	}
}
