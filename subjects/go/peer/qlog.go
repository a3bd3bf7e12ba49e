package peer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlogwriter"
)

// qlogs writes what happens on each QUIC connection into a file of its own.
type qlogs struct {
	folder  string // empty: nothing is written
	writing sync.WaitGroup
}

// tracer is what quic-go asks for a connection's log, nil for none.
func (q *qlogs) tracer() func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace {
	if q == nil || q.folder == "" {
		return nil
	}
	return func(_ context.Context, isClient bool, id quic.ConnectionID) qlogwriter.Trace {
		file, err := os.Create(filepath.Join(q.folder, id.String()+".sqlog"))
		if err != nil {
			log.Print("h123-go: no qlog: ", err)
			return nil
		}
		trace := qlogwriter.NewConnectionFileSeq(buffered{bufio.NewWriter(file), file}, isClient, id)
		q.writing.Go(trace.Run)
		return trace
	}
}

// finish waits until the logs of all connections are written, for drainTime at most: a connection may not have ended.
func (q *qlogs) finish() {
	written := make(chan struct{})
	go func() { defer close(written); q.writing.Wait() }()
	select {
	case <-written:
	case <-time.After(drainTime):
	}
}

// buffered is a file that is written in large pieces.
type buffered struct {
	*bufio.Writer
	file io.Closer
}

func (b buffered) Close() error { return errors.Join(b.Flush(), b.file.Close()) }
