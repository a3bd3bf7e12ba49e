package probe

import (
	"crypto/tls"
	"sync/atomic"
	"testing"
	"time"
)

func TestSessionsThatAreNotOfferedFail(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{tls: func(config *tls.Config) { config.SessionTicketsDisabled = true }})
		p.Timeout, p.AtOnce, p.InARow = int64(5*time.Second), 0, 0
		failing := []string{"resumption"}
		if p.Early {
			failing = append(failing, "0-RTT")
		}
		mustFail(t, probe(t, p), failing)
	})
}

func TestSessionsWithoutEarlyDataFail(t *testing.T) {
	t.Parallel()
	p := serve(t, "h3", good(), options{})
	p.AtOnce, p.InARow = 0, 0
	found := probe(t, p)
	mustFail(t, found, []string{"0-RTT"})
	if !found["resumption"].Passed {
		t.Error(found["resumption"].Detail)
	}
}

func TestSessionsThatOneProcessOfTwoKnowsFail(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{tls: func(config *tls.Config) {
			processes := [2]*tls.Config{config.Clone(), config.Clone()}
			for i, process := range processes {
				process.SetSessionTicketKeys([][32]byte{{byte(i + 1)}})
			}
			var connections atomic.Int64
			config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
				return processes[min(connections.Add(1)%3, 1)], nil
			}
		}})
		p.AtOnce, p.InARow, p.Early = 0, 0, false
		mustFail(t, probe(t, p), []string{"resumption"})
	})
}
