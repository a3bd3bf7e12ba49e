package peer

import "context"

// take gets a connection for one request, dialling if need be, and waits for it no longer than ctx lasts. The
// caller calls leave when the request has ended.
type take func(ctx context.Context) (c *connection, leave func(), err error)

// seat is a place for one connection of the workload's number: empty at first and after its connection died.
type seat struct {
	dialer  *dialer
	host    string        // that it is to; empty: the workload's
	turn    chan struct{} // holds a token while nobody sits: for a dial; with HTTP/1.1 for a whole request
	current *connection   // guarded by turn
}

func newSeat(d *dialer, host string) *seat {
	s := &seat{dialer: d, host: host, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// take gives the seat's connection.
func (s *seat) take(ctx context.Context) (c *connection, leave func(), err error) {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	rise := func() { s.turn <- struct{}{} }
	if s.current == nil || !s.current.usable() {
		s.current, err = s.dialer.dial(ctx, s.host)
		if err != nil {
			s.current = nil
			rise()
			return nil, nil, err
		}
	}
	c = s.current
	if c.protocol == h1 {
		return c, rise, nil
	}
	rise()
	return c, func() {}, nil
}

// pool gives whichever of its seats is free, or the first to become free.
type pool chan *seat

func newPool(seats []*seat) pool {
	free := make(pool, len(seats))
	for _, seat := range seats {
		free <- seat
	}
	return free
}

func (p pool) take(ctx context.Context) (c *connection, leave func(), err error) {
	var free *seat
	select {
	case free = <-p:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	c, rise, err := free.take(ctx)
	if err != nil {
		p <- free
		return nil, nil, err
	}
	return c, func() { rise(); p <- free }, nil
}
