package peer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// workload is workload.json: what a client is to do. Its fields are described in docs/contracts.md.
type workload struct {
	Format      string      `json:"h123"`
	Kind        string      `json:"kind"`
	Protocol    protocol    `json:"protocol"`
	Host        string      `json:"host"`
	Address     string      `json:"address"`
	Port        int         `json:"port"`
	CA          string      `json:"ca"`
	Users       int         `json:"users"`
	Requests    int         `json:"requests"`
	Rate        *float64    `json:"rate"`       // requests a second; nil: closed loop
	GapsNs      []int64     `json:"gaps_ns"`    // of an open loop whose requests are due as h123 says, instead of Rate
	DealtTo     []int       `json:"dealt_to"`   // of each of them the connection that it is made on; nil: of no matter
	AbandonNs   int64       `json:"abandon_ns"` // from when a request is due whose user leaves, until then; 0: none does
	Abandoned   []int       `json:"abandoned"`  // their numbers, in order
	RetryNs     int64       `json:"retry_ns"`   // from when a request is made until it is made again, if it has no answer by then
	Retries     int         `json:"retries"`    // so often at most; 0: none is made again
	Connections connections `json:"connections"`
	Cold        bool        `json:"cold"`
	Warmup      int         `json:"warmup"`
	TimeoutNs   int64       `json:"timeout_ns"`
	Seed        uint64      `json:"seed"`
	Headers     []named     `json:"headers"`

	// TLS is there where the version is not to be 1.3.
	TLS tlsVersion `json:"tls"`

	// KeyShare is there where keys are not to be exchanged by X25519.
	KeyShare keyShare `json:"key_share"`

	// Authority is there where the server is no subject, but somebody's own: what requests name instead of Host. Its
	// certificate is not checked, and what it answers is not the block.
	Authority string `json:"authority"`

	// Of the kind requests.
	Method      string `json:"method"`
	Path        string `json:"path"`
	UploadBytes int64  `json:"upload_bytes"`

	// Of the kind requests, where a handshake is not to be a full one.
	Sessions sessions `json:"sessions"`

	// Of the kind mix: its requests, and whose turn it is, over and over.
	Mix   []entry `json:"mix"`
	Order []int   `json:"order"`

	// Of the kind page: its resources, the document first, and how many requests of a connection may be under way.
	Page   []resource `json:"page"`
	AtOnce int        `json:"at_once"`

	// Of the kind page, where a user rests between its visits: from the end of one until the next begins.
	PauseNs *int64 `json:"pause_ns"`
}

// named is a header of a request, besides those that its protocol needs. The value of one that changes ends with the
// request's number.
type named struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Changes bool   `json:"changes"`
}

// entry is one of the requests that a workload is made of.
type entry struct {
	Method    string  `json:"method"`
	Path      string  `json:"path"`
	Headers   []named `json:"headers"`
	BodyBytes int64   `json:"body_bytes"`
	BodyFile  *string `json:"body_file"` // nil: the block, repeated
	Status    int     `json:"status"`    // that the answer must have; 0: any from 200 to 299
	ThinkNs   int64   `json:"think_ns"`  // how long its user waits before it

	host string // whose it is; empty: the workload's
}

// resource is one of those that a page is made of.
type resource struct {
	Path      string  `json:"path"`
	Headers   []named `json:"headers"`
	Initiator *int    `json:"initiator"` // index of what asks for it; nil: the document, the first
	Urgency   int     `json:"urgency"`   // 0 the most urgent
	RunNs     int64   `json:"run_ns"`    // from its end until what it asks for is asked for
	Host      string  `json:"host"`      // where it is another than the workload's; empty: it is not
}

// mostRetries is how often a request can be made again.
const mostRetries = 100

const (
	workloadFormat = "workload/2"
	kindRequests   = "requests"
	kindMix        = "mix"
	kindPage       = "page"
)

