package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"h123.dev/subjects/go/peer"
)

const crowdBytes = 1000 // of an upload

// downloadsAtOnce makes many downloads, over HTTP/2 and HTTP/3 on one connection, of which none is read before all are
// answered: its window lets none of them end earlier. A server that sends its answers in turn is only asked together.
func (p *plan) downloadsAtOnce(ctx context.Context) (string, error) {
	if p.InTurn {
		return "each read at once: declared as sent in turn", p.askTogether(ctx, download(p.crowdSize()))
	}
	return "", p.crowd(ctx, func(all *gathering) ask { return getWhen(http.MethodGet, p.crowdSize(), all.join) })
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
	return "", p.crowd(ctx, func(all *gathering) ask {
		return uploadOf(crowdBytes, func() io.Reader { return all.body(ctx) })
	})
}

// crowd makes the same request many times together; it waits for all to have begun, as long as some still do.
func (p *plan) crowd(ctx context.Context, one func(all *gathering) ask) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	all := &gathering{came: make(chan struct{}, 1), full: make(chan struct{})}
	all.left.Store(int64(p.AtOnce))
	go all.expect(ctx, giveUp)
	err := p.askTogether(ctx, one(all))
	if left := all.left.Load(); left > 0 {
		return fmt.Errorf("only %d of %d had begun: %w", int64(p.AtOnce)-left, p.AtOnce, err)
	}
	return err
}

func (p *plan) askTogether(ctx context.Context, one ask) error {
	connections := 1
	if p.Protocol == "h1" {
		connections = p.AtOnce
	}
	window := crowdWindow
	if p.InTurn {
		window = streamWindow // a stream that waits for its reader would hold up the others
	}
	var on []*connection
	defer func() {
		for _, c := range on {
			c.close()
		}
	}()
	for range connections {
		c, err := p.dialWindow(ctx, p.tls(), window)
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

// gathering is full when so many requests have begun.
type gathering struct {
	left atomic.Int64
	came chan struct{}
	full chan struct{}
}

// expect gives up when nobody has come for a while, once somebody has.
func (g *gathering) expect(ctx context.Context, giveUp context.CancelCauseFunc) {
	var late <-chan time.Time
	for {
		select {
		case <-g.came:
			late = time.After(noMore)
		case <-late:
			giveUp(fmt.Errorf("no other in %v", noMore))
			return
		case <-g.full:
			return
		case <-ctx.Done():
			return
		}
	}
}

// join counts one that has begun, and waits for the others.
func (g *gathering) join(ctx context.Context) error {
	select {
	case g.came <- struct{}{}:
	default: // one that is not yet heeded will do
	}
	if g.left.Add(-1) == 0 {
		close(g.full)
	}
	select {
	case <-g.full:
		return nil
	case <-ctx.Done():
		return errors.New("not all requests could begin")
	}
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
		if err := w.all.join(w.ctx); err != nil {
			return 0, err
		}
	}
	return w.Reader.Read(into)
}
