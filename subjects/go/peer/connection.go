package peer

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sys/unix"
)

// connection is one established connection to the server. Its round tripper is net/http's or quic-go's ClientConn,
// a single connection, and not a Transport: a Transport opens connections of its own accord and repeats requests
// that met a dying one, and the rows would not show it.
type connection struct {
	http.RoundTripper
	index      int
	protocol   protocol
	ready      int64 // when the handshake was complete
	tls        tls.ConnectionState
	congestion string
	requests   atomic.Int64 // begun on it so far
	retired    atomic.Bool  // takes no further request
	alive      func() bool
	close      func()
}

// usable says whether the connection can take another request, as far as is known here.
func (c *connection) usable() bool { return !c.retired.Load() && c.alive() }

// dialer makes connections and keeps account of all it made.
type dialer struct {
	protocol protocol
	endpoint string
	tls      *tls.Config
	timeout  time.Duration

	mutex       sync.Mutex
	connections []*connection
}

func newDialer(w *workload) (*dialer, error) {
	config, err := clientTLS(w.Protocol, w.Host, w.CA)
	if err != nil {
		return nil, err
	}
	config.InsecureSkipVerify = w.foreign()
	return &dialer{
		protocol: w.Protocol,
		endpoint: net.JoinHostPort(w.Address, strconv.Itoa(w.Port)),
		tls:      config,
		timeout:  time.Duration(w.TimeoutNs),
	}, nil
}

// dial establishes a new connection.
func (d *dialer) dial(ctx context.Context) (*connection, error) {
	establish := d.dialTCP
	if d.protocol == h3 {
		establish = d.dialQUIC
	}
	c, err := establish(ctx)
	if err != nil {
		return nil, err
	}
	c.protocol = d.protocol // or pinned's check of ALPN had failed the handshake
	d.mutex.Lock()
	defer d.mutex.Unlock()
	c.index = len(d.connections)
	d.connections = append(d.connections, c)
	return c, nil
}

// dialTCP connects for HTTP/1.1 and HTTP/2: ready once TLS is.
func (d *dialer) dialTCP(ctx context.Context) (*connection, error) {
	c := &connection{}
	transport := &http.Transport{
		Protocols:          only(d.protocol),
		HTTP2:              http2Config(),
		DisableCompression: true,
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var tcp net.Dialer
			socket, err := tcp.DialContext(ctx, "tcp", d.endpoint)
			if err != nil {
				return nil, err
			}
			// Not TLS's own farewell, which waits up to 5 s where the path has died under an upload.
			c.close = func() { _ = socket.Close() }
			secure := tls.Client(socket, d.tls)
			if err := secure.HandshakeContext(ctx); err != nil {
				_ = socket.Close()
				return nil, err
			}
			c.ready = now()
			c.tls = secure.ConnectionState()
			c.congestion = congestionOf(socket.(*net.TCPConn))
			return secure, nil
		},
	}
	client, err := transport.NewClientConn(ctx, "https", d.endpoint)
	if err != nil {
		return nil, err
	}
	c.RoundTripper = client
	c.alive = func() bool {
		// An HTTP/2 connection that was told to go away has no error, but no room either.
		return client.Err() == nil && (client.Available() > 0 || client.InFlight() > 0)
	}
	return c, nil
}

// dialQUIC connects for HTTP/3, each connection from a socket of its own: ready once the QUIC handshake is complete.
func (d *dialer) dialQUIC(ctx context.Context) (*connection, error) {
	conn, err := quic.DialAddr(ctx, d.endpoint, d.tls, quicConfig(d.timeout, -1))
	if err != nil {
		return nil, err
	}
	ready := now()
	transport := &http3.Transport{DisableCompression: true}
	return &connection{
		RoundTripper: transport.NewClientConn(conn),
		ready:        ready,
		tls:          conn.ConnectionState().TLS,
		congestion:   "cubic", // quic-go has no other
		alive:        func() bool { return conn.Context().Err() == nil },
		close:        func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") },
	}, nil
}

// congestionOf is the congestion control that the kernel gave a connection, empty if it does not say.
func congestionOf(socket *net.TCPConn) string {
	var name string
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(descriptor uintptr) {
			name, _ = unix.GetsockoptString(int(descriptor), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		})
	}
	return strings.TrimRight(name, "\x00")
}

func (d *dialer) closeAll() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, c := range d.connections {
		c.close()
	}
}

// neverSent says whether an error means that the connection took no new request, because the server had told it to
// go away or it had died before: nothing of the request was written. The libraries export neither error.
func neverSent(err error) bool {
	return says(err, "http2: client conn not usable", "http3: conn unusable")
}
