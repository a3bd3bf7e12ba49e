package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
)

// udpPatience is how long a client that falls back waits for HTTP/3, as browsers do where they know of no better.
const udpPatience = 250 * time.Millisecond

// fallback is the command `fallback`: each user tries HTTP/3 first, in vain, and then makes the requests over the
// protocol that was asked for, the first one cold, on a connection of its own.
func fallback(arguments []string) error {
	given, err := flags(arguments, "workload", "samples", "facts")
	if err != nil {
		return err
	}
	asked, config, err := readWorkload(given["workload"])
	if err != nil {
		return err
	}
	rows := []string{header}
	for user := range asked.Users {
		client := &http.Client{Transport: transport(asked.Protocol, asked.endpoint(), config), Timeout: time.Duration(asked.TimeoutNs)}
		start := monotonic()
		if err := tryUDP(asked.endpoint(), config); err != nil {
			return err
		}
		rows = append(rows, asked.row("cold", user, start, client))
		for range asked.Requests {
			rows = append(rows, asked.row("warm", user, monotonic(), client))
		}
	}
	return errors.Join(os.WriteFile(given["samples"], []byte(strings.Join(rows, "\n")+"\n"), 0o644),
		os.WriteFile(given["facts"], []byte(facts+"\n"), 0o644))
}

// tryUDP waits for a QUIC connection that does not come. It fails where one does: then nobody falls back.
func tryUDP(endpoint string, config *tls.Config) error {
	config = config.Clone()
	config.NextProtos = []string{alpn["h3"]}
	ctx, cancel := context.WithTimeout(context.Background(), udpPatience)
	defer cancel()
	conn, err := quic.DialAddr(ctx, endpoint, config, nil)
	if err != nil {
		return nil
	}
	_ = conn.CloseWithError(errorNone, "")
	return errors.New("UDP is not blocked, so there is nothing to fall back from")
}

// row makes one request, due at start, and is its row.
func (w *workload) row(phase string, user int, start int64, client *http.Client) string {
	var connected, sent, first int64
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		GotConn:              func(httptrace.GotConnInfo) { connected = monotonic() },
		WroteRequest:         func(httptrace.WroteRequestInfo) { sent = monotonic() },
		GotFirstResponseByte: func() { first = monotonic() },
	})
	status, down := 0, int64(0)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+w.Host+w.Path, nil)
	if err == nil {
		var response *http.Response
		if response, err = client.Do(request); err == nil {
			status = response.StatusCode
			down, err = w.taken(response.Body)
			_ = response.Body.Close()
		}
	}
	end := monotonic()
	failure, reused, ready := "", 0, strconv.FormatInt(connected, 10)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		failure = "other: no answer"
	}
	if phase != "cold" {
		reused, ready = 1, ""
	}
	carried := user
	if w.connection > 0 {
		carried = w.connection - 1
	}
	return fmt.Sprintf("%s,%d,%d,%s,%d,%d,%d,%d,0,%d,%s,%d,%d,%s,,",
		phase, user, start, ready, sent, first, end, status, down, w.Protocol, carried, reused, failure)
}

// taken reads the body of an answer.
func (w *workload) taken(body io.Reader) (int64, error) {
	if w.read != nil {
		return w.read(body)
	}
	return io.Copy(io.Discard, body)
}

func (w *workload) endpoint() string { return net.JoinHostPort(w.Address, strconv.Itoa(w.Port)) }

// readWorkload reads what to ask for, and what to trust.
func readWorkload(path string) (*workload, *tls.Config, error) {
	var asked workload
	written, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(written, &asked)
	}
	if err != nil {
		return nil, nil, err
	}
	roots, err := os.ReadFile(asked.CA)
	if err != nil {
		return nil, nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(roots)
	return &asked, &tls.Config{RootCAs: pool, ServerName: asked.Host, NextProtos: []string{alpn[asked.Protocol]}}, nil
}
