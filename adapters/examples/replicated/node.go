package main

import (
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

// A node is a member of the Raft cluster, in a process of its own.
type node struct {
	raft    *raft.Raft
	address raft.ServerAddress
}

// serve runs the node whose files are in dir. The process that started it calls it through the
// standard input and output, and ends it by closing them. Node 1 makes a cluster of itself, which
// the others join.
func serve(id, dir string, v variant) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// Until this process has the log, the files in dir may be those of another one that runs.
	// Without a timeout, it would wait until that has ended.
	log, err := raftboltdb.New(raftboltdb.Options{
		Path: filepath.Join(dir, "log"), BoltOptions: &bbolt.Options{Timeout: time.Second},
	})
	if err != nil {
		return fmt.Errorf("the log in %s, which another process may have open: %w", dir, err)
	}
	// At each start, Raft restores its last snapshot, and applies the entries after it.
	s := &store{variant: v, dir: filepath.Join(dir, "store")}
	err1 := errors.Join(os.RemoveAll(s.dir), os.Mkdir(s.dir, 0o700), s.open())
	snapshots, err2 := raft.NewFileSnapshotStore(dir, 1, io.Discard)
	// Whoever can connect to this port can write: see the package comment.
	transport, err3 := raft.NewTCPTransport("127.0.0.1:0", nil, 3, 10*time.Second, io.Discard)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	config := raft.DefaultConfig()
	config.LocalID = raft.ServerID(id)
	config.LogOutput = io.Discard
	config.TrailingLogs = 1 // so that a node that was away needs a snapshot
	r, err := raft.NewRaft(config, s, log, log, snapshots, transport)
	if err != nil {
		return err
	}
	if id == "1" {
		self := []raft.Server{{ID: config.LocalID, Address: transport.LocalAddr()}}
		err := r.BootstrapCluster(raft.Configuration{Servers: self}).Error()
		if err != nil && err != raft.ErrCantBootstrap { // at a second start
			return err
		}
	}
	err = errors.Join(rpc.RegisterName("Node", &node{r, transport.LocalAddr()}),
		rpc.RegisterName("Store", s))
	rpc.ServeConn(conn{os.Stdin, os.Stdout})
	return err
}

// A conn is one end of the connection between a node and the process that started it.
type conn struct {
	io.Reader
	io.WriteCloser
}

func (n *node) Address(_ int, address *raft.ServerAddress) error {
	*address = n.address
	return nil
}

// Join adds a node to the cluster, or gives it a new address. Only the leader can.
func (n *node) Join(s raft.Server, _ *uint64) error {
	return n.raft.AddVoter(s.ID, s.Address, 0, 0).Error()
}

// Propose returns when a majority has the entry, and with its index. Only the leader can. If the
// store refuses the entry, Propose returns its error.
func (n *node) Propose(entry []byte, index *uint64) error {
	f := n.raft.Apply(entry, 10*time.Second)
	if err := f.Error(); err != nil {
		return err
	}
	*index = f.Index()
	err, _ := f.Response().(error)
	return err
}

// Snapshot makes a snapshot, as Raft does by itself from time to time.
func (n *node) Snapshot(int, *int) error { return n.raft.Snapshot().Error() }
