package peer

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
)

// notAsked is the error of a resource whose initiator failed, so that nobody ever asked for it.
const notAsked = "other: not asked for, because what asks for it failed"

// visits has all users start together, each visiting the page again and again. A visit has connections of its own, or,
// where nothing is to be cold, its user's visits share them.
func (l *load) visits(ctx context.Context) {
	var users sync.WaitGroup
	gate := make(chan struct{})
	for user := range l.Users {
		users.Go(func() {
			<-gate
			seats := l.newSeats()
			for n := range l.perUser() {
				if ctx.Err() != nil {
					return
				}
				newVisit(l, user, n, seats).run(ctx)
				if l.Cold {
					leave(seats)
					seats = l.newSeats()
				}
			}
		})
	}
	close(gate)
	users.Wait()
}

// newSeats is as many places for connections as a visit has.
func (l *load) newSeats() []*seat {
	seats := make([]*seat, l.Connections.number)
	for i := range seats {
		seats[i] = newSeat(l.dialer)
	}
	return seats
}

// leave closes the connections of a visit that is over.
func leave(seats []*seat) {
	for _, s := range seats {
		if s.current != nil {
			s.current.close()
		}
	}
}

// visit loads a page once. A resource is asked for as soon as its initiator has come whole and run; it then waits for a
// free place on a connection, the most urgent one first, and of those the one that was asked for first.
type visit struct {
	load    *load
	user, n int
	asks    [][]int // of each resource, those that it asks for
	group   string

	mutex   sync.Mutex
	places  []*seat // free ones; the last is taken first, so that an open connection goes before a new one
	waiting []*sample
	left    sync.WaitGroup // resources that have not ended
}

func newVisit(l *load, user, n int, seats []*seat) *visit {
	v := &visit{load: l, user: user, n: n, group: strconv.Itoa(n), asks: make([][]int, len(l.Page))}
	for i, r := range l.Page {
		if r.Initiator != nil {
			v.asks[*r.Initiator] = append(v.asks[*r.Initiator], i)
		}
	}
	for _, s := range slices.Backward(seats) {
		for range l.AtOnce {
			v.places = append(v.places, s)
		}
	}
	return v
}

// run is back when every resource has ended.
func (v *visit) run(ctx context.Context) {
	v.left.Add(len(v.load.Page))
	v.ask(ctx, []int{0})
	v.left.Wait()
}

func (v *visit) sample(resource int) *sample {
	return &sample{
		phase: v.load.phaseOf(v.user, v.n), user: v.user, start: now(), resource: resource, group: v.group,
		number: v.load.number(v.user, v.n)*len(v.load.Page) + resource,
	}
}

// ask makes resources due, in their order.
func (v *visit) ask(ctx context.Context, resources []int) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	for _, resource := range resources {
		v.waiting = append(v.waiting, v.sample(resource))
	}
	slices.SortStableFunc(v.waiting, func(a, b *sample) int {
		return cmp.Compare(v.load.Page[a.resource].Urgency, v.load.Page[b.resource].Urgency)
	})
	v.deal(ctx)
}

// deal gives free places to those that wait. The caller holds the mutex.
func (v *visit) deal(ctx context.Context) {
	for len(v.waiting) > 0 && len(v.places) > 0 {
		last := len(v.places) - 1
		s, place := v.waiting[0], v.places[last]
		v.waiting, v.places = v.waiting[1:], v.places[:last]
		go v.fetch(ctx, s, place)
	}
}

// fetch makes a request, and then what follows from it.
func (v *visit) fetch(ctx context.Context, s *sample, place *seat) {
	defer v.left.Done()
	v.load.perform(ctx, place.take, s)
	v.mutex.Lock()
	v.places = append(v.places, place)
	v.deal(ctx)
	v.mutex.Unlock()
	if s.failure != "" {
		v.giveUp(v.asks[s.resource])
		return
	}
	if len(v.asks[s.resource]) > 0 {
		rest(ctx, time.Duration(v.load.Page[s.resource].RunNs))
		v.ask(ctx, v.asks[s.resource])
	}
}

// giveUp ends resources that nobody will ask for, and all that they would have asked for.
func (v *visit) giveUp(resources []int) {
	for _, resource := range resources {
		s := v.sample(resource)
		s.end, s.connection, s.failure = s.start, noConnection, notAsked
		v.load.journal.add(s)
		v.giveUp(v.asks[resource])
		v.left.Done()
	}
}

// rest waits, but not beyond ctx.
func rest(ctx context.Context, pause time.Duration) {
	if pause == 0 {
		return
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
