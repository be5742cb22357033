package main

import (
	"context"
	"errors"
	"fmt"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/raft"
)

// A cluster is three nodes, each in a process of its own. After an error it does nothing more.
type cluster struct {
	ctx     context.Context // kills the processes
	variant int
	dir     string
	nodes   [3]*process
	err     error
}

type process struct {
	*rpc.Client
	cmd *exec.Cmd
}

// start starts a node, with the files that it has if it was there before, and has it join.
func (c *cluster) start(i int) {
	if c.err != nil {
		return
	}
	program, err1 := os.Executable()
	id := strconv.Itoa(i + 1)
	args := []string{"node", strconv.Itoa(c.variant), id, filepath.Join(c.dir, id)}
	cmd := exec.CommandContext(c.ctx, program, args...)
	cmd.Stderr = os.Stderr
	in, err2 := cmd.StdinPipe()
	out, err3 := cmd.StdoutPipe()
	if c.err = errors.Join(err1, err2, err3, cmd.Start()); c.err != nil {
		return
	}
	client := rpc.NewClient(conn{out, in})
	c.nodes[i] = &process{client, cmd}
	server := raft.Server{ID: raft.ServerID(id)}
	if c.err = client.Call("Node.Address", 0, &server.Address); c.err == nil {
		c.leader("Node.Join", server)
	}
}

// kill kills a node.
func (c *cluster) kill(i int) {
	if p := c.nodes[i]; p != nil && c.err == nil {
		c.err = p.cmd.Process.Kill()
		c.stop(i)
	}
}

// stop closes a node's standard input, and waits until the process has ended.
func (c *cluster) stop(i int) error {
	p := c.nodes[i]
	if p == nil {
		return nil
	}
	c.nodes[i] = nil
	p.Close()
	return p.cmd.Wait()
}

// leader calls a method of the leader, which may be any node. If there is none, or if there is
// another one before the method has returned, it tries again: the method may have an effect twice.
func (c *cluster) leader(method string, args any) (index uint64) {
	for ; c.err == nil; time.Sleep(10 * time.Millisecond) {
		for i, p := range c.nodes {
			if p == nil || c.err != nil {
				continue
			}
			err := p.Call(method, args, &index)
			if err == nil {
				return index
			}
			if _, answered := err.(rpc.ServerError); !answered { // its process has ended
				c.err = fmt.Errorf("node %d: %s: %w", i+1, method, err)
			}
		}
	}
	return 0
}

// call calls a method of every node that runs, and returns their answers.
func call[T any](c *cluster, method string, args any) (answers [3]T) {
	for i, p := range c.nodes {
		if p != nil && c.err == nil {
			if err := p.Call(method, args, &answers[i]); err != nil {
				c.err = fmt.Errorf("node %d: %s: %w", i+1, method, err)
			}
		}
	}
	return answers
}

// find looks keys up on every node, and returns how many each has.
func (c *cluster) find(keys [][]byte) (found [3]int) {
	for some := range slices.Chunk(keys, perEntry) {
		for i, n := range call[int](c, "Store.Find", some) {
			found[i] += n
		}
	}
	return found
}
