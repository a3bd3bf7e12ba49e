package peer

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/quic-go/quic-go/http3"
)

const (
	drainTime = 500 * time.Millisecond // for requests under way when the server is told to stop
	stopTime  = 900 * time.Millisecond // after which it ends in any case
	// serverHandshakeTime is how long a client may be silent in a QUIC handshake.
	serverHandshakeTime = 30 * time.Second
)

// service is a running server, net/http's or quic-go's.
type service struct {
	server interface {
		Shutdown(context.Context) error
		Close() error
	}
	address net.Addr
	ended   <-chan error // receives what made the server end
}

// serve is the command `serve`.
func serve(arguments []string, stderr io.Writer, storage Storage) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	address := flags.String("address", "", "IP address to listen on")
	port := flags.Uint("port", 0, "port to listen on, TCP for h1 and h2, UDP for h3; 0 for any that is free")
	wanted := flags.String("protocol", "", "h1, h2 or h3: the only one spoken on this port")
	version := flags.String("tls", "", "version of TLS: 1.3, or 1.2 with h1 and h2")
	share := flags.String(keyShareFlag, string(x25519), "what keys are exchanged by: X25519, or X25519MLKEM768 with TLS 1.3")
	certificate := flags.String("cert", "", "certificate chain, PEM `file`")
	key := flags.String("key", "", "its private key, PEM `file`")
	folder := flags.String("qlog", "", "where h3 writes a qlog file for each connection; empty for none")
	announced := flags.String("alt-svc", "", "`value` of the field Alt-Svc of every answer; empty for none")
	documents := documentsFlag(flags)
	sendingFlags(flags)
	open := func(context.Context) (Store, error) { return nil, nil }
	if storage != nil {
		open = storage(flags)
	}
	if err := parse(flags, arguments, stderr); err != nil {
		return err
	}
	p := protocol(*wanted)
	v, s := tlsVersion(*version), keyShare(*share)
	if err := cmp.Or(p.supported(), v.supported(p), s.supported(v)); err != nil {
		return err
	}
	config, err := serverTLS(p, v, s, *certificate, *key)
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer release()
	endpoint := net.JoinHostPort(*address, strconv.FormatUint(uint64(*port), 10))
	// Whatever the store needs, such as seeding, is done before the port listens and so before the server is ready.
	store, err := open(ctx)
	if err != nil {
		return err
	}
	logs := &qlogs{folder: *folder}
	running, err := start(p, endpoint, config, announcing(*announced, routes(store, *documents)), logs)
	if err != nil {
		return err
	}
	defer logs.finish()
	fmt.Fprintf(stderr, "h123-go: serving %s on %s\n", p, running.address)
	return running.until(ctx)
}

// serveOrigin is the command `origin`: what a server passes requests on to that cannot answer them itself. It speaks
// HTTP/1.1 without TLS.
func serveOrigin(arguments []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("origin", flag.ContinueOnError)
	address := flags.String("address", "", "IP address to listen on")
	port := flags.Uint("port", 0, "TCP port to listen on, 0 for any that is free")
	documents := documentsFlag(flags)
	if err := parse(flags, arguments, stderr); err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer release()
	endpoint := net.JoinHostPort(*address, strconv.FormatUint(uint64(*port), 10))
	running, err := start(h1, endpoint, nil, routes(nil, *documents), nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "h123-go: serving as the origin on %s\n", running.address)
	return running.until(ctx)
}

func documentsFlag(flags *flag.FlagSet) *string {
	return flags.String("documents", "", "`folder` of what is served below /site/; empty for none")
}

// until serves until ctx ends, and then stops.
func (s *service) until(ctx context.Context) error {
	select {
	case err := <-s.ended:
		return fmt.Errorf("the server on %s ended by itself: %w", s.address, err)
	case <-ctx.Done():
		s.stop()
		return nil
	}
}

// start listens on endpoint and serves one protocol there; without TLS if there is no configuration of it.
func start(p protocol, endpoint string, config *tls.Config, handler http.Handler, logs *qlogs) (*service, error) {
	end := make(chan error, 1)
	if p == h3 {
		socket, err := net.ListenPacket("udp", endpoint)
		if err != nil {
			return nil, listenError(endpoint, err)
		}
		quic := quicConfig(serverHandshakeTime, maxStreams)
		quic.Allow0RTT = true
		quic.Tracer = logs.tracer()
		server := &http3.Server{Handler: handler, TLSConfig: config, QUICConfig: quic}
		go func() { end <- server.Serve(socket) }()
		return &service{server, socket.LocalAddr(), end}, nil
	}
	var listen net.ListenConfig
	// Go listens with Multipath TCP where the kernel has it, on which the lab's choice of congestion control by
	// route need not hold.
	listen.SetMultipathTCP(false)
	listener, err := listen.Listen(context.Background(), "tcp", endpoint)
	if err != nil {
		return nil, listenError(endpoint, err)
	}
	server := &http.Server{Handler: handler, TLSConfig: config, Protocols: only(p), HTTP2: http2Config()}
	if config == nil {
		go func() { end <- server.Serve(listener) }()
	} else {
		go func() { end <- server.ServeTLS(listener, "", "") }()
	}
	return &service{server, listener.Addr(), end}, nil
}

// only makes net/http speak one protocol.
func only(p protocol) *http.Protocols {
	var set http.Protocols
	set.SetHTTP1(p == h1)
	set.SetHTTP2(p == h2)
	return &set
}

func listenError(endpoint string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("cannot listen on %s: the port is in use; choose another --port or stop its user", endpoint)
	}
	return fmt.Errorf("cannot listen on %s: %w", endpoint, err)
}

// stop lets requests under way end, for drainTime at most, and is back after stopTime whatever happens.
func (s *service) stop() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		if s.server.Shutdown(ctx) != nil {
			_ = s.server.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(stopTime):
	}
}
