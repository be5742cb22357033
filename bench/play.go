package main

import (
	"fmt"
	"net"

	"github.com/levelbloom/levelbloom/bench/internal/play"
)

// playCommand serves a page to this machine alone, until Ctrl-C. It needs no network.
type playCommand struct {
	Port uint16 `help:"Port to listen on; 0 is any that is free." default:"0"`
}

// Run is the subcommand.
func (f *playCommand) Run(j *job) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port))
	if err != nil {
		return fmt.Errorf("--port %d: %w", f.Port, err)
	}
	const text = "http://%s shows filters at work: open it in a browser. Ctrl-C ends it.\n"
	fmt.Fprintf(j.stdout, text, l.Addr())
	return play.Serve(j.ctx, l)
}
