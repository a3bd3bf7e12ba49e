package peer

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// phase is the part of a trial a request belongs to.
type phase string

const (
	cold   phase = "cold"
	warmup phase = "warmup"
	warm   phase = "warm"
	// leaving is that of warm requests whose user gives them up after a while.
	leaving phase = "leaving"
)

// columns is the header of samples.csv; the last is there only where requests are made again.
var columns = []string{"phase", "user", "start_ns", "connected_ns", "sent_ns", "first_byte_ns", "end_ns", "status",
	"bytes_up", "bytes_down", "protocol", "connection", "reused", "error", "group", "resource", "tries"}

const noConnection = -1

// sample is one request: a row of samples.csv. Times are nanoseconds of the monotonic clock, 0 where unknown. Of one that
// is made again all but the start is the last try's.
type sample struct {
	phase      phase
	user       int
	start      int64 // when the request was due
	connected  int64
	sent       int64
	firstByte  int64
	end        int64
	status     int
	up, down   int64
	protocol   protocol // as negotiated, empty without a connection
	connection int      // noConnection without one
	reused     bool
	failure    string
	resource   int    // what it is a request for
	number     int    // of all requests, which headers that change tell the server
	group      string // the visit of its user that it belongs to, empty where there are none
	tries      int    // how often it was made
}

// begin forgets what came of an earlier try.
func (s *sample) begin() {
	s.connection, s.protocol, s.reused = noConnection, "", false
	s.sent, s.firstByte, s.status, s.up, s.down = 0, 0, 0, 0, 0
}

func (s *sample) row(row []string) {
	row[0] = string(s.phase)
	row[1] = strconv.Itoa(s.user)
	for i, at := range []int64{s.start, s.connected, s.sent, s.firstByte, s.end} {
		row[2+i] = ""
		if at != 0 {
			row[2+i] = strconv.FormatInt(at, 10)
		}
	}
	row[7] = strconv.Itoa(s.status)
	row[8] = strconv.FormatInt(s.up, 10)
	row[9] = strconv.FormatInt(s.down, 10)
	row[10] = string(s.protocol)
	row[11] = ""
	if s.connection != noConnection {
		row[11] = strconv.Itoa(s.connection)
	}
	row[12] = "0"
	if s.reused {
		row[12] = "1"
	}
	row[13] = s.failure
	row[14] = s.group
	row[15] = strconv.Itoa(s.resource)
	row[16] = strconv.Itoa(s.tries)
}

// journal collects the samples of a run. It keeps them in memory: writing while measuring would take processor
// time from the server.
type journal struct {
	retried bool // whether requests are made again
	mutex   sync.Mutex
	samples []*sample
}

func (j *journal) add(s *sample) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.samples = append(j.samples, s)
}

// write writes samples.csv, rows in the order in which the requests ended.
func (j *journal) write(to io.Writer) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	table := csv.NewWriter(to)
	told := len(columns)
	if !j.retried {
		told--
	}
	if err := table.Write(columns[:told]); err != nil {
		return err
	}
	row := make([]string, len(columns))
	for _, s := range j.samples {
		s.row(row)
		if err := table.Write(row[:told]); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// summary says in one line what became of the requests.
func (j *journal) summary() string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	failed := 0
	first := ""
	for _, s := range j.samples {
		if s.failure != "" && s.failure != errAbandoned.Error() {
			if failed == 0 {
				first = s.failure
			}
			failed++
		}
	}
	if failed == 0 {
		return fmt.Sprintf("%d requests", len(j.samples))
	}
	return fmt.Sprintf("%d requests, %d of them failed, the first: %s", len(j.samples), failed, first)
}
