package scout

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// plan is what to ask, and where.
type plan struct {
	Format    string    `json:"h123"`
	Host      string    `json:"host"`      // that TLS asks for
	Authority string    `json:"authority"` // that requests name
	Address   string    `json:"address"`
	Port      int       `json:"port"`
	TimeoutNs int64     `json:"timeout_ns"` // of a request, and, if that is less than the patience, of a connection
	MostBytes int64     `json:"most_bytes"` // of an answer; the rest is not read
	Times     int       `json:"times"`      // that each request is made
	CAFile    *string   `json:"ca_file"`    // PEM; against whom each protocol's certificate is checked, if it is there
	Requests  []request `json:"requests"`

	trusted *x509.CertPool
}

type request struct {
	Method   string  `json:"method"`
	Path     string  `json:"path"`
	Headers  []named `json:"headers"`
	BodyFile *string `json:"body_file"`

	body []byte
}

type named struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// found is what came of a plan.
type found struct {
	Format      string       `json:"h123"`
	Protocols   []spoken     `json:"protocols"`
	Certificate *certificate `json:"certificate"` // nil: no handshake came so far
}

// spoken is what came of one protocol.
type spoken struct {
	Protocol string     `json:"protocol"`
	Error    string     `json:"error"` // why there is no connection; empty: there is one
	NoTLS    bool       `json:"no_tls"`
	OnlyTLS2 bool       `json:"only_tls_1_2"`
	AsksWho  bool       `json:"asks_for_certificate"` // of the client, which has none
	Dials    int        `json:"connections"`          // that all its answers took
	Distrust string     `json:"distrust"`             // why the certificate is not believed; empty: it is, or nobody asked
	Answers  [][]answer `json:"answers"`              // by request, then one after another

	leaf *x509.Certificate
}

type answer struct {
	Status       int    `json:"status"`
	Bytes        int64  `json:"bytes"`
	SHA256       string `json:"sha256"`
	Endless      bool   `json:"endless"` // it was not at its end when the time, or the most bytes, were over
	Error        string `json:"error"`
	Ns           int64  `json:"ns"`
	Location     string `json:"location"`
	Encoding     string `json:"encoding"`
	Authenticate string `json:"authenticate"`
	AltSvc       string `json:"alt_svc"`
}

func (a answer) failed() bool { return a.Error != "" || a.Endless }

type certificate struct {
	Subject    string   `json:"subject"`
	Issuer     string   `json:"issuer"`
	SelfSigned bool     `json:"self_signed"`
	Names      []string `json:"names"`
	Fits       bool     `json:"fits"` // it is for the host
	NotBefore  int64    `json:"not_before_unix"`
	NotAfter   int64    `json:"not_after_unix"`
}

var alpn = map[string]string{"h1": "http/1.1", "h2": "h2", "h3": "h3"}

// explore asks over all protocols at once, so that one that is silent holds up nobody.
func (p *plan) explore(ctx context.Context) found {
	f := found{Format: foundFormat, Protocols: make([]spoken, len(alpn))}
	var all sync.WaitGroup
	for i, protocol := range []string{"h1", "h2", "h3"} {
		all.Go(func() { f.Protocols[i] = p.speak(ctx, protocol) })
	}
	all.Wait()
	for _, s := range f.Protocols {
		if s.leaf != nil && f.Certificate == nil {
			f.Certificate = p.describe(s.leaf)
		}
	}
	return f
}

func (p *plan) describe(leaf *x509.Certificate) *certificate {
	names := append([]string{}, leaf.DNSNames...)
	for _, address := range leaf.IPAddresses {
		names = append(names, address.String())
	}
	return &certificate{
		Subject:    leaf.Subject.String(),
		Issuer:     leaf.Issuer.String(),
		SelfSigned: leaf.CheckSignatureFrom(leaf) == nil || leaf.Subject.String() == leaf.Issuer.String(),
		Names:      names,
		Fits:       leaf.VerifyHostname(p.Host) == nil,
		NotBefore:  leaf.NotBefore.Unix(),
		NotAfter:   leaf.NotAfter.Unix(),
	}
}