// entries are the workload's requests by the index that a sample's resource has.
func (w *workload) entries() []entry {
	switch w.Kind {
	case kindMix:
		return w.Mix
	case kindPage:
		parts := make([]entry, len(w.Page))
		for i, r := range w.Page {
			parts[i] = entry{Method: "GET", Path: r.Path, Headers: r.Headers, host: r.Host}
		}
		return parts
	}
	return []entry{{Method: w.Method, Path: w.Path, Headers: w.Headers, BodyBytes: w.UploadBytes}}
}

// number counts the requests of all users, one user after another; cold ones come after them.
func (w *workload) number(user, n int) int { return user*w.perUser() + n }

// resource is the index of what a user's nth request is for. A cold request is always for the first.
func (w *workload) resource(user, n int) int {
	if w.Kind == kindMix {
		return w.Order[w.number(user, n)%len(w.Order)]
	}
	return 0
}

// connections is `shared`, `per-user` or a number.
type connections struct {
	perUser bool
	number  int // 0: not given as a number
}

func (c *connections) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil && (word == "shared" || word == "per-user") {
		*c = connections{perUser: word == "per-user"}
		return nil
	}
	var number int
	if err := json.Unmarshal(data, &number); err != nil || number < 1 {
		return fmt.Errorf(`connections: %s is not "shared", "per-user" or a number from 1`, data)
	}
	*c = connections{number: number}
	return nil
}

// authority is what requests call the server.
func (w *workload) authority() string { return cmp.Or(w.Authority, w.Host) }

// foreign says that the server is no subject, so that nothing is known of its certificate and its answers.
func (w *workload) foreign() bool { return w.Authority != "" }

// count is how many connections the workload asks for. An HTTP/1.1 connection carries one request at a time, so
// sharing gives each user one.
func (w *workload) count() int {
	switch {
	case w.Connections.number > 0:
		return w.Connections.number
	case w.Connections.perUser || w.Protocol == h1:
		return w.Users
	default:
		return 1
	}
}

// leaves says whether the user of this warm request gives it up after a while.
func (w *workload) leaves(number int) bool {
	_, found := slices.BinarySearch(w.Abandoned, number)
	return found
}

// perUser is how many requests each user makes once the users have started.
func (w *workload) perUser() int { return w.Warmup + w.Requests }

// readWorkload reads and checks a workload; its errors name the file and the field, and exit 2.
func readWorkload(path string) (*workload, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failure{exitBadInput, fmt.Errorf("cannot read the workload: %w", err)}
	}
	if err := understood(data); err != nil {
		return nil, failure{exitUnsupported, fmt.Errorf("%s: %w", path, err)}
	}
	w, err := parseWorkload(data)
	if unknown := unknownField(err); unknown != "" {
		return nil, failure{exitUnsupported, fmt.Errorf("%s: the field %s is not known here", path, unknown)}
	}
	if err != nil {
		return nil, failure{exitBadInput, fmt.Errorf("%s: %w", path, err)}
	}
	return w, cmp.Or(w.Protocol.supported(), w.TLS.supported(w.Protocol), w.KeyShare.supported(w.TLS), w.Sessions.supported(w.Protocol))
}

// understood refuses versions and kinds that are not known here, whatever else is in them.
func understood(data []byte) error {
	var of struct {
		Format string `json:"h123"`
		Kind   string `json:"kind"`
	}
	if json.Unmarshal(data, &of) != nil {
		return nil // which the strict reader says better
	}
	if of.Format != workloadFormat {
		return fmt.Errorf("h123: only %s is understood here, not %q", workloadFormat, of.Format)
	}
	if known := []string{kindRequests, kindMix, kindPage}; !slices.Contains(known, of.Kind) {
		return fmt.Errorf("kind: only %s are possible here, not %q", strings.Join(known, ", "), of.Kind)
	}
	return nil
}

