package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// taking is how a client takes answers. Left as it is, it is as quick as it can be.
type taking struct {
	streamWindow, window int
	receiveBuffer        int
	piece                int64
	pause                time.Duration
}

// ask is the command `ask`: a cold request on each connection and the closed loop of a workload, by a client that lets
// servers send little at once, or reads slowly.
func ask(arguments []string) error {
	var t taking
	set := flag.NewFlagSet("h123-hostile ask", flag.ContinueOnError)
	set.IntVar(&t.streamWindow, "stream-window", goodWindow, "bytes of a stream that the server may send at once")
	set.IntVar(&t.window, "window", goodTotal, "bytes of a connection that the server may send at once")
	set.IntVar(&t.receiveBuffer, "receive-buffer", 0, "bytes of the socket's receive buffer")
	set.Int64Var(&t.piece, "piece", 0, "read answers in pieces of so many bytes")
	set.DurationVar(&t.pause, "pause", 0, "wait before each of them is read")
	from := set.String("workload", "", "file")
	samples := set.String("samples", "", "file")
	described := set.String("facts", "", "file")
	if err := set.Parse(arguments); err != nil {
		return err
	}
	asked, config, err := readWorkload(*from)
	if err != nil {
		return err
	}
	if name := os.Getenv("SSLKEYLOGFILE"); name != "" {
		keys, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		config.KeyLogWriter = keys
	}
	rows := append([]string{header}, t.closedLoop(asked, config)...)
	return errors.Join(os.WriteFile(*samples, []byte(strings.Join(rows, "\n")+"\n"), 0o644),
		os.WriteFile(*described, []byte(facts+"\n"), 0o644))
}

func (t *taking) closedLoop(asked *workload, config *tls.Config) (rows []string) {
	var users sync.WaitGroup
	gate := make(chan struct{})
	var mutex sync.Mutex
	asked.read = t.read
	var shared http.RoundTripper
	for user := range asked.Users {
		carrier := shared
		if carrier == nil {
			carrier = t.transport(asked, config)
		}
		if asked.Connections == "shared" && asked.Protocol != "h1" {
			shared = carrier
		}
		client := &http.Client{Transport: carrier, Timeout: time.Duration(asked.TimeoutNs)}
		of := *asked
		if of.connection = user + 1; shared != nil {
			of.connection = 1
		}
		if shared == nil || user == 0 {
			rows = append(rows, of.row("cold", user, monotonic(), client))
		}
		users.Go(func() {
			<-gate
			for range asked.Requests {
				row := of.row("warm", user, monotonic(), client)
				mutex.Lock()
				rows = append(rows, row)
				mutex.Unlock()
			}
		})
	}
	close(gate)
	users.Wait()
	return rows
}

// read takes the body of an answer, in the client's own time.
func (t *taking) read(body io.Reader) (count int64, err error) {
	if t.piece == 0 {
		return io.Copy(io.Discard, body)
	}
	for {
		time.Sleep(t.pause)
		n, err := io.CopyN(io.Discard, body, t.piece)
		count += n
		if err == io.EOF {
			return count, nil
		}
		if err != nil {
			return count, err
		}
	}
}

func (t *taking) transport(asked *workload, config *tls.Config) http.RoundTripper {
	if asked.Protocol == "h3" {
		return &http3.Transport{TLSClientConfig: config, DisableCompression: true, QUICConfig: &quic.Config{
			InitialStreamReceiveWindow: uint64(t.streamWindow), MaxStreamReceiveWindow: uint64(t.streamWindow),
			InitialConnectionReceiveWindow: uint64(t.window), MaxConnectionReceiveWindow: uint64(t.window),
		}, Dial: func(ctx context.Context, _ string, config *tls.Config, terms *quic.Config) (*quic.Conn, error) {
			return quic.DialAddr(ctx, asked.endpoint(), config, terms)
		}}
	}
	carrier := transport(asked.Protocol, asked.endpoint(), config).(*http.Transport)
	carrier.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: t.streamWindow, MaxReceiveBufferPerConnection: t.window}
	carrier.ReadBufferSize = 4 << 10
	if t.receiveBuffer > 0 {
		f := &fault{room: t.receiveBuffer}
		dialer := net.Dialer{Control: f.receiveBuffer}
		carrier.DialTLSContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			socket, err := dialer.DialContext(ctx, "tcp", asked.endpoint())
			if err != nil {
				return nil, err
			}
			secure := tls.Client(socket, config)
			return secure, secure.HandshakeContext(ctx)
		}
	}
	return carrier
}
