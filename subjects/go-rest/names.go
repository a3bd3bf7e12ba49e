package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// names hands out names of objects. Where they are reused, there are never more objects than uploads at one time:
// an emulator keeps them all in memory. Google's service refuses more than about one write a second to the same
// name, so there each upload gets a name of its own.
type names struct {
	reuse bool
	lock  sync.Mutex
	free  []string
	made  int
	run   string
}

func newNames(reuse bool) *names {
	return &names{reuse: reuse, run: fmt.Sprintf("%d-%d", time.Now().UnixNano(), os.Getpid())}
}

func (n *names) take() string {
	n.lock.Lock()
	defer n.lock.Unlock()
	if last := len(n.free) - 1; last >= 0 {
		name := n.free[last]
		n.free = n.free[:last]
		return name
	}
	n.made++
	return fmt.Sprintf("upload/%s/%d", n.run, n.made)
}

func (n *names) giveBack(name string) {
	if n.reuse {
		n.lock.Lock()
		defer n.lock.Unlock()
		n.free = append(n.free, name)
	}
}
