package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sys/unix"
)

const (
	header = "phase,user,start_ns,connected_ns,sent_ns,first_byte_ns,end_ns,status,bytes_up,bytes_down,protocol,connection,reused,error,group,resource"
	facts  = `{"h123": "client/1", "tls": [], "congestion": null, "notes": []}`
)

// workload is what of workload.json matters here.
type workload struct {
	Protocol  string
	Host      string
	Address   string
	Port      int
	CA        string
	Path      string
	Users     int
	Requests  int
	TimeoutNs int64 `json:"timeout_ns"`
	// Connections is "shared", "per-user", or a number.
	Connections any
	// read takes the body of an answer; nil: as quick as it comes.
	read func(io.Reader) (int64, error)
	// connection carries the requests, counted from 1; 0: each user has its own.
	connection int
}

// drive is the command `drive`.
func drive(arguments []string) error {
	given, err := flags(arguments, "assault", "workload", "samples", "facts")
	if err != nil {
		return err
	}
	asked, config, err := readWorkload(given["workload"])
	if err != nil {
		return err
	}
	assail, err := findAssault(given["assault"], asked.Protocol)
	if err != nil {
		return err
	}
	allowed := time.Duration(asked.TimeoutNs)
	ctx, cancel := context.WithTimeout(context.Background(), allowed)
	defer cancel()
	assail(&target{ctx, asked.endpoint(), asked.Host, config})
	row := honest(asked, config, allowed)
	return errors.Join(os.WriteFile(given["samples"], []byte(header+"\n"+row+",,\n"), 0o644),
		os.WriteFile(given["facts"], []byte(facts+"\n"), 0o644))
}

// honest makes the request that the workload asks for, as anybody would, and is its row.
func honest(asked *workload, config *tls.Config, allowed time.Duration) string {
	client := &http.Client{Transport: transport(asked.Protocol, asked.endpoint(), config), Timeout: allowed}
	start := monotonic()
	status, down := 0, int64(0)
	response, err := client.Get("https://" + asked.Host + asked.Path)
	if err == nil {
		status = response.StatusCode
		down, err = io.Copy(io.Discard, response.Body)
	}
	failure := ""
	if err != nil {
		fmt.Fprintln(os.Stderr, "after the assault:", err)
		failure = "other: no answer after the assault"
	}
	return fmt.Sprintf("warm,0,%d,,,,%d,%d,0,%d,%s,0,0,%s", start, monotonic(), status, down, asked.Protocol, failure)
}

func transport(protocol, endpoint string, config *tls.Config) http.RoundTripper {
	if protocol == "h3" {
		return &rerouted{&http3.Transport{TLSClientConfig: config}, endpoint, config.ServerName}
	}
	var protocols http.Protocols
	protocols.SetHTTP1(protocol == "h1")
	protocols.SetHTTP2(protocol == "h2")
	return &http.Transport{
		Protocols:       &protocols,
		TLSClientConfig: config,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "tcp", endpoint)
		},
	}
}

// rerouted sends requests to an endpoint, whatever host they name.
type rerouted struct {
	http.RoundTripper
	endpoint, host string
}

func (r *rerouted) RoundTrip(request *http.Request) (*http.Response, error) {
	again := request.Clone(request.Context())
	again.Host, again.URL.Host = r.host, r.endpoint
	return r.RoundTripper.RoundTrip(again)
}

// zeros is a body that never ends.
type zeros struct{}

func (zeros) Read(into []byte) (int, error) { return len(into), nil }

func uploads(protocol string) func(*target) {
	return func(t *target) {
		client := &http.Client{Transport: transport(protocol, t.endpoint, t.tls)}
		t.hold(few, func() error {
			request, err := http.NewRequestWithContext(t, http.MethodPost, "https://"+t.host+"/upload", zeros{})
			if err != nil {
				return err
			}
			response, err := client.Do(request)
			if err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
			}
			return err
		})
	}
}

func monotonic() int64 {
	var at unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &at)
	return at.Nano()
}
