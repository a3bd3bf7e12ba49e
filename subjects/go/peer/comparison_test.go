package peer

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"testing"
	"testing/iotest"
)

func TestBlockBytes(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int64{"/bytes/0": 0, "/bytes/100000": 100_000} {
		if got, ok := blockBytes(path); !ok || got != want {
			t.Errorf("%s: %d, %v", path, got, ok)
		}
	}
	for _, path := range []string{"/bytes/", "/bytes/+5", "/bytes/-5", "/bytes/5?x", "/bytes/5/", "/x/bytes/5", "/bytes/0x5", "/bytes/99999999999999999999"} {
		if got, ok := blockBytes(path); ok {
			t.Errorf("%s: %d", path, got)
		}
	}
}

func TestEachByteIsCompared(t *testing.T) {
	t.Parallel()
	const size = 3*64<<10 + 17
	right, err := io.ReadAll(Body(size))
	if err != nil {
		t.Fatal(err)
	}
	wrong := func(body []byte, as func(io.Reader) io.Reader) bool {
		held := &comparison{body: as(bytes.NewReader(body))}
		if count, err := discard(held, make([]byte, 64<<10)); count != int64(len(body)) || err != nil {
			t.Fatal(count, err)
		}
		return held.wrong
	}
	asItIs := func(body io.Reader) io.Reader { return body }
	for name, as := range map[string]func(io.Reader) io.Reader{"large": asItIs, "halves": iotest.HalfReader, "single": iotest.OneByteReader, "with its end": iotest.DataErrReader} {
		if wrong(right, as) {
			t.Errorf("%s pieces: the right body is wrong", name)
		}
	}
	for _, at := range []int{0, 1, 64<<10 - 1, 64 << 10, 100_000, size - 1} {
		body := bytes.Clone(right)
		body[at] ^= 1
		if !wrong(body, asItIs) || !wrong(body, iotest.HalfReader) {
			t.Errorf("byte %d was not seen", at)
		}
	}
}

// A body of the right size that is not the block is a failed request; of another path, or with another status, it is
// nobody's business.
func TestWrongBytesAreFailures(t *testing.T) {
	spoiled := func(status int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			body := bytes.Repeat(block, 4)[:200_000]
			body[100_000] ^= 1
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.WriteHeader(status)
			_, _ = w.Write(body)
		})
	}
	eachProtocol(t, func(t *testing.T, p protocol) {
		entry := func(path string) fields {
			return fields{"method": "GET", "path": path, "headers": []any{}, "body_bytes": 0, "body_file": nil, "status": 200, "think_ns": 0}
		}
		d := serveHandler(t, p, spoiled(200)).drive(t, fields{"users": 1, "requests": 3, "path": "/bytes/200000"})
		if d.count("error", "wrong-bytes") != 3 || d.count("status", "200") != 3 || d.count("bytes_down", "200000") != 3 {
			t.Errorf("%v", d.rows)
		}
		mix := fields{"kind": "mix", "method": absent, "path": absent, "upload_bytes": absent, "users": 1, "requests": 2, "order": []int{0, 1},
			"mix": []fields{entry("/other/200000"), entry("/bytes/200000")}}
		d = serveHandler(t, p, spoiled(200)).drive(t, mix)
		if len(d.rows) != 2 || d.count("error", "wrong-bytes") != 1 || d.count("error", "") != 1 {
			t.Errorf("%v", d.rows)
		}
		other := entry("/bytes/200000")
		other["status"] = 203
		mix["mix"], mix["order"] = []fields{other}, []int{0}
		d = serveHandler(t, p, spoiled(203)).drive(t, mix)
		if len(d.rows) != 2 || d.count("error", "") != 2 {
			t.Errorf("%v", d.rows)
		}
	})
}
