// Package scout finds out what a server speaks and answers of which nothing is known but its address
// (docs/contracts/scout.md).
package scout

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `h123-go scout: what a server speaks and answers

  h123-go scout --plan FILE --found FILE
      Makes the requests of the plan (JSON) over HTTP/1.1, HTTP/2 and HTTP/3 and writes what came of them (JSON).

Exit status: 0 done (what failed is in the file), 1 could not be done, 2 bad arguments or plan.
The files' formats: docs/contracts/scout.md.
`

const (
	planFormat  = "scout/1"
	foundFormat = "found/1"
)

// Run executes the command and returns its exit status.
func Run(arguments []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("scout", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	from := flags.String("plan", "", "what to ask, JSON `file`")
	to := flags.String("found", "", "where to write what came of it, JSON `file`")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	p, err := readPlan(*from)
	if err != nil {
		fmt.Fprintln(stderr, "h123-go scout:", err)
		return 2
	}
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer release()
	if err := write(*to, p.explore(ctx)); err != nil {
		fmt.Fprintln(stderr, "h123-go scout:", err)
		return 1
	}
	return 0
}

func readPlan(path string) (*plan, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the plan: %w", err)
	}
	var p plan
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if p.Format != planFormat {
		return nil, fmt.Errorf("%s: h123: only %s is understood here, not %q", path, planFormat, p.Format)
	}
	if len(p.Requests) == 0 || p.TimeoutNs < 1 || p.MostBytes < 1 || p.Times < 1 {
		return nil, fmt.Errorf("%s: requests, timeout_ns, most_bytes and times must be 1 or more", path)
	}
	if p.CAFile != nil {
		if p.trusted, err = readAuthorities(*p.CAFile); err != nil {
			return nil, fmt.Errorf("%s: ca_file: %w", path, err)
		}
	}
	for i, r := range p.Requests {
		if r.BodyFile == nil {
			continue
		}
		if p.Requests[i].body, err = os.ReadFile(*r.BodyFile); err != nil {
			return nil, fmt.Errorf("%s: body_file: %w", path, err)
		}
	}
	return &p, nil
}

func readAuthorities(path string) (*x509.CertPool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New("no certificate in it")
	}
	return pool, nil
}

func write(path string, f found) error {
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
