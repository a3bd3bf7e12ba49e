package probe

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"h123.dev/subjects/go/peer"
)

func TestAServerThatKeepsTheContractPasses(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		found := probe(t, serve(t, protocol, good(), options{quic: quic.Config{Allow0RTT: true}}))
		for _, one := range found {
			if !one.Passed {
				t.Errorf("%s: %s", one.Name, one.Detail)
			}
		}
		names := []string{"connection", "TLS", "ALPN", "GET 0", "GET 200000", "POST 0", "POST 200000", "HEAD", "404", "health",
			"X25519 alone", "other protocols", "no compression", "any host", "GET of other sizes", "POST of other sizes", "POST in halves",
			"100 downloads at once", "100 uploads at once", "200 requests on a connection", "resumption"}
		if protocol == "h3" {
			names = append(names, "0-RTT", "reserved values")
		}
		for _, name := range names {
			if _, asked := found[name]; !asked {
				t.Errorf("%s was not asked", name)
			}
		}
		if seen := found["TLS"].Detail; !strings.HasPrefix(seen, "TLS 1.3, TLS_") || !strings.Contains(seen, "X25519") {
			t.Error(seen)
		}
	})
}

func TestBrokenServersFail(t *testing.T) {
	wrong := func(w http.ResponseWriter, r *http.Request) {
		count, _ := strconv.ParseInt(filepath.Base(r.URL.Path), 10, 64)
		w.Header().Set("Content-Length", strconv.FormatInt(count, 10))
		_, _ = w.Write(make([]byte, count))
	}
	unsized := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		if count, _ := strconv.ParseInt(filepath.Base(r.URL.Path), 10, 64); r.Method == http.MethodGet {
			_, _ = io.Copy(w, peer.Body(count))
		}
	}
	headless := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(405)
			return
		}
		good().ServeHTTP(w, r)
	}
	cases := map[string]struct {
		handler http.Handler
		failing []string
	}{
		"wrong bytes":       {broken("/bytes/", wrong), []string{"GET 1", "GET 1000", "GET 200000", "10 downloads at once"}},
		"no content-length": {broken("/bytes/", unsized), []string{"GET 1000", "HEAD"}},
		"no HEAD":           {broken("/bytes/", headless), []string{"HEAD"}},
		"no 404":            {broken("/there", func(http.ResponseWriter, *http.Request) {}), []string{"404"}},
		"no count": {broken("/upload", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, "thanks")
		}), []string{"POST 0", "POST 1000", "10 uploads at once"}},
		"wrong whole blocks": {broken("/bytes/65536", wrong), []string{"GET of other sizes"}},
		"compression": {broken("/bytes/", func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.Header.Get("Accept-Encoding"), "br") {
				w.Header().Set("Content-Encoding", "br")
			}
			good().ServeHTTP(w, r)
		}), []string{"no compression"}},
		"one host": {broken("/", func(w http.ResponseWriter, r *http.Request) {
			if r.Host != host {
				w.WriteHeader(421)
				return
			}
			good().ServeHTTP(w, r)
		}), []string{"any host"}},
		"an early answer": {broken("/upload", func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			said := strconv.FormatInt(r.ContentLength, 10)
			w.Header().Set("Content-Length", strconv.Itoa(len(said)))
			fmt.Fprint(w, said)
			w.(http.Flusher).Flush()
			_, _ = io.Copy(io.Discard, r.Body)
		}), []string{"POST in halves"}},
		"a short answer": {broken("/bytes/200000", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "200000")
			_, _ = io.Copy(w, peer.Body(100_000))
		}), []string{"GET 200000"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
				p := serve(t, protocol, c.handler, options{})
				p.AtOnce, p.InARow, p.Resume, p.Early = 10, 0, 0, false
				if slices.Contains(c.failing, "POST in halves") {
					p.Rest = int64(9 * time.Second) // the answer is there sooner
				}
				mustFail(t, probe(t, p), c.failing)
			})
		})
	}
}
