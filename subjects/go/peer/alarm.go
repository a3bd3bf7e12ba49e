package peer

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm waits for a time of the monotonic clock. time.Sleep would do it only to the millisecond, which is how
// finely Go's poller waits, and an open loop counts every delay of its own as latency of the server; a timerfd
// wakes that poller on time.
type alarm struct{ timer *os.File }

func newAlarm() (*alarm, error) {
	descriptor, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot create a timer: %w", err)
	}
	return &alarm{os.NewFile(uintptr(descriptor), "timerfd")}, nil
}

func (a *alarm) close() { _ = a.timer.Close() }

// wait returns at the time `due` (as now counts it), at once if that is past, or with an error when ctx ends.
func (a *alarm) wait(ctx context.Context, due int64) error {
	if due <= now() {
		return ctx.Err()
	}
	stop := context.AfterFunc(ctx, func() { _ = a.timer.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err := a.control(func(descriptor int) error {
		at := unix.ItimerSpec{Value: unix.NsecToTimespec(due)}
		return unix.TimerfdSettime(descriptor, unix.TFD_TIMER_ABSTIME, &at, nil)
	})
	if err != nil {
		return fmt.Errorf("cannot set a timer: %w", err)
	}
	var expirations [8]byte
	_, err = a.timer.Read(expirations[:])
	return err
}

func (a *alarm) control(set func(descriptor int) error) error {
	raw, err := a.timer.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(descriptor uintptr) { failed = set(int(descriptor)) }); err != nil {
		return err
	}
	return failed
}
