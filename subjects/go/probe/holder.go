package probe

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// held is what a holder says when its connection is open and has been used.
const held = "held"

// leaveOpen leaves a process behind that holds a connection open, so that the server will be stopped with it.
func (p *plan) leaveOpen(context.Context) (string, error) {
	_, err := p.leaveHolder()
	return "", err
}

func (p *plan) leaveHolder() (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	holder := exec.Command(program, "probe", "--plan", p.path, "--hold")
	// With a session's leader the lab ends all of its session.
	holder.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	output, err := holder.StdoutPipe()
	if err != nil {
		return nil, err
	}
	holder.Stderr = holder.Stdout
	if err := holder.Start(); err != nil {
		return nil, err
	}
	said, _ := bufio.NewReader(output).ReadString('\n')
	if said = strings.TrimSpace(said); said != held {
		return nil, fmt.Errorf("%s (%v)", said, holder.Wait())
	}
	return holder, nil
}

// hold makes a request and stops this process, whose kernel keeps the connection: a client from which nothing comes
// any more, no answer to a polite request to close either.
func (p *plan) hold(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.Timeout))
	defer cancel()
	c, err := p.dial(ctx, p.tls())
	if err != nil {
		return err
	}
	defer c.close()
	if err := health(ctx, c); err != nil {
		return err
	}
	fmt.Println(held)
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	<-ctx.Done() // only who was made to go on comes here
	return nil
}
