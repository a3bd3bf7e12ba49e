package peer

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	_ "unsafe" // for go:linkname
)

// How h3 sends, where a study chooses it; for the whole process.

const (
	// mostPackets is more than any sensible initial window has.
	mostPackets = 1000
	// leastDatagram is what every QUIC must be able to send, mostDatagram what quic-go has buffers for.
	leastDatagram, mostDatagram = 1200, 1452
)

// initialWindow is the number of packets that quic-go's senders begin with: install.sh makes a variable of its
// constant. 0 where another build left it one.
//
//go:linkname initialWindow github.com/quic-go/quic-go/internal/congestion.initialCongestionWindow
var initialWindow int64

// unpaced has quic-go's senders send what their windows allow at once: install.sh adds it.
//
//go:linkname unpaced github.com/quic-go/quic-go/internal/congestion.unpaced
var unpaced bool

// maxDatagram is the payload of all large packets, without a search for another; 0: quic-go's own, and its search.
var maxDatagram uint16

func sendingFlags(flags *flag.FlagSet) {
	flags.Func("initial-window", "`packets` that h3 begins to send with; empty for quic-go's 32", setInitialWindow)
	flags.Func("pacing", "`off` for h3 to send all that its window allows at once; empty for quic-go's pacing", setPacing)
	flags.Func("max-datagram", "`bytes` of payload of h3's packets; empty for what quic-go finds the path to carry",
		setMaxDatagram)
}

func setInitialWindow(packets string) error {
	n, err := number(packets, 1, mostPackets)
	if n == 0 {
		return err
	}
	if initialWindow == 0 {
		return errors.New("it is a constant in this build: build with install.sh")
	}
	initialWindow = n
	return nil
}

func setPacing(pacing string) error {
	if pacing != "" && pacing != "off" {
		return errors.New("must be off, or empty")
	}
	if pacing == "off" && initialWindow == 0 {
		return errors.New("this build always paces: build with install.sh")
	}
	unpaced = pacing == "off"
	return nil
}

func setMaxDatagram(bytes string) error {
	n, err := number(bytes, leastDatagram, mostDatagram)
	maxDatagram = uint16(n)
	return err
}

// number reads one within limits; empty is 0.
func number(text string, least, most int64) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("must be a number from %d to %d", least, most)
	}
	return n, nil
}
