package main

import "testing"

func TestReusedNamesAreAsManyAsUploadsAtOneTime(t *testing.T) {
	n := newNames(true)
	first, second := n.take(), n.take()
	if first == second {
		t.Fatalf("%s twice at one time", first)
	}
	n.giveBack(second)
	if got := n.take(); got != second {
		t.Errorf("%s, want %s again", got, second)
	}
	own := newNames(false)
	first = own.take()
	own.giveBack(first)
	if own.take() == first {
		t.Errorf("%s again, though names are not reused", first)
	}
}
