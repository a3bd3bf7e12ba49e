package main

import (
	"net"
	"time"
)

// shortly is long enough for a ClientHello to leave.
func shortly() { time.Sleep(time.Millisecond) }

const request1 = "GET " + large + " HTTP/1.1\r\nhost: h123.test\r\n"

func say(conn net.Conn, text string) error {
	_, err := conn.Write([]byte(text))
	return err
}

func slow1(t *target) {
	t.hold(many, func() error {
		conn, err := t.secure()
		if err != nil {
			return err
		}
		defer conn.Close()
		return forever(say(conn, request1), func() error { time.Sleep(second); return say(conn, "x-slow: 1\r\n") })
	})
}

func huge1(t *target) {
	t.hold(few, func() error {
		conn, err := t.secure()
		if err != nil {
			return err
		}
		defer conn.Close()
		return forever(say(conn, request1), func() error { return say(conn, filler.name+": "+filler.value+"\r\n") })
	})
}

func unread1(t *target) {
	t.hold(few, func() error {
		conn, err := t.secure()
		if err != nil {
			return err
		}
		defer conn.Close()
		return forever(nil, func() error { return say(conn, request1+"\r\n") })
	})
}
