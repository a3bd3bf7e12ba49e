package probe

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

func TestLimitsOfTheServerFail(t *testing.T) {
	t.Run("streams", func(t *testing.T) {
		eachProtocol(t, []string{"h2", "h3"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{streams: 30, quic: quic.Config{MaxIncomingStreams: 30}})
			p.Timeout, p.InARow, p.Resume, p.Early = int64(10*time.Second), 0, 0, false
			found, failing := probe(t, p), []string{"100 downloads at once", "100 uploads at once"}
			mustFail(t, found, failing)
			for _, name := range failing {
				if said := found[name].Detail; !strings.Contains(said, " of 100 had begun") {
					t.Errorf("%s: %s", name, said)
				}
			}
		})
	})
	t.Run("streams in turn", func(t *testing.T) {
		eachProtocol(t, []string{"h2", "h3"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{streams: 30, quic: quic.Config{MaxIncomingStreams: 30}})
			p.Timeout, p.Methods, p.InTurn, p.InARow, p.Resume, p.Early = int64(10*time.Second), nil, true, 0, 0, false
			if found := probe(t, p); !found["100 downloads at once"].Passed {
				t.Error(found)
			}
		})
	})
	t.Run("requests", func(t *testing.T) {
		eachProtocol(t, []string{"h1"}, func(t *testing.T, protocol string) {
			asked := 0
			p := serve(t, protocol, broken("/bytes/1", func(w http.ResponseWriter, r *http.Request) {
				if asked++; asked%150 == 0 {
					w.Header().Set("Connection", "close")
				}
				good().ServeHTTP(w, r)
			}), options{})
			p.Sizes, p.AtOnce, p.Resume = []int64{0}, 0, 0
			mustFail(t, probe(t, p), []string{"200 requests on a connection"})
		})
	})
}

func TestLimitsAreTold(t *testing.T) {
	eachProtocol(t, []string{"h2", "h3"}, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{streams: 77, quic: quic.Config{MaxIncomingStreams: 77}})
		p.AtOnce, p.InARow, p.Resume, p.Early = 0, 0, 0, false
		if seen := probe(t, p)["limits"].Detail; !strings.Contains(seen, ", 77 requests at a time") {
			t.Error(seen)
		}
	})
}

func TestAConnectionThatEndsWhenItIsIdleFails(t *testing.T) {
	eachProtocol(t, []string{"h1", "h2"}, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{idle: 500 * time.Millisecond})
		p.AtOnce, p.InARow, p.Resume, p.Idle = 0, 0, 0, int64(2*time.Second)
		mustFail(t, probe(t, p), []string{"a connection idle for 2s"})
		p.Idle = int64(time.Millisecond)
		if found := probe(t, p); !found["a connection idle for 1ms"].Passed {
			t.Error(found)
		}
	})
}

func TestALittleIdlenessAnnouncedFails(t *testing.T) {
	t.Parallel()
	p := serve(t, "h3", good(), options{quic: quic.Config{MaxIdleTimeout: 20 * time.Second}})
	p.AtOnce, p.InARow, p.Resume, p.Early = 0, 0, 0, false
	mustFail(t, probe(t, p), []string{"limits"})
}
