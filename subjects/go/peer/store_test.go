package peer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// shelf is a store in a map, whose backend can be down.
type shelf struct {
	lock    sync.Mutex
	objects map[int64][]byte
	down    bool
}

var errDown = errors.New("down")

func (s *shelf) Upload(_ context.Context, body io.Reader) (int64, error) {
	data, err := io.ReadAll(body)
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.down {
		return 0, errDown
	}
	s.objects[int64(len(data))] = data
	return int64(len(data)), err
}

func (s *shelf) Download(_ context.Context, count int64) (io.ReadCloser, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	data, there := s.objects[count]
	if s.down {
		return nil, errDown
	}
	if !there {
		return nil, ErrNoObject
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func answer(handler http.Handler, method, path string, body io.Reader) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(method, path, body))
	return recorder
}

func TestStoresAndServesObjects(t *testing.T) {
	store := &shelf{objects: map[int64][]byte{}}
	handler := routes(store, "")
	const size = 150_001
	if got := answer(handler, "POST", "/upload", Body(size)); got.Code != 200 || got.Body.String() != "150001" {
		t.Fatalf("upload: %d %s", got.Code, got.Body)
	}
	got := answer(handler, "GET", "/bytes/150001", nil)
	want := bytes.Repeat(block, 3)[:size]
	if got.Code != 200 || got.Header().Get("Content-Length") != "150001" || !bytes.Equal(got.Body.Bytes(), want) {
		t.Errorf("download: %d, %d bytes", got.Code, got.Body.Len())
	}
	for path, status := range map[string]int{"/bytes/7": 404, "/bytes/x": 400, "/health": 200} {
		if got := answer(handler, "GET", path, nil); got.Code != status {
			t.Errorf("GET %s: %d, want %d", path, got.Code, status)
		}
	}
}

func TestStorageThatFailsIsABadGateway(t *testing.T) {
	handler := routes(&shelf{down: true}, "")
	for _, got := range []*httptest.ResponseRecorder{
		answer(handler, "POST", "/upload", strings.NewReader("x")), answer(handler, "GET", "/bytes/1", nil),
	} {
		if got.Code != http.StatusBadGateway || !strings.Contains(got.Body.String(), "down") {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
}
