// Package probe asks a server for all that a subject's contract promises (docs/contracts.md, section 4), and says of
// each point whether it was kept.
package probe

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `h123-go probe: the contract test of a server

  h123-go probe --plan FILE --checks FILE
      Asks a server what the plan (JSON) says and writes the checks (JSON), passed or not.

  h123-go probe --plan FILE --hold
      Makes one request, says "held" and stands still for ever, its connection open: what a probe leaves behind.

Exit status: 0 done (failed checks are in the file), 1 could not be done, 2 bad arguments or plan.
The files' formats: docs/contracts.md, section 4.
`

// Run executes the command and returns its exit status.
func Run(arguments []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("probe", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	from := flags.String("plan", "", "what to ask, JSON `file`")
	to := flags.String("checks", "", "where to write what came of it, JSON `file`")
	holds := flags.Bool("hold", false, "keep a connection open, nothing else")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	p, err := readPlan(*from)
	if err != nil {
		fmt.Fprintln(stderr, "h123-go probe:", err)
		return 2
	}
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer release()
	if *holds {
		err = p.hold(ctx)
	} else {
		err = write(*to, p.run(ctx))
	}
	if err != nil {
		fmt.Fprintln(stderr, "h123-go probe:", err)
		return 1
	}
	return 0
}

// check is one point of the contract and what came of it.
type check struct {
	Name   string `json:"check"`
	Passed bool   `json:"passed"`
	Detail string `json:"detail"`
}

func write(path string, checks []check) error {
	content := struct {
		Format string  `json:"h123"`
		Checks []check `json:"checks"`
	}{"checks/1", checks}
	data, err := json.MarshalIndent(content, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
