package peer

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// drive is the command `drive`.
func drive(arguments []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("drive", flag.ContinueOnError)
	from := flags.String("workload", "", "what to do, JSON `file`")
	samplesPath := flags.String("samples", "", "where to write a row for every request, CSV `file`")
	factsPath := flags.String("facts", "", "where to write what the connections were like, JSON `file`")
	sendingFlags(flags)
	if err := parse(flags, arguments, stderr); err != nil {
		return err
	}
	w, err := readWorkload(*from)
	if err != nil {
		return err
	}
	d, err := newDialer(w)
	if err != nil {
		return failure{exitBadInput, fmt.Errorf("%s: ca: %w", *from, err)}
	}
	l, err := newLoad(w, d)
	if err != nil {
		return failure{exitBadInput, fmt.Errorf("%s: %w", *from, err)}
	}
	// Both files are opened first: what cannot be written should fail before the measurement, not after it.
	samples, err := os.Create(*samplesPath)
	if err != nil {
		return fmt.Errorf("cannot write the samples: %w", err)
	}
	described, err := os.Create(*factsPath)
	if err != nil {
		return fmt.Errorf("cannot write the facts: %w", err)
	}
	notes := newNotes(w.Protocol)
	ctx := untilInterrupted()
	failed := l.run(ctx)
	d.closeAll()
	if err := save(samples, l.journal.write); err != nil {
		return err
	}
	if err := save(described, d.facts(append(notes.all(), l.requester.notes()...)).write); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "h123-go:", l.journal.summary())
	if failed == nil && ctx.Err() != nil {
		failed = fmt.Errorf("%w: %s holds the requests made until then", context.Cause(ctx), *samplesPath)
	}
	return failed
}

// untilInterrupted is a context that the first SIGTERM or SIGINT ends; a second one kills.
func untilInterrupted() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel(errInterrupted)
	}()
	return ctx
}

// save writes a file and closes it; the error says what to do about a full disk.
func save(file *os.File, write func(io.Writer) error) error {
	err := write(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w; free some space, or choose another place", file.Name(), err)
	}
	return nil
}

// mostNotes is how many different things are worth a note.
const mostNotes = 100

// notes collects what the libraries have to say, for client.json, each thing once: a server can make them say it as
// often as it likes. They log to the standard logger: quic-go, if it cannot enlarge the buffers of a UDP socket.
type notes struct {
	mutex sync.Mutex
	lines []string
}

func newNotes(p protocol) *notes {
	n := &notes{}
	if p == h3 {
		n.lines = append(n.lines, "UDP segmentation offload (GSO) is on where the kernel has it: quic-go's default")
	}
	log.SetFlags(0)
	log.SetOutput(n)
	return n
}

func (n *notes) Write(said []byte) (int, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for line := range strings.Lines(string(said)) {
		line = strings.TrimSpace(line)
		if len(n.lines) < mostNotes && line != "" && !slices.Contains(n.lines, line) {
			n.lines = append(n.lines, line)
		}
	}
	return len(said), nil
}

// all is one note a line.
func (n *notes) all() []string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return slices.Clone(n.lines)
}
