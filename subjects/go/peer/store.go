package peer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
)

// ErrNoObject is a store's answer to a Download of a size that was never seeded.
var ErrNoObject = errors.New("there is no object of this size")

// Store keeps a server's bodies as objects somewhere else. Its methods are called concurrently.
type Store interface {
	// Upload keeps a body as an object and returns its size in bytes.
	Upload(ctx context.Context, body io.Reader) (int64, error)
	// Download opens the object of count bytes that was put there before; ErrNoObject if there is none.
	Download(ctx context.Context, count int64) (io.ReadCloser, error)
}

// Storage declares the flags by which a store is chosen and returns what opens it once they are parsed. A nil Store
// stands for none: bodies are made up and discarded.
type Storage func(flags *flag.FlagSet) func(context.Context) (Store, error)

// Body is count bytes of the pattern that /bytes/<n> serves.
func Body(count int64) io.Reader {
	return io.LimitReader(&pattern{}, count)
}

// pattern is the block, repeated without end.
type pattern struct{ at int }

func (p *pattern) Read(into []byte) (int, error) {
	n := copy(into, block[p.at:])
	p.at = (p.at + n) % len(block)
	return n, nil
}

func serveObject(store Store) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		count, ok := bytesAsked(w, r)
		if !ok {
			return
		}
		object, err := store.Download(r.Context(), count)
		if errors.Is(err, ErrNoObject) {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		if err != nil {
			refuse(w, err)
			return
		}
		defer object.Close()
		announce(w, count)
		if r.Method == http.MethodHead {
			return
		}
		if err := pass(w, object); err != nil {
			// The header is out: only a body that ends early can still tell the client.
			log.Print("h123-go: a download ended early: ", err)
			panic(http.ErrAbortHandler)
		}
	}
}

func storeUpload(store Store) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		count, err := store.Upload(r.Context(), r.Body)
		if err != nil {
			refuse(w, err)
			return
		}
		fmt.Fprint(w, count)
	}
}

// pass copies a body through one of the large buffers.
func pass(to io.Writer, from io.Reader) error {
	buffer := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	// Hidden, or io.CopyBuffer would prefer a ReadFrom or WriteTo with a buffer of its own.
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, buffer[:])
	return err
}

// refuse answers a request that failed behind the server.
func refuse(w http.ResponseWriter, err error) {
	log.Print("h123-go: the storage failed: ", err)
	http.Error(w, "the storage failed: "+err.Error(), http.StatusBadGateway)
}
