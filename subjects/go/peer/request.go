package peer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// requester turns samples that are due into requests: it fills in all that was measured.
type requester struct {
	template *http.Request
	upload   int64 // bytes of a request's body
	most     int64 // bytes that an answer's body can have
	timeout  time.Duration
}

// shortAnswer is more than an answer has that is no download: a count, or words about an error.
const shortAnswer = 64 << 10

// mostBytes is how many bytes an answer to the path can have.
func mostBytes(path string) int64 {
	if number, ok := strings.CutPrefix(path, "/bytes/"); ok {
		if count, err := strconv.ParseInt(number, 10, 64); err == nil {
			return max(count, shortAnswer)
		}
	}
	return shortAnswer
}

func newRequester(w *workload) (*requester, error) {
	target, err := url.Parse("https://" + w.Host + w.Path)
	if err != nil {
		return nil, err
	}
	return &requester{
		template: &http.Request{
			Method: w.Method, URL: target, Host: w.Host,
			// The libraries would name themselves, each in its own number of bytes.
			Header: http.Header{"User-Agent": {"h123"}},
		},
		upload:  w.UploadBytes,
		most:    mostBytes(w.Path),
		timeout: time.Duration(w.TimeoutNs),
	}, nil
}

// marks is what a request's trace saw. Its hooks run on the libraries' goroutines, some after the request's end.
type marks struct{ sent, firstByte atomic.Int64 }

func (m *marks) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(written httptrace.WroteRequestInfo) {
			if written.Err == nil {
				m.sent.CompareAndSwap(0, now())
			}
		},
		GotFirstResponseByte: func() { m.firstByte.CompareAndSwap(0, now()) },
	})
}

// body is the body of an upload: the block, repeated. It counts what the library has taken.
type body struct {
	left  int64
	taken atomic.Int64
}

func (b *body) Read(into []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n := copy(into[:min(int64(len(into)), b.left)], block[b.taken.Load()%int64(len(block)):])
	b.left -= int64(n)
	b.taken.Add(int64(n))
	return n, nil
}

func (b *body) Close() error { return nil }

// perform makes the request of a sample on a connection it takes and completes the sample. A request that fails is
// not made again: its error is the sample's. The time allowed counts from the sample's start.
func (r *requester) perform(ctx context.Context, take take, s *sample, buffer []byte) {
	left := r.timeout - time.Duration(now()-s.start)
	ctx, cancel := context.WithTimeoutCause(ctx, left, errTimeout)
	defer cancel()
	err := r.attempt(ctx, take, s, buffer)
	if err != nil && neverSent(err) && ctx.Err() == nil {
		// The connection was being closed in good order, by a server that limits its requests for example. This
		// request is yet to be sent, so it goes to a new connection, which its time and its row include.
		err = r.attempt(ctx, take, s, buffer)
	}
	s.end = now()
	if err == nil {
		err = context.Cause(ctx) // net/http lets an answer pass that arrives while it gives the request up
	}
	if err != nil {
		s.failure = classify(ctx, err)
	}
}

func (r *requester) attempt(ctx context.Context, take take, s *sample, buffer []byte) error {
	s.connection, s.protocol = noConnection, ""
	c, leave, err := take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s.connection = c.index
	s.protocol = c.protocol
	s.reused = c.requests.Add(1) > 1
	if s.phase == cold {
		s.connected = c.ready
	}
	seen := &marks{}
	request := r.template.WithContext(seen.trace(ctx))
	var sending body
	if r.upload > 0 {
		sending.left = r.upload
		request.Body = &sending
		request.ContentLength = r.upload
	}
	response, err := c.RoundTrip(request)
	closing := err != nil && (c.protocol == h1 || neverSent(err))
	if err == nil {
		err = s.read(response, r.most, buffer)
		closing = response.Close || (c.protocol == h1 && err != nil)
	}
	if closing {
		c.retired.Store(true) // the connection itself may notice later, when the next request is on it
	}
	s.up = sending.taken.Load()
	s.firstByte = seen.firstByte.Load()
	s.sent = seen.sent.Load()
	if r.upload == 0 && s.firstByte != 0 && (s.sent == 0 || s.sent > s.firstByte) {
		// The hook for the request written ran late, after its answer had come, which bounds that time.
		s.sent = s.firstByte
	}
	return err
}

// read reads a response to its end, or to where its body has more than the most bytes it can have.
func (s *sample) read(response *http.Response, most int64, buffer []byte) error {
	defer response.Body.Close()
	s.status = response.StatusCode
	s.protocol = protocols[response.ProtoMajor]
	if s.status == http.StatusSwitchingProtocols {
		// Behind it net/http reads whatever comes, for however long.
		return fmt.Errorf("%w: status %d", errProtocol, s.status)
	}
	var err error
	if s.down, err = discard(io.LimitReader(response.Body, most+1), buffer); err != nil {
		return err
	}
	if s.down > most {
		return fmt.Errorf("%w: more than %d bytes", errProtocol, most)
	}
	if length := response.ContentLength; length >= 0 && s.down != length {
		return fmt.Errorf("%w: %d bytes of %d", errProtocol, s.down, length)
	}
	if s.status < 200 || s.status > 299 {
		return fmt.Errorf("status %d", s.status)
	}
	return nil
}
