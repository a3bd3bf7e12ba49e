package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"h123.dev/subjects/go/peer"
)

const crowdBytes = 1000

// downloadsAtOnce makes many downloads under way together: over HTTP/2 and HTTP/3 on one connection.
func (p *plan) downloadsAtOnce(ctx context.Context) (string, error) {
	return "", p.crowd(ctx, download(p.crowdSize()))
}

// crowdSize is the size of the downloads: the largest of the plan below a megabyte.
func (p *plan) crowdSize() int64 {
	size := p.Sizes[0]
	for _, other := range p.Sizes {
		if other > size && other < 1_000_000 {
			size = other
		}
	}
	return size
}

// uploadsAtOnce makes as many uploads of which none ends before all have begun: a server that takes fewer at one time
// never gets to the end.
func (p *plan) uploadsAtOnce(ctx context.Context) (string, error) {
	all := &gathering{left: int64(p.AtOnce), full: make(chan struct{})}
	err := p.crowd(ctx, uploadOf(crowdBytes, func() io.Reader { return all.body(ctx) }))
	if left := atomic.LoadInt64(&all.left); left > 0 {
		return "", fmt.Errorf("only %d of %d had begun: %w", int64(p.AtOnce)-left, p.AtOnce, err)
	}
	return "", err
}

// crowd makes the same request many times together.
func (p *plan) crowd(ctx context.Context, one ask) error {
	connections := 1
	if p.Protocol == "h1" {
		connections = p.AtOnce
	}
	var on []*connection
	defer func() {
		for _, c := range on {
			c.close()
		}
	}()
	for range connections {
		c, err := p.dial(ctx, p.tls())
		if err != nil {
			return fmt.Errorf("connection %d: %w", len(on)+1, err)
		}
		on = append(on, c)
		if p.Protocol == "h2" {
			// Its answer comes after the settings, which say how many streams there may be.
			if err := health(ctx, c); err != nil {
				return err
			}
		}
	}
	return together(ctx, p.AtOnce, func(ctx context.Context, i int) error { return one(ctx, on[i%connections]) })
}

// together runs a step so many times at once; the first error ends all.
func together(ctx context.Context, count int, step func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var steps sync.WaitGroup
	for i := range count {
		steps.Go(func() {
			if err := step(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	steps.Wait()
	return context.Cause(ctx)
}

// gathering is full when so many bodies have been begun.
type gathering struct {
	left int64
	full chan struct{}
}

// body is one that goes on when the gathering is full.
func (g *gathering) body(ctx context.Context) io.Reader {
	return &waiting{Reader: peer.Body(crowdBytes), all: g, ctx: ctx}
}

type waiting struct {
	io.Reader
	all   *gathering
	begun bool
	ctx   context.Context
}

func (w *waiting) Read(into []byte) (int, error) {
	if !w.begun {
		w.begun = true
		if atomic.AddInt64(&w.all.left, -1) == 0 {
			close(w.all.full)
		}
	}
	select {
	case <-w.all.full:
		return w.Reader.Read(into)
	case <-w.ctx.Done():
		return 0, errors.New("not all requests could begin")
	}
}

// inARow makes many requests on one connection, one after another.
func (p *plan) inARow(ctx context.Context) (string, error) {
	c, err := p.dial(ctx, p.tls())
	if err != nil {
		return "", err
	}
	defer c.close()
	for n := range p.InARow {
		if err := download(1)(ctx, c); err != nil {
			return "", fmt.Errorf("after %d requests: %w", n, err)
		}
	}
	return "", nil
}
