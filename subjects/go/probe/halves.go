package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"h123.dev/subjects/go/peer"
)

const halfBytes = 100_000

// uploadInHalves lets an upload rest in its middle: a server that has answered by then has not read what it counts. An
// answer that comes too early, but later than that, passes for one in time: a busy machine makes nobody guilty.
func (p *plan) uploadInHalves(ctx context.Context) (string, error) {
	c, err := p.dial(ctx, p.tls())
	if err != nil {
		return "", err
	}
	defer c.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resting, rested := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() { ended <- uploadFrom(ctx, c, halves(ctx, resting, rested)) }()
	select {
	case <-resting:
	case err := <-ended:
		return "", tooEarly(err)
	}
	select {
	case <-time.After(time.Duration(p.Rest)):
	case err := <-ended:
		return "", tooEarly(err)
	}
	close(rested)
	return "", <-ended
}

// uploadFrom ends with the last byte that the answer announces: its stream may be kept open as long as the body comes.
func uploadFrom(ctx context.Context, on http.RoundTripper, body io.Reader) error {
	response, err := send(ctx, on, http.MethodPost, "/upload", body, 2*halfBytes, http.StatusOK)
	if err != nil {
		return err
	}
	// To close it now would wait for the body, which may be at rest.
	context.AfterFunc(ctx, func() { _ = response.Body.Close() })
	most := int64(100)
	if response.ContentLength >= 0 {
		most = min(most, response.ContentLength)
	}
	return counted(io.LimitReader(response.Body, most), 2*halfBytes)
}

// tooEarly is about an upload that ended before it had been sent.
func tooEarly(err error) error {
	if err != nil {
		return err
	}
	return errors.New("answered when half of it had been sent: the body is not read, and what is measured is no upload")
}

// halves is a body that says when its first half was taken, and goes on when it may.
func halves(ctx context.Context, resting chan<- struct{}, rested <-chan struct{}) io.Reader {
	var whole bytes.Buffer
	_, _ = io.Copy(&whole, peer.Body(2*halfBytes))
	first := io.LimitReader(&whole, halfBytes)
	return io.MultiReader(first, &waitingFor{func() error {
		close(resting)
		select {
		case <-rested:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}, &whole)
}

// waitingFor is a reader of nothing, which takes as long as its function.
type waitingFor struct{ wait func() error }

func (w *waitingFor) Read([]byte) (int, error) {
	if err := w.wait(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}
