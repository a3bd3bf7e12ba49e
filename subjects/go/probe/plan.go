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

// plan is what to ask of a server.
type plan struct {
	Format   string   `json:"h123"`
	Protocol string   `json:"protocol"`
	Address  string   `json:"address"`
	Port     int      `json:"port"`
	CA       string   `json:"ca"`
	Timeout  int64    `json:"timeout_ns"` // of one check
	Methods  []string `json:"methods"`
	Sizes    []int64  `json:"sizes"`
	AtOnce   int      `json:"at_once"`    // requests under way together, 0: not asked
	InTurn   bool     `json:"in_turn"`    // whether downloads under way together may be sent one after another
	InARow   int      `json:"in_a_row"`   // requests on one connection, 0: not asked
	Resume   bool     `json:"resumption"` // whether to ask for a resumed session
	Early    bool     `json:"zero_rtt"`   // whether to ask for 0-RTT
	LeftOpen bool     `json:"left_open"`  // whether a connection is to be left open when the probe has ended
	Arrivals string   `json:"arrivals"`   // where to write when the bytes of a download arrived; empty: not asked

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
	if p.Format != "probe/1" || alpn[p.Protocol] == "" || len(p.Sizes) == 0 {
		return nil, fmt.Errorf("%s: not a plan of the format probe/1 with a known protocol and sizes", path)
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
		return []check{p.check(ctx, "download", p.recordArrivals)}
	}
	connected := p.check(ctx, "connection", p.connect)
	if !connected.Passed {
		return []check{connected}
	}
	checks := []check{connected}
	for _, one := range p.points() {
		checks = append(checks, p.check(ctx, one.name, one.ask))
	}
	return checks
}

// point is a part of the contract. ask returns what was seen, or why the contract is broken.
type point struct {
	name string
	ask  func(context.Context) (string, error)
}

// points are all that the plan asks for, in a fixed order.
func (p *plan) points() []point {
	points := []point{{"TLS", p.askTLS}, {"ALPN", p.askALPN}}
	for _, size := range p.Sizes {
		points = append(points, point{fmt.Sprint("GET ", size), p.once(download(size))})
	}
	if slices.Contains(p.Methods, "POST") {
		for _, size := range p.Sizes {
			points = append(points, point{fmt.Sprint("POST ", size), p.once(upload(size))})
		}
	}
	points = append(points, point{"HEAD", p.once(head(p.Sizes[len(p.Sizes)-1]))},
		point{"404", p.once(missing)}, point{"health", p.once(health)})
	if p.AtOnce > 0 {
		points = append(points, point{fmt.Sprintf("%d downloads at once", p.AtOnce), p.downloadsAtOnce})
		if slices.Contains(p.Methods, "POST") {
			points = append(points, point{fmt.Sprintf("%d uploads at once", p.AtOnce), p.uploadsAtOnce})
		}
	}
	if p.InARow > 0 {
		points = append(points, point{fmt.Sprintf("%d requests on a connection", p.InARow), p.inARow})
	}
	if p.Resume {
		points = append(points, point{"resumption", p.askResumption})
	}
	if p.Early {
		points = append(points, point{"0-RTT", p.askEarly})
	}
	if p.LeftOpen {
		points = append(points, point{"a connection left open", p.leaveOpen})
	}
	return points
}

// check asks one point within its time.
func (p *plan) check(ctx context.Context, name string, ask func(context.Context) (string, error)) check {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.Timeout))
	defer cancel()
	seen, err := ask(ctx)
	if err == nil {
		return check{name, true, seen}
	}
	said := strings.Join(strings.Fields(err.Error()), " ")
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		said += fmt.Sprintf(" (within %v)", time.Duration(p.Timeout))
	}
	return check{name, false, said}
}

func (p *plan) connect(ctx context.Context) (string, error) {
	c, err := p.dial(ctx, p.tls())
	if err != nil {
		return "", err
	}
	c.close()
	return "", nil
}

// askTLS says what was negotiated with a client that leaves the choice to the server.
func (p *plan) askTLS(ctx context.Context) (string, error) {
	c, err := p.dial(ctx, p.tls())
	if err != nil {
		return "", err
	}
	defer c.close()
	state := c.state()
	seen := fmt.Sprintf("%s, %s, %s", tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite), state.CurveID)
	if state.Version != tls.VersionTLS13 {
		return "", errors.New(seen)
	}
	return seen, nil
}

// askALPN offers HTTP/1.1 and HTTP/2 together over TCP: the server must choose the one that it was told to speak.
func (p *plan) askALPN(ctx context.Context) (string, error) {
	config := p.tls()
	if p.Protocol != "h3" {
		config.NextProtos = []string{"h2", "http/1.1"}
		if p.Protocol == "h2" {
			slices.Reverse(config.NextProtos)
		}
	}
	name, err := p.negotiate(ctx, config)
	if err != nil {
		return "", err
	}
	if p.Protocol == "h1" && name == "" {
		return "none: the server takes no part in ALPN, which stands for HTTP/1.1", nil
	}
	if name != alpn[p.Protocol] {
		return "", fmt.Errorf("offered %q, the server chose %q", config.NextProtos, name)
	}
	return name, nil
}