// unknownField is the name in the error about one, which the library has no type for.
func unknownField(err error) string {
	if err == nil {
		return ""
	}
	_, name, _ := strings.Cut(err.Error(), "json: unknown field ")
	return name
}

func parseWorkload(data []byte) (*workload, error) {
	var w workload
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&w); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, fmt.Errorf("%s: %s where %s is wanted", wrong.Field, wrong.Value, wrong.Type)
		}
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	return &w, w.check()
}

// check says which field cannot be, or nothing. The protocol is not its business: an unknown one is unsupported,
// not wrong.
func (w *workload) check() error {
	_, addressError := netip.ParseAddr(w.Address)
	mixed, paged := w.Kind == kindMix, w.Kind == kindPage
	other := mixed || paged
	for _, rule := range []struct {
		holds bool
		field string
		want  string
	}{
		{w.Protocol != "", "protocol", "h1, h2 or h3"},
		{w.Host != "", "host", "the server's name"},
		{addressError == nil, "address", fmt.Sprintf("an IP address, not %q", w.Address)},
		{w.Port >= 1 && w.Port <= 65535, "port", "1 to 65535"},
		{w.CA != "", "ca", "a PEM file of the trusted roots"},
		{mixed != (w.Mix == nil), "mix", "there with the kind mix, and with no other"},
		{mixed != (w.Order == nil), "order", "there with the kind mix, and with no other"},
		{paged == (w.Page != nil), "page", "there with the kind page, and with no other"},
		{paged || w.PauseNs == nil, "pause_ns", "there with the kind page alone"},
		{w.PauseNs == nil || *w.PauseNs > 0, "pause_ns", "1 or more"},
		{paged == (w.AtOnce > 0), "at_once", "1 or more with the kind page, and not there with any other"},
		{!paged || w.Rate == nil, "rate", "null with the kind page"},
		{!paged || w.GapsNs == nil, "gaps_ns", "not there with the kind page"},
		{w.Rate == nil || w.GapsNs == nil, "gaps_ns", "not there beside a rate"},
		{w.GapsNs == nil || len(w.GapsNs) == w.Users*w.perUser(), "gaps_ns", "there for each request, the cold ones apart"},
		{!slices.ContainsFunc(w.GapsNs, func(gap int64) bool { return gap < 0 }), "gaps_ns", "each 0 or more"},
		{w.DealtTo == nil || len(w.DealtTo) == len(w.GapsNs), "dealt_to", "there for each of gaps_ns"},
		{w.DealtTo == nil || inRange(w.DealtTo, w.count()), "dealt_to", "indices of the connections"},
		{!paged || w.Abandoned == nil, "abandoned", "not there with the kind page"},
		{(w.AbandonNs != 0) == (w.Abandoned != nil), "abandoned", "there with abandon_ns, and not without"},
		{w.AbandonNs >= 0 && w.AbandonNs < w.TimeoutNs, "abandon_ns", "1 or more, and less than timeout_ns"},
		{w.warmNumbers(w.Abandoned), "abandoned", "numbers of warm requests, in order"},
		{!paged || w.Retries == 0, "retries", "not there with the kind page"},
		{w.Abandoned == nil || w.Retries == 0, "retries", "not there beside abandoned"},
		{(w.RetryNs != 0) == (w.Retries != 0), "retries", "there with retry_ns, and not without"},
		{w.Retries >= 0 && w.Retries <= mostRetries, "retries", fmt.Sprintf("1 to %d", mostRetries)},
		{w.RetryNs >= 0 && (w.Retries == 0 || w.RetryNs <= (w.TimeoutNs-1)/int64(w.Retries)), "retry_ns", "1 or more, and so short that all retries are made before timeout_ns"},
		{!paged || w.Connections.number > 0, "connections", "a number with the kind page"},
		{!other || w.Sessions == "", "sessions", "of the kind requests alone"},
		{w.Sessions == "" || w.TLS != tls12, "sessions", "of TLS 1.3 alone"},
		{w.Sessions == "" || w.Cold, "sessions", "there with cold requests, which are made on the connections that resume them"},
		{w.Sessions != earlySessions || w.Method == "GET", "sessions", "early with GET alone: a POST that is replayed is made twice"},
		{!other || w.Method == "" && w.Path == "" && w.UploadBytes == 0, w.Kind, "without a method, path or upload_bytes beside it"},
		{!other || len(w.Headers) == 0, "headers", "each request's own with the kinds mix and page"},
		{!mixed || len(w.Order) > 0 && inRange(w.Order, len(w.Mix)), "order", "one or more indices of mix"},
		{w.Users >= 1, "users", "1 or more"},
		{w.Requests >= 0, "requests", "0 or more"},
		{w.Rate == nil || *w.Rate > 0, "rate", "more than 0, or null for the closed loop"},
		{w.Warmup >= 0, "warmup", "0 or more"},
		{w.Cold || w.perUser() > 0, "requests", "1 or more where there is neither a cold request nor a warm-up"},
		{w.TimeoutNs >= 1, "timeout_ns", "1 or more"},
	} {
		if !rule.holds {
			return fmt.Errorf("%s: must be %s", rule.field, rule.want)
		}
	}
	for i, e := range w.entries() {
		if err := e.check(); err != nil {
			if other {
				return fmt.Errorf("%s[%d]: %w", w.Kind, i, err)
			}
			return err
		}
	}
	return w.checkPage()
}

