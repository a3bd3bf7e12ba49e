package main

// How a faulty server answers: what the list in faults.go is made of.

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"h123.dev/subjects/go/peer"
)

// onlyProtocol is the one that this process speaks.
var onlyProtocol string

func sizeOf(r *http.Request) int64 {
	size, _ := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/bytes/"), 10, 64)
	return size
}

func write(w http.ResponseWriter, r *http.Request, size int64, body io.Reader) {
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, body)
	}
}

// keeps is the contract.
func keeps() http.HandlerFunc {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bytes/{count}", func(w http.ResponseWriter, r *http.Request) { write(w, r, sizeOf(r), peer.Body(sizeOf(r))) })
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /upload", func(w http.ResponseWriter, r *http.Request) {
		count, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, count)
	})
	return mux.ServeHTTP
}

type answering = func(next http.HandlerFunc) http.HandlerFunc

// on answers those requests otherwise whose path begins so.
func on(beginning string, otherwise http.HandlerFunc) answering {
	return func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, beginning) {
				otherwise(w, r)
			} else {
				next(w, r)
			}
		}
	}
}

// bodies sends other bytes, and announces the right count of them.
func bodies(of func(r *http.Request, size int64) io.Reader) answering {
	return on("/bytes/", func(w http.ResponseWriter, r *http.Request) { write(w, r, sizeOf(r), of(r, sizeOf(r))) })
}

// oneAfterAnother has one request answered at a time.
func oneAfterAnother(next http.HandlerFunc) http.HandlerFunc {
	var one sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		next(w, r)
	}
}

// dribble sends the beginning of a body as it comes, and that is slowly.
func dribble(w http.ResponseWriter, r *http.Request) {
	size, body := sizeOf(r), peer.Body(sizeOf(r))
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	if r.Method != http.MethodGet {
		return
	}
	for range min(size/1000, 50) {
		if _, err := io.CopyN(w, body, 1000); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		time.Sleep(10 * time.Millisecond)
	}
	_, _ = io.Copy(w, body)
}

// spoiled is a body with one wrong byte.
func spoiled(size, at int64) io.Reader {
	right := peer.Body(size)
	before := io.LimitReader(right, at)
	wrong := io.LimitReader(readerFunc(func(into []byte) (int, error) {
		n, err := right.Read(into[:1])
		into[0] ^= 1
		return n, err
	}), 1)
	return io.MultiReader(before, wrong, right)
}

func headed(otherwise http.HandlerFunc) answering {
	return func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				otherwise(w, r)
			} else {
				next(w, r)
			}
		}
	}
}

// every has one request in so many answered otherwise.
func every(count int64, otherwise http.HandlerFunc) answering {
	return counted(func(n int64) bool { return n%count == 0 }, otherwise)
}

// after has those answered otherwise that come later than so many.
func after(count int64, otherwise http.HandlerFunc) answering {
	return counted(func(n int64) bool { return n > count }, otherwise)
}

func counted(is func(int64) bool, otherwise http.HandlerFunc) answering {
	return func(next http.HandlerFunc) http.HandlerFunc {
		var requests atomic.Int64
		return func(w http.ResponseWriter, r *http.Request) {
			if is(requests.Add(1)) {
				otherwise(w, r)
			} else {
				next(w, r)
			}
		}
	}
}

// closing answers, and ends the connection in good order.
func closing(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	keeps()(w, r)
}

// twoProcesses has every second connection served as by another process, whose tickets have a key of their own.
func twoProcesses(config *tls.Config) {
	var configs [2]*tls.Config
	for i := range configs {
		configs[i] = config.Clone()
		var key [32]byte
		_, _ = rand.Read(key[:])
		configs[i].SetSessionTicketKeys([][32]byte{key})
	}
	before := config.GetConfigForClient
	var connections atomic.Int64
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if before != nil {
			if _, err := before(hello); err != nil {
				return nil, err
			}
		}
		return configs[min(connections.Add(1)%3, 1)], nil // some come to the same one in a row, others do not
	}
}
