package peer

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	_ "unsafe" // for go:linkname
)

// mostPackets is more than any sensible initial window has.
const mostPackets = 1000

// initialWindow is the number of packets that quic-go's senders begin with: install.sh makes a variable of its
// constant. 0 where another build left it one.
//
//go:linkname initialWindow github.com/quic-go/quic-go/internal/congestion.initialCongestionWindow
var initialWindow int64

// windowFlag is the flag that sets it, for the whole process.
func windowFlag(flags *flag.FlagSet) {
	flags.Func("initial-window", "`packets` that h3 begins to send with; empty for quic-go's 32", setInitialWindow)
}

func setInitialWindow(packets string) error {
	if packets == "" {
		return nil
	}
	n, err := strconv.ParseInt(packets, 10, 64)
	if err != nil || n < 1 || n > mostPackets {
		return fmt.Errorf("must be a number from 1 to %d", mostPackets)
	}
	if initialWindow == 0 {
		return errors.New("it is a constant in this build: build with install.sh")
	}
	initialWindow = n
	return nil
}