// speak makes all requests over one protocol, one after another, up to the first that fails.
func (p *plan) speak(ctx context.Context, protocol string) spoken {
	s := spoken{Protocol: protocol, Answers: [][]answer{}}
	line := line{plan: p, protocol: protocol, asks: &s.AsksWho}
	defer line.hangUp()
	if err := line.dial(ctx); err != nil {
		s.Error = err.Error()
		var header tls.RecordHeaderError
		s.NoTLS = errors.As(err, &header)
		s.OnlyTLS2 = protocol != "h3" && !s.NoTLS && p.speaksOlder(ctx, protocol)
		return s
	}
	s.leaf, s.Distrust = line.chain[0], p.distrust(line.chain)
	for i := range p.Requests {
		s.Answers = append(s.Answers, p.answers(ctx, &line, &p.Requests[i]))
		if got := s.Answers[i]; got[len(got)-1].failed() {
			break
		}
	}
	s.Dials = line.dials
	return s
}

// line is where a protocol's requests go: one connection, and when the server has ended that, another.
type line struct {
	*connection
	plan        *plan
	protocol    string
	asks        *bool
	dials, used int // connections so far, and answers of the last one
}

func (l *line) dial(ctx context.Context) (err error) {
	l.hangUp()
	l.connection, err = l.plan.dial(ctx, l.protocol, l.asks)
	l.dials, l.used = l.dials+1, 0
	return err
}

func (l *line) hangUp() {
	if l.connection != nil {
		l.connection.close()
		l.connection = nil
	}
}

// ask makes a request. Any server may end a connection after an answer, and need not say so; the first request of a
// connection is the server's to answer.
func (l *line) ask(ctx context.Context, r *request) answer {
	if l.connection != nil {
		a := l.plan.ask(ctx, l, r)
		if l.used++; a.Error == "" || l.used == 1 {
			return a
		}
	}
	began := time.Now()
	if err := l.dial(ctx); err != nil {
		l.connection = nil
		return answer{Error: err.Error(), Ns: time.Since(began).Nanoseconds()}
	}
	l.used++
	return l.plan.ask(ctx, l, r)
}

// distrust is what is wrong with a chain, its own certificate first, for who trusts the plan's authorities alone.
func (p *plan) distrust(chain []*x509.Certificate) string {
	if p.trusted == nil {
		return ""
	}
	between := x509.NewCertPool()
	for _, one := range chain[1:] {
		between.AddCert(one)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: p.Host, Roots: p.trusted, Intermediates: between})
	if err != nil {
		return err.Error()
	}
	return ""
}

// answers makes a request again and again, as long as it is answered.
func (p *plan) answers(ctx context.Context, on *line, r *request) []answer {
	var got []answer
	for range p.Times {
		a := on.ask(ctx, r)
		got = append(got, a)
		if a.failed() {
			break
		}
	}
	return got
}

func (p *plan) ask(ctx context.Context, on *line, r *request) (a answer) {
	began := time.Now()
	defer func() { a.Ns = time.Since(began).Nanoseconds() }()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.TimeoutNs))
	defer cancel()
	made, err := p.make(ctx, r)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	response, err := on.RoundTrip(made)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	defer response.Body.Close()
	header := response.Header
	a.Status, a.Location, a.Encoding = response.StatusCode, header.Get("Location"), header.Get("Content-Encoding")
	a.Authenticate, a.AltSvc = header.Get("WWW-Authenticate"), header.Get("Alt-Svc")
	digest := sha256.New()
	a.Bytes, err = io.Copy(digest, io.LimitReader(response.Body, p.MostBytes+1))
	a.SHA256 = hex.EncodeToString(digest.Sum(nil))
	a.Endless = a.Bytes > p.MostBytes || err != nil && ctx.Err() != nil
	if err != nil && !a.Endless {
		a.Error = err.Error()
	}
	if response.Close {
		on.hangUp()
	}
	return a
}

