package probe

import (
	"context"
	"fmt"
	"time"
)

// inARow makes many requests on one connection, one after another, and once more where that failed: net/http gives a
// connection up whose goroutines a busy machine has held back, and a server's limit is there the second time too.
func (p *plan) inARow(ctx context.Context) (string, error) {
	err := p.inARowOnce(ctx)
	if err != nil {
		err = p.inARowOnce(ctx)
	}
	return "", err
}

func (p *plan) inARowOnce(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := p.dial(ctx, p.tls())
	if err != nil {
		return err
	}
	defer c.close()
	// Not a context for each request, whose end could be taken for the connection's.
	each := time.Duration(p.Timeout)
	late := time.AfterFunc(each, cancel)
	defer late.Stop()
	for n := range p.InARow {
		if err := download(1)(ctx, c); err != nil {
			return fmt.Errorf("after %d requests: %w", n, err)
		}
		late.Reset(each)
	}
	return nil
}

// inTurn asks for all other sizes on one connection, one after another.
func (p *plan) inTurn(one func(size int64) ask) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		c, err := p.dial(ctx, p.tls())
		if err != nil {
			return "", err
		}
		defer c.close()
		for _, size := range p.Others {
			if err := one(size)(ctx, c); err != nil {
				return "", fmt.Errorf("size %d: %w", size, err)
			}
		}
		return fmt.Sprint(p.Others), nil
	}
}

// askIdle makes a request, lets time pass, and makes another one on the same connection.
func (p *plan) askIdle(ctx context.Context) (string, error) {
	c, err := p.dial(ctx, p.tls())
	if err != nil {
		return "", err
	}
	defer c.close()
	if err := download(1)(ctx, c); err != nil {
		return "", err
	}
	select {
	case <-time.After(time.Duration(p.Idle)):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err := download(1)(ctx, c); err != nil {
		return "", fmt.Errorf("the request after the silence: %w", err)
	}
	return "", nil
}
