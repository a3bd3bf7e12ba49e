package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBadPlansAreRefused(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"{}", `{"h123": "probe/2"}`, "no JSON"} {
		path := filepath.Join(t.TempDir(), "plan.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if status := Run([]string{"--plan", path, "--checks", path + ".out"}, t.Output()); status != 2 {
			t.Errorf("%s: exit status %d", content, status)
		}
	}
}

func TestDownloadsThatCannotBeHeldOpenAreNotAskedFor(t *testing.T) {
	t.Parallel()
	p := serve(t, "h2", good(), options{})
	p.Sizes = []int64{1, crowdWindow, 1_000_000}
	if _, err := readPlan(writePlan(t, p)); err == nil || !strings.Contains(err.Error(), "held open") {
		t.Errorf("%v", err)
	}
	p.AtOnce = 0
	if _, err := readPlan(writePlan(t, p)); err != nil {
		t.Error(err)
	}
}
