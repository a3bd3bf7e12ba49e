package probe

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestAConnectionIsLeftOpen(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		var open atomic.Int64
		p := serve(t, protocol, good(), options{open: &open})
		p.path = writePlan(t, p)
		holder, err := p.leaveHolder()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = holder.Process.Kill(); _ = holder.Wait() })
		time.Sleep(200 * time.Millisecond) // in which a client that ends has closed its connection
		if open.Load() != 1 {
			t.Errorf("%d connections are open", open.Load())
		}
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", holder.Process.Pid))
		if err != nil || !strings.Contains(string(state), ") T ") {
			t.Errorf("not stopped: %s, %v", state, err)
		}
	})
}

func TestNothingIsLeftOpenWhereNobodyAnswers(t *testing.T) {
	t.Parallel()
	p := serve(t, "h1", good(), options{})
	p.Port = 1
	p.path = writePlan(t, p)
	if _, err := p.leaveHolder(); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
}
