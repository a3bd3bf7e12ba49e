// Package spoil is a server that keeps the contract but for the bytes of its bodies: what clients under verification
// must notice.
package spoil

import (
	"context"
	"errors"
	"flag"
	"io"

	"h123.dev/subjects/go/peer"
)

// Run executes the command line of `serve`, with what is wrong beside it, and returns the exit status.
func Run(arguments []string, stderr io.Writer) int {
	return peer.Run(append([]string{"serve"}, arguments...), stderr, chosen)
}

// bodies are the wrong ones by name.
var bodies = map[string]func(count int64) io.Reader{
	"zeros":  func(count int64) io.Reader { return io.LimitReader(zeros{}, count) },
	"middle": middle,
}

// chosen declares the flag that chooses one of them.
func chosen(flags *flag.FlagSet) func(context.Context) (peer.Store, error) {
	var wrong store
	flags.Func("body", "what GET is answered with: `zeros`, or middle for one wrong byte there", func(name string) error {
		if wrong.body = bodies[name]; wrong.body == nil {
			return errors.New("must be zeros or middle")
		}
		return nil
	})
	return func(context.Context) (peer.Store, error) { return &wrong, nil }
}

// store has objects of all sizes, none of which is what it should be.
type store struct{ body func(count int64) io.Reader }

func (s *store) Upload(_ context.Context, body io.Reader) (int64, error) {
	return io.Copy(io.Discard, body)
}

func (s *store) Download(_ context.Context, count int64) (io.ReadCloser, error) {
	return io.NopCloser(s.body(count)), nil
}

type zeros struct{}

func (zeros) Read(into []byte) (int, error) {
	clear(into)
	return len(into), nil
}

// middle is the right body but for one byte.
func middle(count int64) io.Reader {
	right := peer.Body(count)
	before := io.LimitReader(right, count/2)
	return io.MultiReader(before, &flipped{one: io.LimitReader(right, 1)}, right)
}

// flipped has the lowest bit of each byte the other way round.
type flipped struct{ one io.Reader }

func (f *flipped) Read(into []byte) (int, error) {
	n, err := f.one.Read(into)
	for i := range into[:n] {
		into[i] ^= 1
	}
	return n, err
}
