package peer

import "testing"

// What a timer of CLOCK_MONOTONIC wakes must not be told that it is not yet time.
func TestNowIsNeverBehindTheClock(t *testing.T) {
	t.Parallel()
	for range 10_000 {
		clock := monotonic()
		if told := now(); told < clock {
			t.Fatalf("%d ns behind", clock-told)
		}
	}
}
