package peer

import (
	"math"
	"math/rand/v2"
)

// schedule is when the requests of an open loop are due, in nanoseconds from its beginning: as told, or at random.
func (w *workload) schedule() []int64 {
	if w.GapsNs == nil {
		return schedule(w.Seed, *w.Rate, w.Users*w.perUser())
	}
	due, at := make([]int64, len(w.GapsNs)), int64(0)
	for i, gap := range w.GapsNs {
		at += gap
		due[i] = at
	}
	return due
}

// schedule is when the requests of an open loop are due, in nanoseconds from its beginning: the first `count`
// arrivals of a Poisson process of `rate` a second. The same seed gives the same schedule on every machine.
func schedule(seed uint64, rate float64, count int) []int64 {
	random := rand.New(rand.NewPCG(seed, 0))
	due := make([]int64, count)
	seconds := 0.0
	for i := range due {
		seconds += random.ExpFloat64() / rate
		due[i] = int64(math.Round(seconds * 1e9))
	}
	return due
}
