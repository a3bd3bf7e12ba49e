// Retries early data that the server rejected, on the connection that NextConnection returns.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func main() {
	var connections int
	address := serve(func() bool { connections++; return connections%2 == 1 })
	rejected, failed := 0, map[string]int{}
	for range 20 {
		secure := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h3"}, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
		first := dial(address, secure)
		must(get(first, http.MethodGet, address))
		time.Sleep(50 * time.Millisecond) // for the session ticket
		must(first.CloseWithError(0x100, ""))

		early := dial(address, secure)
		if !errors.Is(get(early, http3.MethodGet0RTT, address), quic.Err0RTTRejected) {
			continue
		}
		rejected++
		next, err := early.NextConnection(context.Background())
		must(err)
		if err := get(next, http.MethodGet, address); err != nil {
			failed[err.Error()]++
		}
	}
	total := 0
	for text, times := range failed {
		fmt.Println(times, "times:", text)
		total += times
	}
	fmt.Println(rejected, "rejected,", total, "failed when retried")
}

// serve accepts early data on the connections that accepts chooses.
func serve(accepts func() bool) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	certificate := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, certificate, certificate, &key.PublicKey, key)
	must(err)
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(err)
	server := &http3.Server{
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}},
		QUICConfig: &quic.Config{Allow0RTT: true, GetConfigForClient: func(*quic.ClientInfo) (*quic.Config, error) {
			time.Sleep(20 * time.Millisecond) // so that the request is sent before the answer arrives
			return &quic.Config{Allow0RTT: accepts()}, nil
		}},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1000)) }),
	}
	go func() { must(server.Serve(socket)) }()
	return socket.LocalAddr().String()
}

func dial(address string, secure *tls.Config) *quic.Conn {
	conn, err := quic.DialAddrEarly(context.Background(), address, secure, nil)
	must(err)
	return conn
}

func get(conn *quic.Conn, method, address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "https://"+address+"/", nil)
	must(err)
	response, err := new(http3.Transport).NewClientConn(conn).RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
