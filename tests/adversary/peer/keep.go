package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/qlog"
)

// Terms of a server that keeps the contract.
const (
	mostAtOnce = 1000
	goodWindow = 6 << 20
	goodTotal  = 15 << 20
	goodIdle   = 300 * time.Second
)

// keep is the command `keep`.
func keep(arguments []string) error {
	given, err := flags(arguments, "but", "protocol", "address", "port", "cert", "key")
	if err != nil {
		return err
	}
	onlyProtocol = given["protocol"]
	at := slices.IndexFunc(faults, func(f fault) bool { return f.name == given["but"] && slices.Contains(f.protocols(), onlyProtocol) })
	if at < 0 {
		return fmt.Errorf("there is no fault %s over %s", given["but"], onlyProtocol)
	}
	return faults[at].run(given["cert"], given["key"], net.JoinHostPort(given["address"], given["port"]))
}

// run serves until SIGTERM.
func (f *fault) run(certificate, key, endpoint string) error {
	config, err := f.config(certificate, key)
	if err != nil {
		return err
	}
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if f.begins != nil {
		if err := f.begins(); err != nil {
			return err
		}
	}
	ended, err := f.listen(endpoint, config)
	if err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-stopped.Done():
	}
	if f.ends != nil {
		f.ends()
	}
	return nil
}

func (f *fault) config(certificate, key string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{alpn[onlyProtocol]}}
	if onlyProtocol == "h2" && !f.others && f.name != "no-alpn" {
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if !slices.Contains(hello.SupportedProtos, "h2") {
				return nil, errors.New("no other protocol than h2")
			}
			return nil, nil
		}
	}
	if f.others && f.tls == nil {
		config.NextProtos = append(config.NextProtos, "h2", "http/1.1")
	}
	if f.tls != nil {
		f.tls(config)
	}
	return config, nil
}

// listen serves until it fails.
func (f *fault) listen(endpoint string, config *tls.Config) (<-chan error, error) {
	answer, ended := keeps(), make(chan error, 1)
	if f.answer != nil {
		answer = f.answer(answer)
	}
	if onlyProtocol == "h3" {
		return ended, f.listenQUIC(endpoint, config, answer, ended)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(onlyProtocol == "h1" || f.others)
	protocols.SetHTTP2(onlyProtocol == "h2" || f.others)
	server := &http.Server{Handler: answer, Protocols: &protocols, HTTP2: &http.HTTP2Config{
		MaxConcurrentStreams: mostAtOnce, MaxReceiveBufferPerStream: goodWindow, MaxReceiveBufferPerConnection: goodTotal,
	}}
	if f.http != nil {
		f.http(server)
	}
	var terms net.ListenConfig
	if f.room > 0 {
		terms.Control = f.receiveBuffer
	}
	listener, err := terms.Listen(context.Background(), "tcp", endpoint)
	if err != nil {
		return nil, err
	}
	if f.accepts != nil {
		listener = accepting{listener, f.accepts}
	}
	// Not ServeTLS, which would put the protocols into an order of its own.
	go func() { ended <- server.Serve(tls.NewListener(listener, config)) }()
	return ended, nil
}

// receiveBuffer makes that of a socket small, and with it the windows of its connections.
func (f *fault) receiveBuffer(_, _ string, socket syscall.RawConn) error {
	var refused error
	err := socket.Control(func(fd uintptr) {
		refused = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, f.room)
	})
	return errors.Join(err, refused)
}

func (f *fault) listenQUIC(endpoint string, config *tls.Config, answer http.Handler, ended chan<- error) error {
	terms := &quic.Config{
		Allow0RTT: true, MaxIncomingStreams: mostAtOnce, MaxIdleTimeout: goodIdle,
		InitialStreamReceiveWindow: goodWindow, MaxStreamReceiveWindow: goodWindow,
		InitialConnectionReceiveWindow: goodTotal, MaxConnectionReceiveWindow: goodTotal,
		Tracer: qlog.DefaultConnectionTracer, // writes where QLOGDIR says, if it does
	}
	if f.quic != nil {
		f.quic(terms)
	}
	socket, err := net.ListenPacket("udp", endpoint)
	if err != nil {
		return err
	}
	if f.overflows {
		if socket, err = newSleepy(socket); err != nil {
			return err
		}
	}
	transport := &quic.Transport{
		Conn: socket, VerifySourceAddress: func(net.Addr) bool { return f.retries }, DisableVersionNegotiationPackets: f.mute,
	}
	listener, err := transport.ListenEarly(http3.ConfigureTLSConfig(config), terms)
	if err != nil {
		return err
	}
	server := &http3.Server{Handler: answer, QUICConfig: terms}
	if f.reserves {
		go func() { ended <- refuseReserved(server, listener) }()
	} else {
		go func() { ended <- server.ServeListener(listener) }()
	}
	return nil
}

// refuseReserved serves connections up to the client's fourth stream of its own: three are HTTP/3's control stream and
// QPACK's.
func refuseReserved(server *http3.Server, listener *quic.EarlyListener) error {
	for {
		conn, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		session, err := server.NewRawServerConn(conn)
		if err != nil {
			return err
		}
		go func() {
			for range 3 {
				stream, err := conn.AcceptUniStream(conn.Context())
				if err != nil {
					return
				}
				go session.HandleUnidirectionalStream(stream)
			}
			if _, err := conn.AcceptUniStream(conn.Context()); err == nil {
				_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeStreamCreationError), "")
			}
		}()
		go func() {
			for {
				request, err := conn.AcceptStream(conn.Context())
				if err != nil {
					return
				}
				go session.HandleRequestStream(request)
			}
		}()
	}
}

// readerFunc reads by a function.
type readerFunc func(into []byte) (int, error)

func (read readerFunc) Read(into []byte) (int, error) { return read(into) }