// warmNumbers says whether these are numbers of requests that are neither cold nor warm-up, in order.
func (w *workload) warmNumbers(numbers []int) bool {
	for i, number := range numbers {
		if number < 0 || number >= w.Users*w.perUser() || number%w.perUser() < w.Warmup {
			return false
		}
		if i > 0 && number <= numbers[i-1] {
			return false
		}
	}
	return true
}

// checkPage says which resource of a page cannot be: each is asked for by one that is, in the end, asked for by the
// first.
func (w *workload) checkPage() error {
	for i, r := range w.Page {
		if (i == 0) != (r.Initiator == nil) {
			return fmt.Errorf("page[%d]: initiator: must be null of the first, and of no other", i)
		}
		if r.RunNs < 0 {
			return fmt.Errorf("page[%d]: run_ns: must be 0 or more", i)
		}
		at := i
		for range w.Page {
			if at < 0 || at >= len(w.Page) {
				return fmt.Errorf("page[%d]: initiator: must be an index of page", i)
			}
			if at == 0 {
				break
			}
			if w.Page[at].Initiator == nil {
				break // which its own turn says
			}
			at = *w.Page[at].Initiator
		}
		if at != 0 {
			return fmt.Errorf("page[%d]: initiator: must lead to the first, not round in a circle", i)
		}
	}
	return nil
}

func (e *entry) check() error {
	upload := e.Method == "POST"
	switch {
	case !upload && e.Method != "GET":
		return fmt.Errorf("method: must be GET or POST, not %q", e.Method)
	case !strings.HasPrefix(e.Path, "/"):
		return errors.New("path: must be a path from /")
	case e.BodyBytes < 0 || !upload && (e.BodyBytes > 0 || e.BodyFile != nil):
		return errors.New("upload_bytes: must be 0 or more with POST, 0 with GET")
	case e.Status != 0 && (e.Status < 200 || e.Status > 599):
		return fmt.Errorf("status: must be 200 to 599, not %d", e.Status)
	case e.ThinkNs < 0:
		return errors.New("think_ns: must be 0 or more")
	}
	for _, h := range e.Headers {
		if h.Name == "" || h.Changes && len(h.Value) < numberDigits {
			return fmt.Errorf("headers: %q must have a name, and %d characters to change", h.Name, numberDigits)
		}
	}
	return nil
}

func inRange(indices []int, length int) bool {
	return !slices.ContainsFunc(indices, func(i int) bool { return i < 0 || i >= length })
}
