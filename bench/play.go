package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/levelbloom/levelbloom/bench/internal/play"
)

// playCommand serves a page to this machine alone, until Ctrl-C. It needs no network.
type playCommand struct {
	Port uint16 `help:"Port to listen on; 0 is any that is free." default:"0"`
	Open bool   `help:"Open the page in a browser, if there is one." default:"true" negatable:""`
}

// Run is the subcommand.
func (f *playCommand) Run(j *job) error {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(f.Port)))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--port %d: %w", f.Port, err)
	}
	url := "http://" + l.Addr().String()
	fmt.Fprintf(j.stdout, "%s shows filters at work. Ctrl-C ends it.\n", url)
	if f.Open {
		openInBrowser(url)
	}
	return play.Serve(j.ctx, l)
}

// openInBrowser does its best: the address is printed in any case.
func openInBrowser(url string) {
	command := exec.Command("xdg-open", url)
	switch runtime.GOOS {
	case "darwin":
		command = exec.Command("open", url)
	case "windows":
		command = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	default:
		if os.Getenv("DISPLAY")+os.Getenv("WAYLAND_DISPLAY") == "" {
			return // it would open in this terminal
		}
	}
	if command.Start() == nil {
		go func() { _ = command.Wait() }()
	}
}
