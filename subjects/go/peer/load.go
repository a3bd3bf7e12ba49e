package peer

import (
	"context"
	"sync"
	"time"
)

// load carries a workload out.
type load struct {
	*workload
	requester *requester
	seats     []*seat
	journal   *journal
	dialer    *dialer
}

func newLoad(w *workload, d *dialer) (*load, error) {
	requester, err := newRequester(w)
	if err != nil {
		return nil, err
	}
	kept := &journal{retried: w.Retries > 0}
	l := &load{workload: w, requester: requester, journal: kept, dialer: d, seats: make([]*seat, w.count())}
	for i := range l.seats {
		l.seats[i] = newSeat(d, "")
	}
	return l, nil
}

// run makes all requests, or as many as it can until ctx ends.
func (l *load) run(ctx context.Context) error {
	if l.Sessions != "" {
		if err := l.earn(ctx); err != nil {
			return err
		}
	}
	if l.Kind == kindPage {
		l.visits(ctx)
		return nil
	}
	if l.Cold {
		l.coldRequests(ctx)
	}
	if l.Rate != nil || l.GapsNs != nil {
		return l.openLoop(ctx)
	}
	l.closedLoop(ctx)
	return nil
}

// request makes a user's nth request, due at start (the time of now).
func (l *load) request(ctx context.Context, take take, user, n int, start int64) {
	l.perform(ctx, take, &sample{
		phase: l.phaseOf(user, n), user: user, start: start, resource: l.resource(user, n), number: l.number(user, n),
	})
}

func (l *load) perform(ctx context.Context, take take, s *sample) {
	buffer := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	l.requester.perform(ctx, take, s, buffer[:])
	l.journal.add(s)
}

// coldRequests makes one request on each connection, one after another; each counts for the connection's
// first user. Connections beyond the number of users serve nothing else in a closed loop.
func (l *load) coldRequests(ctx context.Context) {
	for i, seat := range l.seats {
		if ctx.Err() != nil {
			return
		}
		l.perform(ctx, seat.take, &sample{phase: cold, user: i % l.Users, start: now(), number: l.number(l.Users, i)})
	}
}

// phaseOf is the phase of a user's nth request.
func (l *load) phaseOf(user, n int) phase {
	switch {
	case n < l.Warmup:
		return warmup
	case l.leaves(l.number(user, n)):
		return leaving
	}
	return warm
}

// closedLoop has all users start together, each making its next request when its last has ended.
func (l *load) closedLoop(ctx context.Context) {
	var users sync.WaitGroup
	gate := make(chan struct{})
	for user := range l.Users {
		users.Go(func() {
			take := l.seats[user%len(l.seats)].take
			<-gate
			for n := range l.perUser() {
				if ctx.Err() != nil {
					return
				}
				l.think(ctx, user, n)
				l.request(ctx, take, user, n, now())
			}
		})
	}
	close(gate)
	users.Wait()
}

// think waits as long as a user does before its nth request.
func (l *load) think(ctx context.Context, user, n int) {
	rest(ctx, time.Duration(l.requester.asked[l.resource(user, n)].ThinkNs))
}

// openLoop starts each request when the schedule says, whether or not earlier ones have ended.
func (l *load) openLoop(ctx context.Context) error {
	alarm, err := newAlarm()
	if err != nil {
		return err
	}
	defer alarm.close()
	var requests sync.WaitGroup
	defer requests.Wait()
	deal := l.dealer()
	begin := now()
	for i, offset := range l.schedule() {
		due := begin + offset
		if err := alarm.wait(ctx, due); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		requests.Go(func() {
			l.request(ctx, deal(i), i%l.Users, i/l.Users, due)
		})
	}
	return nil
}

// dealer deals the connections to the requests of an open loop: as told, or else HTTP/2 and HTTP/3 requests take them
// in turn; an HTTP/1.1 request takes one that is free, as from any client's pool: in turn, it could wait behind a slow
// one while others are free.
func (l *load) dealer() func(i int) take {
	if l.DealtTo != nil {
		return func(i int) take { return l.seats[l.DealtTo[i]].take }
	}
	if l.Protocol == h1 {
		free := newPool(l.seats)
		return func(int) take { return free.take }
	}
	return func(i int) take { return l.seats[i%len(l.seats)].take }
}
