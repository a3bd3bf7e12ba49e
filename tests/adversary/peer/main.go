// h123-hostile is a server and a client that break HTTP's rules, or keep them and mean harm: what h123's clients,
// servers and lab are tested against. It is no subject: nothing is measured with it.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
)

const usage = `h123-hostile: a server and a client that attack the other side

  h123-hostile list
      Names all attacks, assaults and faults, as JSON.

  h123-hostile serve --attack NAME --protocol h1|h2|h3 --address A --port P --cert FILE --key FILE
      Answers every request with an attack.

  h123-hostile keep --but NAME --protocol h1|h2|h3 --address A --port P --cert FILE --key FILE
      Keeps the contract of a subject, but for one fault; "none": wholly.

  h123-hostile made --protocol h1|h2|h3 --address A --port P --cert FILE --key FILE [--think T, ...]
      Keeps the contract, and takes time for a reason that was chosen; --help lists the reasons.

  h123-hostile drive --assault NAME --workload FILE --samples FILE --facts FILE
      Assaults the server of a workload for the time that it allows a request, then makes one request like anybody's,
      which is the only row of the samples.

  h123-hostile fallback --workload FILE --samples FILE --facts FILE
      Tries HTTP/3 first, in vain, and then makes the requests of a workload.

  h123-hostile ask --workload FILE --samples FILE --facts FILE [--window BYTES, ...]
      Makes the requests of a workload, and lets servers send little at once, or reads slowly; --help lists how.
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "h123-hostile:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New(usage)
	}
	switch command, rest := arguments[0], arguments[1:]; command {
	case "list":
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"size": size, "attacks": attacks, "assaults": assaults, "faults": faults})
	case "serve":
		return serve(rest)
	case "keep":
		return keep(rest)
	case "made":
		return made(rest)
	case "drive":
		return drive(rest)
	case "fallback":
		return fallback(rest)
	case "ask":
		return ask(rest)
	}
	return errors.New(usage)
}

// flags reads options that are all of them needed.
func flags(arguments []string, names ...string) (map[string]string, error) {
	set := flag.NewFlagSet("h123-hostile", flag.ContinueOnError)
	read := map[string]*string{}
	for _, name := range names {
		read[name] = set.String(name, "", "")
	}
	if err := set.Parse(arguments); err != nil {
		return nil, err
	}
	values := map[string]string{}
	for name, value := range read {
		if *value == "" {
			return nil, fmt.Errorf("--%s is missing", name)
		}
		values[name] = *value
	}
	return values, nil
}
