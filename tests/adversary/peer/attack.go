package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"slices"

	"github.com/quic-go/quic-go"
	"golang.org/x/net/http2"
)

// size is the bytes of the body that every trial with an attack asks for, down or up.
const size = 100_000

// attack is what the server does to its clients: one function for any protocol, or one for each that it is about.
type attack struct {
	name string
	does string
	// upload: it is made on requests that bring a body.
	upload bool
	// answers: a client that bears with it is given what it asked for, so it may call the request a success.
	answers bool
	any     func(exchange) error
	h1      func(*exchange1) error
	h2      func(*exchange2) error
	h3      func(*exchange3) error
	// What is done before there is a request.
	tls      func(*tls.Config)
	stream   func(net.Conn)
	datagram func(net.PacketConn)
	settings []http2.Setting
	quic     func(*quic.Config)
}

// protocols is those that the attack is made over.
func (a *attack) protocols() []string {
	whole := a.any != nil || a.tls != nil
	over := map[string]bool{
		"h1": whole || a.h1 != nil || a.stream != nil,
		"h2": whole || a.h2 != nil || a.stream != nil,
		"h3": whole || a.h3 != nil || a.datagram != nil,
	}
	return slices.DeleteFunc([]string{"h1", "h2", "h3"}, func(protocol string) bool { return !over[protocol] })
}

func (a attack) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"name": a.name, "does": a.does, "protocols": a.protocols(), "upload": a.upload, "answers": a.answers,
	})
}

// find is the attack of that name over the protocol.
func find(name, protocol string) (*attack, error) {
	for i := range attacks {
		if a := &attacks[i]; a.name == name && slices.Contains(a.protocols(), protocol) {
			return a, nil
		}
	}
	return nil, errors.New("there is no attack " + name + " over " + protocol)
}

type field struct{ name, value string }

// exchange is the answering side of one request. Every method returns an error once the client is out of reach.
type exchange interface {
	// head sends a whole header; that of a final status begins the body.
	head(status int, fields ...field) error
	// open begins a header that more goes on with; with status 0 it is the trailers of a body that has ended.
	open(status int) error
	more(fields ...field) error
	// write sends a part of the body, as the client takes it.
	write(part []byte) error
	// end ends the answer in good order.
	end() error
	// reset abandons the answer, as the protocol has it.
	reset() error
	// hangUp ends the connection.
	hangUp() error
	// raw sends bytes in place of what the protocol's framing wants.
	raw(data []byte) error
	// wait returns when the client has gone.
	wait() error
}
