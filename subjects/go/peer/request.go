package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// requester turns samples that are due into requests: it fills in all that was measured.
type requester struct {
	asked     []asked
	timeout   time.Duration
	abandonNs int64        // that users stay who leave
	retryNs   int64        // from when a request is made until it is made again
	retries   int          // so often at most
	moved     atomic.Int64 // how often one was made again because the server had not taken it
}

// asked is a request that is made again and again.
type asked struct {
	entry
	template *http.Request
	content  []byte // of its body
	changing []named
	most     int64 // bytes that an answer's body can have
	compared bool  // whether the body of an answer is the block, repeated
}

// shortAnswer is more than an answer has that is no download: a count, or words about an error.
const shortAnswer = 64 << 10

// longAnswer is more than any answer has whose length nobody knows before.
const longAnswer = 1 << 40

// numberDigits is how many characters at the end of a header that changes are the request's number.
const numberDigits = 12

// blockBytes is the n of the path /bytes/<n>, which alone is answered by the block, repeated.
func blockBytes(path string) (count int64, ok bool) {
	digits, ok := strings.CutPrefix(path, "/bytes/")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	return int64(n), err == nil
}

func newRequester(w *workload) (*requester, error) {
	r := &requester{timeout: time.Duration(w.TimeoutNs), abandonNs: w.AbandonNs, retryNs: w.RetryNs, retries: w.Retries}
	for _, e := range w.entries() {
		a, err := newAsked(w, e)
		if err != nil {
			return nil, err
		}
		r.asked = append(r.asked, a)
	}
	return r, nil
}

// notes says for client.json what the rows do not.
func (r *requester) notes() []string {
	moved := r.moved.Load()
	if moved == 0 {
		return nil
	}
	return []string{fmt.Sprintf("requests that the server had not taken were made again %d times", moved)}
}

func newAsked(w *workload, e entry) (asked, error) {
	host := cmp.Or(e.host, w.authority())
	target, err := url.Parse("https://" + host + e.Path)
	if err != nil {
		return asked{}, fmt.Errorf("path: %w", err)
	}
	count, ok := blockBytes(e.Path)
	if w.foreign() {
		count, ok = 0, false
	}
	a := asked{entry: e, content: block, most: max(count, shortAnswer), compared: ok && e.Method == http.MethodGet}
	if (w.Kind != kindRequests || w.foreign()) && a.most == shortAnswer {
		a.most = longAnswer // a service's own, or a page's real documents
	}
	if e.BodyFile != nil {
		if a.content, err = os.ReadFile(*e.BodyFile); err != nil {
			return asked{}, fmt.Errorf("body_file: %w", err)
		}
		if int64(len(a.content)) != e.BodyBytes {
			return asked{}, fmt.Errorf("body_file: %s has %d bytes, not %d", *e.BodyFile, len(a.content), e.BodyBytes)
		}
	}
	// The libraries would name themselves, each in its own number of bytes.
	headers := http.Header{"User-Agent": {"h123"}}
	for _, h := range e.Headers {
		headers.Set(h.Name, h.Value)
		if h.Changes {
			a.changing = append(a.changing, h)
		}
	}
	a.template = &http.Request{Method: e.Method, URL: target, Host: host, Header: headers}
	return a, nil
}

// request is the one with this number.
func (a *asked) request(ctx context.Context, number int) *http.Request {
	request := a.template.WithContext(ctx)
	if len(a.changing) > 0 {
		request.Header = a.template.Header.Clone()
		for _, h := range a.changing {
			kept := h.Value[:len(h.Value)-numberDigits]
			request.Header.Set(h.Name, fmt.Sprintf("%s%0*d", kept, numberDigits, number))
		}
	}
	return request
}

