package peer

import (
	"context"
	"crypto/tls"
	"fmt"
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
	ready      int64 // when it could take a request: the handshake was complete, or early data could be sent
	state      func() session
	congestion string
	requests   atomic.Int64 // begun on it so far
	retired    atomic.Bool  // takes no further request
	alive      func() bool
	ending     *ending // over HTTP/1.1; nil over others
	close      func()
}

// session is what is known of a connection's TLS.
type session struct {
	tls.ConnectionState
	early bool // the server took early data
}

// usable says whether the connection can take another request, as far as is known here.
func (c *connection) usable() bool { return !c.retired.Load() && c.alive() }

// exchange makes a request. The first one of a connection that ends at once was heard: the server wants none.
func (c *connection) exchange(request *http.Request, reused bool) (*http.Response, error) {
	if c.ending == nil || !reused {
		return c.RoundTrip(request)
	}
	before := c.ending.written.Load()
	response, err := c.RoundTrip(request)
	if err != nil && c.ending.unheard(before) {
		err = fmt.Errorf("%w: %w", errUnheard, err)
	}
	return response, err
}

// dialer makes connections and keeps account of all it made.
type dialer struct {
	protocol protocol
	endpoint string
	tls      *tls.Config
	timeout  time.Duration
	early    bool    // requests are sent before a handshake that resumes a session is complete
	kept     *memory // nil: of earlier connections nothing is kept, so every handshake is a full one

	mutex       sync.Mutex
	connections []*connection
}

func newDialer(w *workload) (*dialer, error) {
	config, err := clientTLS(w.Protocol, w.TLS, w.KeyShare, w.Host, w.CA)
	if err != nil {
		return nil, err
	}
	config.InsecureSkipVerify = w.foreign()
	return &dialer{
		protocol: w.Protocol,
		endpoint: net.JoinHostPort(w.Address, strconv.Itoa(w.Port)),
		tls:      config,
		timeout:  time.Duration(w.TimeoutNs),
		early:    w.Sessions == earlySessions,
	}, nil
}

// remember keeps from now on what servers give for later connections.
func (d *dialer) remember() *memory {
	d.kept = newMemory()
	d.tls.ClientSessionCache = d.kept
	return d.kept
}

// dial establishes a new connection to a host, the workload's if it is empty, and takes account of it.
func (d *dialer) dial(ctx context.Context, host string) (*connection, error) {
	c, err := d.establish(ctx, host, d.early)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	c.index = len(d.connections)
	d.connections = append(d.connections, c)
	return c, nil
}

// establish makes a connection, which is ready at once where its requests are early.
func (d *dialer) establish(ctx context.Context, host string, early bool) (c *connection, err error) {
	config := d.tls
	if host != "" {
		config = config.Clone()
		config.ServerName = host
	}
	if d.protocol == h3 {
		c, err = d.dialQUIC(ctx, config, early)
	} else {
		c, err = d.dialTCP(ctx, config)
	}
	if err == nil {
		c.protocol = d.protocol // or pinned's check of ALPN had failed the handshake
	}
	return c, err
}

// dialTCP connects for HTTP/1.1 and HTTP/2: ready once TLS is.
func (d *dialer) dialTCP(ctx context.Context, asked *tls.Config) (*connection, error) {
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
			secure := tls.Client(socket, asked)
			if err := secure.HandshakeContext(ctx); err != nil {
				_ = socket.Close()
				return nil, err
			}
			c.ready = now()
			c.state = func() session { return session{ConnectionState: secure.ConnectionState()} }
			c.congestion = congestionOf(socket.(*net.TCPConn))
			if d.protocol == h1 {
				c.ending = newEnding(secure, socket.(*net.TCPConn))
				return c.ending, nil
			}
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

// dialQUIC connects for HTTP/3, each connection from a socket of its own: ready once the QUIC handshake is complete, or
// at once if early data can be sent.
func (d *dialer) dialQUIC(ctx context.Context, asked *tls.Config, early bool) (*connection, error) {
	config, dial := quicConfig(d.timeout, -1), quic.DialAddr
	if d.kept != nil {
		config.TokenStore = d.kept.tokens
	}
	if early {
		dial = quic.DialAddrEarly
	}
	conn, err := dial(ctx, d.endpoint, asked, config)
	if err != nil {
		return nil, err
	}
	ready := now()
	transport := &http3.Transport{DisableCompression: true}
	var requests http.RoundTripper
	if early {
		if requests, err = newEager(ctx, conn, transport); err != nil {
			return nil, err
		}
	} else {
		requests = transport.NewClientConn(conn)
	}
	return &connection{
		RoundTripper: requests,
		ready:        ready,
		state: func() session {
			known := conn.ConnectionState()
			return session{known.TLS, early && known.Used0RTT}
		},
		congestion: "cubic", // quic-go has no other
		alive:      func() bool { return conn.Context().Err() == nil },
		close:      func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") },
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
