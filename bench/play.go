package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/levelbloom/levelbloom/bench/internal/play"
)

// playPage is the subcommand that serves a page that shows filters at work.
func playPage(ctx context.Context, args []string, stdout io.Writer) error {
	f := newFlags("play", "Serves a page to this machine alone, until Ctrl-C, that shows filters "+
		"at work: store keys, look one up, and see the bits that answer. It needs no network.")
	port := f.Uint("port", 0, "`port` to listen on; 0 is any that is free")
	browser := f.Bool("open", true, "open the page in a browser, if there is one")
	if err := f.parseOnly(args, stdout); err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.FormatUint(uint64(*port), 10))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("-port %d: %w", *port, err)
	}
	url := "http://" + l.Addr().String()
	fmt.Fprintf(stdout, "%s shows filters at work. Ctrl-C ends it.\n", url)
	if *browser {
		openInBrowser(url)
	}
	return play.Serve(ctx, l)
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