// answered says why a status is none that the request may be answered with.
func (a *asked) answered(status int) error {
	if status == a.Status || a.Status == 0 && status >= 200 && status <= 299 {
		return nil
	}
	return fmt.Errorf("%w %d", errStatus, status)
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

// body is the body of an upload: its content, repeated. It counts what the library has taken.
type body struct {
	content []byte
	left    int64
	taken   atomic.Int64
}

func (b *body) Read(into []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n := copy(into[:min(int64(len(into)), b.left)], b.content[b.taken.Load()%int64(len(b.content)):])
	b.left -= int64(n)
	b.taken.Add(int64(n))
	return n, nil
}

func (b *body) Close() error { return nil }

// perform makes the request of a sample on a connection it takes and completes the sample. The time allowed counts from
// the sample's start. A request that fails is not made again unless the workload says so: its error is the sample's.
func (r *requester) perform(ctx context.Context, take take, s *sample, buffer []byte) {
	left := r.timeout - time.Duration(now()-s.start)
	ctx, cancel := context.WithTimeoutCause(ctx, left, errTimeout)
	defer cancel()
	if s.phase == leaving {
		var stay func()
		ctx, stay = until(ctx, s.start+r.abandonNs, errAbandoned)
		defer stay()
	}
	if err := r.makeUntilAnswered(ctx, take, s, buffer); err != nil {
		s.failure = classify(ctx, err)
	}
}

// until is a context that ends at a time, for this reason, unless the caller calls stay before. It has no deadline, which
// a dialer would take for a timeout.
func until(ctx context.Context, at int64, why error) (ends context.Context, stay func()) {
	ends, end := context.WithCancelCause(ctx)
	alarm := time.AfterFunc(time.Duration(at-now()), func() { end(why) })
	return ends, func() {
		alarm.Stop()
		end(nil)
	}
}

// makeUntilAnswered makes the request as often as it is to be made. When that is counts from the sample's start, so that
// no lateness adds up.
func (r *requester) makeUntilAnswered(ctx context.Context, take take, s *sample, buffer []byte) error {
	for s.tries = 1; s.phase != cold && s.tries <= r.retries; s.tries++ {
		err := r.makeUntil(ctx, s.start+int64(s.tries)*r.retryNs, take, s, buffer)
		if !errors.Is(err, errAgain) {
			return err
		}
	}
	return r.make(ctx, take, s, buffer)
}

// makeUntil makes the request once. If it is to be made again, the error is errAgain, and it is time for that: a request
// that failed waits until then, or it would storm a server that refuses it.
func (r *requester) makeUntil(ctx context.Context, again int64, take take, s *sample, buffer []byte) error {
	ctx, stay := until(ctx, again, errAgain)
	defer stay()
	err := r.make(ctx, take, s, buffer)
	if err == nil || ctx.Err() == nil && !transient(ctx, err) {
		return err
	}
	<-ctx.Done()
	s.end = now()
	return context.Cause(ctx)
}

// mostMoves is how often a request is made again that servers do not take: as if they took one for each connection.
const mostMoves = 100

// make makes the request once. A server that limits a connection's requests, or is about to stop, ends it in good order.
// A request that it has not taken goes to a new connection, which its time and its row include.
func (r *requester) make(ctx context.Context, take take, s *sample, buffer []byte) error {
	err := r.attempt(ctx, take, s, buffer)
	for n := 0; err != nil && n < mostMoves && ctx.Err() == nil && isUntaken(err); n++ {
		r.moved.Add(1)
		err = r.attempt(ctx, take, s, buffer)
	}
	s.end = now()
	if err == nil {
		err = context.Cause(ctx) // net/http lets an answer pass that arrives while it gives the request up
	}
	return err
}

func (r *requester) attempt(ctx context.Context, take take, s *sample, buffer []byte) error {
	s.begin()
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
	seen, asked := &marks{}, &r.asked[s.resource]
	request := asked.request(seen.trace(ctx), s.number)
	sending := body{content: asked.content, left: asked.BodyBytes}
	if asked.BodyBytes > 0 {
		request.Body = &sending
		request.ContentLength = asked.BodyBytes
	}
	response, err := c.exchange(request, s.reused)
	closing := err != nil && (c.protocol == h1 || isLeft(err))
	if err == nil {
		err = s.read(response, asked, buffer)
		closing = response.Close || (c.protocol == h1 && err != nil)
	}
	if closing {
		c.retired.Store(true) // the connection itself may notice later, when the next request is on it
	}
	s.up = sending.taken.Load()
	s.firstByte = seen.firstByte.Load()
	s.sent = seen.sent.Load()
	if asked.BodyBytes == 0 && s.firstByte != 0 && (s.sent == 0 || s.sent > s.firstByte) {
		// The hook for the request written ran late, after its answer had come, which bounds that time.
		s.sent = s.firstByte
	}
	return err
}

// read reads a response to its end, or to where its body has more than the most bytes it can have.
func (s *sample) read(response *http.Response, asked *asked, buffer []byte) error {
	defer response.Body.Close()
	s.status = response.StatusCode
	s.protocol = protocols[response.ProtoMajor]
	if s.status == http.StatusSwitchingProtocols {
		// Behind it net/http reads whatever comes, for however long.
		return fmt.Errorf("%w: status %d", errProtocol, s.status)
	}
	body := io.LimitReader(response.Body, asked.most+1)
	held := &comparison{body: body}
	if asked.compared && s.status == http.StatusOK {
		body = held
	}
	var err error
	if s.down, err = discard(body, buffer); err != nil {
		return err
	}
	if s.down > asked.most {
		return fmt.Errorf("%w: more than %d bytes", errProtocol, asked.most)
	}
	if length := response.ContentLength; length >= 0 && s.down != length {
		return fmt.Errorf("%w: %d bytes of %d", errProtocol, s.down, length)
	}
	if held.wrong {
		return errWrongBytes
	}
	return asked.answered(s.status)
}
