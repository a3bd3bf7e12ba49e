package probe

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"
)

func TestWrongNegotiationFails(t *testing.T) {
	t.Run("ALPN", func(t *testing.T) {
		eachProtocol(t, []string{"h1", "h2"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{tls: func(config *tls.Config) {
				config.NextProtos = []string{"h2", "http/1.1"} // in the order of preference
				if protocol == "h2" {
					slices.Reverse(config.NextProtos)
				}
			}})
			p.AtOnce, p.InARow, p.Resume = 0, 0, 0
			mustFail(t, probe(t, p), []string{"ALPN"})
		})
	})
	t.Run("none", func(t *testing.T) {
		eachProtocol(t, []string{"h1", "h2"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{tls: func(config *tls.Config) { config.NextProtos = nil }})
			p.AtOnce, p.InARow, p.Resume = 0, 0, 0
			if found := probe(t, p); found["ALPN"].Passed != (protocol == "h1") {
				t.Errorf("%v", found)
			}
		})
	})
	t.Run("TLS 1.2", func(t *testing.T) {
		eachProtocol(t, []string{"h1", "h2"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{tls: func(config *tls.Config) { config.MaxVersion = tls.VersionTLS12 }})
			p.AtOnce, p.InARow, p.Resume = 0, 0, 0
			mustFail(t, probe(t, p), []string{"TLS"})
			p.TLS = "1.2"
			mustFail(t, probe(t, p), nil)
		})
	})
	t.Run("TLS 1.3 where 1.2 is asked for", func(t *testing.T) {
		eachProtocol(t, []string{"h1", "h2"}, func(t *testing.T, protocol string) {
			p := serve(t, protocol, good(), options{})
			p.TLS, p.AtOnce, p.InARow, p.Resume = "1.2", 0, 0, 0
			mustFail(t, probe(t, p), []string{"TLS"})
		})
	})
	t.Run("nobody", func(t *testing.T) {
		p := serve(t, "h1", good(), options{})
		p.Port = 1
		if found := probe(t, p); len(found) != 1 || found["connection"].Passed {
			t.Errorf("%v", found)
		}
	})
}

func TestOtherExchangesOfKeysFail(t *testing.T) {
	eachProtocol(t, everyProtocol, func(t *testing.T, protocol string) {
		p := serve(t, protocol, good(), options{tls: func(config *tls.Config) { config.CurvePreferences = []tls.CurveID{tls.CurveP256} }})
		p.AtOnce, p.InARow, p.Resume, p.Early = 0, 0, 0, false
		found := probe(t, p)
		mustFail(t, found, []string{"X25519 alone"})
		if seen := found["TLS"].Detail; !strings.Contains(seen, "HelloRetryRequest") {
			t.Error(seen)
		}
	})
}
