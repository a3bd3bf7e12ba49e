package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// host is the name in the certificates of all trials.
const host = "h123.test"

// alpn maps each protocol to its name in TLS.
var alpn = map[string]string{"h1": "http/1.1", "h2": "h2", "h3": "h3"}

// versions are those of TLS that a server can be started with.
var versions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// longest is within what the longest point must be asked: the trial's own time comes before.
const longest = time.Hour

// noMore is the silence after which what does not come is given up: on a busy machine things come slowly, and one after
// another.
const noMore = 10 * time.Second

// plan is what to ask of a server.
type plan struct {
	Format   string   `json:"h123"`
	Protocol string   `json:"protocol"`
	Address  string   `json:"address"`
	Port     int      `json:"port"`
	CA       string   `json:"ca"`
	TLS      string   `json:"tls"`        // the version that the server is started with
	Timeout  int64    `json:"timeout_ns"` // of one check
	Methods  []string `json:"methods"`
	Sizes    []int64  `json:"sizes"`
	Others   []int64  `json:"other_sizes"` // of bodies asked for one after another on one connection; none: not asked
	AtOnce   int      `json:"at_once"`     // requests under way together, 0: not asked
	InTurn   bool     `json:"in_turn"`     // whether downloads under way together may be sent one after another
	InARow   int      `json:"in_a_row"`    // requests on one connection, 0: not asked
	Rest     int64    `json:"rest_ns"`     // for which an upload rests in its middle, 0: not asked
	Idle     int64    `json:"idle_ns"`     // in which nothing happens on a connection, 0: not asked
	Resume   int      `json:"resumption"`  // how often to ask for a resumed session: each could come to another process; 0: not asked
	Early    bool     `json:"zero_rtt"`    // whether to ask for 0-RTT
	LeftOpen bool     `json:"left_open"`   // whether a connection is to be left open when the probe has ended
	Arrivals string   `json:"arrivals"`    // where to write when the bytes of a download arrived; empty: not asked

	path  string
	roots *x509.CertPool
}

func readPlan(path string) (*plan, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &plan{path: path}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if p.Format != "probe/1" || alpn[p.Protocol] == "" || versions[p.TLS] == 0 || len(p.Sizes) == 0 {
		return nil, fmt.Errorf("%s: not a plan of the format probe/1 with a known protocol, TLS and sizes", path)
	}
	if p.AtOnce > 0 && !p.InTurn && p.crowdSize() <= crowdWindow {
		return nil, fmt.Errorf("%s: downloads can be held open of more than %d bytes alone", path, crowdWindow)
	}
	pem, err := os.ReadFile(p.CA)
	if err != nil {
		return nil, err
	}
	p.roots = x509.NewCertPool()
	if !p.roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", p.CA)
	}
	return p, nil
}

func (p *plan) endpoint() string { return net.JoinHostPort(p.Address, strconv.Itoa(p.Port)) }

// run makes all checks, one after another; without a connection there is only one.
func (p *plan) run(ctx context.Context) []check {
	if p.Arrivals != "" {
		return []check{p.check(ctx, p.asked("download", p.recordArrivals))}
	}
	connected := p.check(ctx, p.asked("connection", p.connect))
	if !connected.Passed {
		return []check{connected}
	}
	checks := []check{connected}
	for _, one := range p.points() {
		checks = append(checks, p.check(ctx, one))
	}
	return checks
}

// point is a part of the contract. ask returns what was seen, or why the contract is broken.
type point struct {
	name   string
	ask    func(context.Context) (string, error)
	within time.Duration
}

// asked is a point that has the time of any.
func (p *plan) asked(name string, ask func(context.Context) (string, error)) point {
	return point{name, ask, time.Duration(p.Timeout)}
}

// points are all that the plan asks for, in a fixed order.
func (p *plan) points() []point {
	uploads := slices.Contains(p.Methods, "POST")
	points := []point{p.asked("TLS", p.askTLS), p.asked("X25519 alone", p.askX25519), p.asked("ALPN", p.askALPN),
		p.asked("other protocols", p.askOthers)}
	for _, size := range p.Sizes {
		points = append(points, p.asked(fmt.Sprint("GET ", size), p.once(download(size))))
	}
	if uploads {
		for _, size := range p.Sizes {
			points = append(points, p.asked(fmt.Sprint("POST ", size), p.once(upload(size))))
		}
	}
	points = append(points, p.asked("HEAD", p.once(head(p.Sizes[len(p.Sizes)-1]))), p.asked("404", p.once(missing)),
		p.asked("health", p.once(health)), p.asked("no compression", p.once(uncompressed)), p.asked("any host", p.once(p.anyHost)))
	if len(p.Others) > 0 {
		points = append(points, p.asked("GET of other sizes", p.inTurn(download)))
		if uploads {
			points = append(points, p.asked("POST of other sizes", p.inTurn(upload)))
		}
	}
	if p.AtOnce > 0 {
		points = append(points, p.asked(fmt.Sprintf("%d downloads at once", p.AtOnce), p.downloadsAtOnce))
		if uploads {
			points = append(points, p.asked(fmt.Sprintf("%d uploads at once", p.AtOnce), p.uploadsAtOnce))
		}
	}
	if uploads && p.Rest > 0 {
		points = append(points, p.asked("POST in halves", p.uploadInHalves))
	}
	if p.Protocol == "h2" || p.Protocol == "h3" {
		points = append(points, p.asked("limits", p.askLimits))
	}
	if p.Protocol == "h3" {
		points = append(points, p.asked("reserved values", p.askReserved))
	}
	if p.InARow > 0 {
		// Each of the requests has the time that other points have: on a busy machine all of them together take long.
		points = append(points, point{fmt.Sprintf("%d requests on a connection", p.InARow), p.inARow, longest})
	}
	if p.Idle > 0 {
		idle := time.Duration(p.Idle)
		points = append(points, point{fmt.Sprintf("a connection idle for %v", idle), p.askIdle, idle + time.Duration(p.Timeout)})
	}
	if p.Resume > 0 {
		points = append(points, p.asked("resumption", p.askResumption))
	}
	if p.Early {
		points = append(points, p.asked("0-RTT", p.askEarly))
	}
	if p.LeftOpen {
		points = append(points, p.asked("a connection left open", p.leaveOpen))
	}
	return points
}

// check asks one point within its time.
func (p *plan) check(ctx context.Context, one point) check {
	ctx, cancel := context.WithTimeout(ctx, one.within)
	defer cancel()
	seen, err := one.ask(ctx)
	if err == nil {
		return check{one.name, true, seen}
	}
	said := strings.Join(strings.Fields(err.Error()), " ")
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		said += fmt.Sprintf(" (within %v)", one.within)
	}
	return check{one.name, false, said}
}

func (p *plan) connect(ctx context.Context) (string, error) {
	c, err := p.dial(ctx, p.tls())
	if err != nil {
		return "", err
	}
	c.close()
	return "", nil
}
