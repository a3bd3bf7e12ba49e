// Package peer is both ends of an HTTP connection as a program: an HTTP server and a load generator on net/http
// (HTTP/1.1, HTTP/2) and quic-go (HTTP/3).
package peer

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Exit statuses, as docs/contracts.md defines them for every role.
const (
	exitDone        = 0
	exitFailed      = 1
	exitBadInput    = 2
	exitUnsupported = 127
)

const usage = `h123-go: the Go server and client of h123 (net/http, quic-go)

  h123-go serve --address A --port P --protocol h1|h2|h3 --tls 1.3|1.2 --cert FILE --key FILE --qlog FOLDER --initial-window N
      Serves one protocol: GET /bytes/<n>, POST /upload, GET /health. Stops on SIGTERM. With h3, a qlog file of each
      connection goes to FOLDER, unless that is empty, and senders begin with N packets, unless that is.

  h123-go origin --address A --port P
      Serves the same over HTTP/1.1 without TLS, for a server that passes requests on.

  h123-go balance --by address|connection-id --servers N --address A --port P --cert FILE --key FILE
      Serves the same over HTTP/3 from N servers behind a load balancer of layer 4.

  h123-go drive --workload FILE --samples FILE --facts FILE --initial-window N
      Runs a workload (JSON) against a server and writes one CSV row for every request,
      and the facts of its connections (JSON).

Example, in two terminals:
  h123-go serve --address 127.0.0.1 --port 4443 --protocol h3 --tls 1.3 --cert server.pem --key server.key --qlog "" --initial-window ""
  h123-go drive --workload workload.json --samples samples.csv --facts client.json --initial-window ""

Exit status: 0 done (failed requests are rows), 1 could not be done, 2 bad arguments or workload,
127 what the workload asks for is not supported. The files' formats: docs/contracts.md, section 4.
`

// Run executes one command line and returns its exit status. The server keeps bodies as objects of the storage, if
// it is given one and its flags choose so; nil: it makes bodies up and discards them.
func Run(arguments []string, stderr io.Writer, storage Storage) int {
	command := ""
	if len(arguments) > 0 {
		command = arguments[0]
	}
	var err error
	switch command {
	case "serve":
		err = serve(arguments[1:], stderr, storage)
	case "origin":
		err = serveOrigin(arguments[1:], stderr)
	case "balance":
		err = balance(arguments[1:], stderr)
	case "drive":
		err = drive(arguments[1:], stderr)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stderr, usage)
		return exitDone
	default:
		err = failure{exitBadInput, fmt.Errorf("unknown command %q: it is serve, origin, balance or drive (see h123-go --help)", command)}
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	fmt.Fprintln(stderr, "h123-go:", err)
	if failed, ok := errors.AsType[failure](err); ok {
		return failed.status
	}
	return exitFailed
}

// failure is an error with the exit status it deserves; any other error exits 1.
type failure struct {
	status int
	error
}

func (f failure) Unwrap() error { return f.error }

// keyShareFlag has a default, so that command lines from before it was there still work.
const keyShareFlag = "key-share"

// parse reads a command's flags. All others are required: a subject is started by a program, and a default would hide
// that program's mistake.
func parse(flags *flag.FlagSet, arguments []string, stderr io.Writer) error {
	flags.SetOutput(stderr)
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return failure{exitBadInput, errors.New("bad arguments, see above")}
	}
	if flags.NArg() > 0 {
		return failure{exitBadInput, fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var missing error
	flags.VisitAll(func(f *flag.Flag) {
		if missing == nil && !given[f.Name] && f.Name != keyShareFlag {
			missing = failure{exitBadInput, fmt.Errorf("--%s is missing: %s", f.Name, f.Usage)}
		}
	})
	return missing
}
