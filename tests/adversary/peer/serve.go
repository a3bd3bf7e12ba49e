package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
)

var alpn = map[string]string{"h1": "http/1.1", "h2": "h2", "h3": "h3"}

// patience is for a client that neither goes on with its handshake nor hangs up.
const patience = 10 * time.Second

// serve is the command `serve`. It stops on SIGTERM.
func serve(arguments []string) error {
	given, err := flags(arguments, "attack", "protocol", "address", "port", "cert", "key")
	if err != nil {
		return err
	}
	a, err := find(given["attack"], given["protocol"])
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(given["cert"], given["key"])
	if err != nil {
		return err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{alpn[given["protocol"]]}}
	if a.tls != nil {
		a.tls(config)
	}
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	endpoint := net.JoinHostPort(given["address"], given["port"])
	switch {
	case given["protocol"] != "h3":
		return serveTCP(stopped, endpoint, config, given["protocol"], a)
	case a.datagram != nil:
		socket, err := net.ListenPacket("udp", endpoint)
		if err != nil {
			return err
		}
		go a.datagram(socket)
		<-stopped.Done()
		return socket.Close()
	}
	return serveQUIC(stopped, endpoint, config, a)
}

func serveTCP(stopped context.Context, endpoint string, config *tls.Config, protocol string, a *attack) error {
	listener, err := net.Listen("tcp", endpoint)
	if err != nil {
		return err
	}
	context.AfterFunc(stopped, func() { _ = listener.Close() })
	for {
		socket, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go serveConnection(socket, config, protocol, a)
	}
}

func serveConnection(socket net.Conn, config *tls.Config, protocol string, a *attack) {
	defer socket.Close()
	if a.stream != nil {
		a.stream(socket)
		return
	}
	secure := tls.Server(socket, config)
	handshake, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if secure.HandshakeContext(handshake) != nil {
		return
	}
	if protocol == "h2" {
		http2Session(secure, a)
	} else {
		http1(secure, a)
	}
}

func serveQUIC(stopped context.Context, endpoint string, config *tls.Config, a *attack) error {
	terms := &quic.Config{}
	if a.quic != nil {
		a.quic(terms)
	}
	listener, err := quic.ListenAddr(endpoint, config, terms)
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept(stopped)
		if stopped.Err() != nil || errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go http3Connection(conn, a)
	}
}
