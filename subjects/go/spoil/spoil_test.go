package spoil

import (
	"bytes"
	"context"
	"flag"
	"io"
	"testing"

	"h123.dev/subjects/go/peer"
)

// served is what the server that was told so sends for count bytes.
func served(t *testing.T, body string, count int64) []byte {
	t.Helper()
	flags := flag.NewFlagSet("spoil", flag.ContinueOnError)
	open := chosen(flags)
	if err := flags.Parse([]string{"--body", body}); err != nil {
		t.Fatal(err)
	}
	store, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	object, err := store.Download(context.Background(), count)
	if err != nil {
		t.Fatal(err)
	}
	defer object.Close()
	data, err := io.ReadAll(object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBodiesAreWrongInTheirBytesAlone(t *testing.T) {
	t.Parallel()
	for _, count := range []int64{1, 1000, 65_536, 200_001} {
		right, err := io.ReadAll(peer.Body(count))
		if err != nil {
			t.Fatal(err)
		}
		if got := served(t, "zeros", count); !bytes.Equal(got, make([]byte, count)) {
			t.Errorf("%d zeros: %d other bytes", count, len(got))
		}
		got := served(t, "middle", count)
		if int64(len(got)) != count || got[count/2] == right[count/2] {
			t.Fatalf("%d bytes of %d, of which the middle one is right", len(got), count)
		}
		got[count/2] = right[count/2]
		if !bytes.Equal(got, right) {
			t.Errorf("more than the middle of %d bytes is wrong", count)
		}
	}
}

func TestAnUnknownBodyIsRefused(t *testing.T) {
	t.Parallel()
	if status := Run([]string{"--body", "ones"}, t.Output()); status != 2 {
		t.Errorf("exit status %d", status)
	}
}
