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
				if n > 0 && l.PauseNs != nil {
					rest(ctx, time.Duration(*l.PauseNs))
				}
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

// newSeats is as many places for connections as a visit has to each host.
func (l *load) newSeats() []*seat {
	var seats []*seat
	for host := range l.hosts() {
		for range l.Connections.number {
			seats = append(seats, newSeat(l.dialer, host))
		}
	}
	return seats
}

// hosts are those of the page's resources; the workload's is empty.
func (l *load) hosts() map[string]bool {
	found := map[string]bool{}
	for _, r := range l.Page {
		found[r.Host] = true
	}
	return found
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
// free place on a connection to its host, the most urgent one first, and of those the one that was asked for first.
type visit struct {
	load    *load
	user, n int
	asks    [][]int // of each resource, those that it asks for
	group   string

	mutex   sync.Mutex
	places  map[string][]*seat // free ones of each host; the last is taken first, so that an open connection goes before a new one
	waiting []*sample
	left    sync.WaitGroup // resources that have not ended
}

func newVisit(l *load, user, n int, seats []*seat) *visit {
	v := &visit{load: l, user: user, n: n, group: strconv.Itoa(n), asks: make([][]int, len(l.Page)), places: map[string][]*seat{}}
	for i, r := range l.Page {
		if r.Initiator != nil {
			v.asks[*r.Initiator] = append(v.asks[*r.Initiator], i)
		}
	}
	for _, s := range slices.Backward(seats) {
		for range l.AtOnce {
			v.free(s)
		}
	}
	return v
}

// free gives a place back.
func (v *visit) free(place *seat) { v.places[place.host] = append(v.places[place.host], place) }

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
	v.waiting = slices.DeleteFunc(v.waiting, func(s *sample) bool {
		host := v.load.Page[s.resource].Host
		last := len(v.places[host]) - 1
		if last < 0 {
			return false
		}
		go v.fetch(ctx, s, v.places[host][last])
		v.places[host] = v.places[host][:last]
		return true
	})
}

// fetch makes a request, and then what follows from it.
func (v *visit) fetch(ctx context.Context, s *sample, place *seat) {
	defer v.left.Done()
	v.load.perform(ctx, place.take, s)
	v.mutex.Lock()
	v.free(place)
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