func (p *plan) make(ctx context.Context, r *request) (*http.Request, error) {
	// Of a bytes.Reader the library knows the length.
	made, err := http.NewRequestWithContext(ctx, r.Method, "https://"+p.Authority+r.Path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	made.Header.Set("User-Agent", "h123")
	for _, h := range r.Headers {
		made.Header.Set(h.Name, h.Value)
	}
	return made, nil
}

// connection is one to the server.
type connection struct {
	http.RoundTripper
	chain []*x509.Certificate
	close func()
}

// tls is what the clients of h123 have: TLS 1.3, X25519, one protocol. Who the server is, is known; its certificate is
// described instead of believed, and checked only against authorities that somebody names. `asks` is set where the server
// asks for the client's.
func (p *plan) tls(protocol string, asks *bool) *tls.Config {
	return &tls.Config{
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			*asks = true
			return &tls.Certificate{}, nil
		},
		MinVersion:         tls.VersionTLS13,
		CurvePreferences:   []tls.CurveID{tls.X25519},
		ServerName:         p.Host,
		NextProtos:         []string{alpn[protocol]},
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			chosen := state.NegotiatedProtocol
			if chosen == alpn[protocol] || protocol == "h1" && chosen == "" {
				return nil
			}
			return errors.New("it does not choose " + alpn[protocol] + " by ALPN")
		},
	}
}

func (p *plan) endpoint() string { return net.JoinHostPort(p.Address, strconv.Itoa(p.Port)) }

// patience is for a connection: nothing is between the scout and a server that has opened its port.
const patience = 1500 * time.Millisecond

func (p *plan) dial(ctx context.Context, protocol string, asks *bool) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, min(patience, time.Duration(p.TimeoutNs)))
	defer cancel()
	if protocol == "h3" {
		return p.dialQUIC(ctx, asks)
	}
	return p.dialTCP(ctx, protocol, asks)
}

func (p *plan) dialQUIC(ctx context.Context, asks *bool) (*connection, error) {
	conn, err := quic.DialAddr(ctx, p.endpoint(), p.tls("h3", asks), nil)
	if err != nil {
		return nil, err
	}
	transport := &http3.Transport{DisableCompression: true}
	return &connection{
		RoundTripper: transport.NewClientConn(conn),
		chain:        conn.ConnectionState().TLS.PeerCertificates,
		close:        func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") },
	}, nil
}

func (p *plan) dialTCP(ctx context.Context, protocol string, asks *bool) (*connection, error) {
	var protocols http.Protocols
	protocols.SetHTTP1(protocol == "h1")
	protocols.SetHTTP2(protocol == "h2")
	var secure *tls.Conn
	transport := &http.Transport{
		Protocols:          &protocols,
		DisableCompression: true,
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := p.dialTLS(ctx, p.tls(protocol, asks))
			if err != nil {
				return nil, err
			}
			secure = conn
			return secure, nil
		},
	}
	client, err := transport.NewClientConn(ctx, "https", p.endpoint())
	if err != nil {
		return nil, err
	}
	return &connection{
		RoundTripper: client,
		chain:        secure.ConnectionState().PeerCertificates,
		close:        func() { _ = secure.NetConn().Close() }, // no farewell, which may wait for who does not read
	}, nil
}

func (p *plan) dialTLS(ctx context.Context, config *tls.Config) (*tls.Conn, error) {
	dialer := tls.Dialer{Config: config}
	conn, err := dialer.DialContext(ctx, "tcp", p.endpoint())
	if err != nil {
		return nil, err
	}
	return conn.(*tls.Conn), nil
}

// speaksOlder says whether it is the version of TLS that kept a connection from coming about.
func (p *plan) speaksOlder(ctx context.Context, protocol string) bool {
	ctx, cancel := context.WithTimeout(ctx, min(patience, time.Duration(p.TimeoutNs)))
	defer cancel()
	config := p.tls(protocol, new(bool))
	config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	config.CurvePreferences = nil
	conn, err := p.dialTLS(ctx, config)
	if err != nil {
		return false
	}
	_ = conn.NetConn().Close()
	return true
}
