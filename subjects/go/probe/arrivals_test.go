package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestArrivalsAreWritten(t *testing.T) {
	t.Parallel()
	p := serve(t, "h3", good(), options{})
	p.Sizes, p.Arrivals = []int64{200_000}, filepath.Join(t.TempDir(), "arrivals.csv")
	found := probe(t, p)
	if len(found) != 1 || !found["download"].Passed {
		t.Fatalf("%v", found)
	}
	data, err := os.ReadFile(p.Arrivals)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(data)), "\n")
	if rows[0] != "at_ns,bytes" || len(rows) < 130 {
		t.Fatalf("%d rows after %s", len(rows)-1, rows[0])
	}
	total, last := 0, 0
	for _, row := range rows[1:] {
		var at, bytes int
		if _, err := fmt.Sscanf(row, "%d,%d", &at, &bytes); err != nil || at < last || bytes < 1 {
			t.Fatalf("%q after %d: %v", row, last, err)
		}
		total, last = total+bytes, at
	}
	if total < 200_000 || total > 250_000 {
		t.Errorf("%d bytes arrived", total)
	}
}
