package filterbench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// The program that asks C++ LevelDB, seen from the module's root, and the command that builds it.
const (
	CPPProgram = "testdata/leveldb/build/speed"
	CPPBuild   = "make -C testdata/leveldb build/speed"
)

// CPP is C++ LevelDB's own filter in a process of its own, testdata/leveldb/speed.cc. The README
// there describes the commands. Its times are its own clock's. Every error names the program and
// the command that failed; once the child has died every command fails.
type CPP struct {
	name, path string
	version    string
	queries    int // how many the child has
	child      *exec.Cmd
	stdin      io.WriteCloser
	stdout     io.ReadCloser
	out        *bufio.Writer // to stdin
	replies    *bufio.Reader // of stdout
	stderr     bytes.Buffer  // not to be read before the child was waited for
	died       error         // why the child, already waited for, replies no more
}

// StartCPP starts the program at path. Close ends it.
func StartCPP(name, path string, bits int) (*CPP, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: build C++ LevelDB's contestant: %s", err, CPPBuild)
	}
	c := &CPP{name: name, path: path, child: exec.Command(path)}
	c.child.Stderr = &c.stderr
	var err, err2 error
	c.stdin, err = c.child.StdinPipe()
	c.stdout, err2 = c.child.StdoutPipe()
	if err = errors.Join(err, err2); err == nil {
		err = c.child.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.out, c.replies = bufio.NewWriterSize(c.stdin, 1<<16), bufio.NewReader(c.stdout)
	if err := c.greet(bits); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *CPP) greet(bits int) error {
	version, err := c.ask("version")
	if err != nil {
		return err
	}
	version, ok := strings.CutPrefix(version, "C++ LevelDB ")
	if !ok { // some other program
		return c.unexpected("version", version)
	}
	c.version = version
	return c.tell(fmt.Sprintf("bits %d", bits))
}

func (c *CPP) Name() string     { return c.name }
func (c *CPP) Encoding() string { return LevelDBBloom }

// Version says which library is asked, and what compiled the loop around it.
func (c *CPP) Version() string { return c.version }

// Close ends the child, whatever happened before.
func (c *CPP) Close() error {
	if c.died != nil {
		return nil
	}
	c.died = errors.New("it is closed")
	if err := c.wait(); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}

// SetQueries: see Contestant.
func (c *CPP) SetQueries(q *Queries) error {
	if err := c.send(fmt.Sprintf("filters %d", q.Copies), q.Filters); err != nil {
		return err
	}
	c.queries = len(q.Keys)
	records := make([][]byte, len(q.Keys))
	for i, key := range q.Keys {
		records[i] = append(binary.LittleEndian.AppendUint32(nil, q.Index[i]), key...)
	}
	return c.send("queries", records)
}

// Lookup: see Contestant.
func (c *CPP) Lookup(pass int) (d time.Duration, matches int, err error) {
	err = c.scan(fmt.Sprintf("lookup %d 1", pass), "%d %d\n", &d, &matches)
	return d, matches, err
}

// Answers: see Contestant.
func (c *CPP) Answers() ([]bool, error) {
	reply, err := c.ask("answers")
	if err != nil {
		return nil, err
	}
	if len(reply) != c.queries || strings.Trim(reply, "01") != "" {
		return nil, c.unexpected("answers", reply)
	}
	answers := make([]bool, len(reply))
	for i := range answers {
		answers[i] = reply[i] == '1'
	}
	return answers, nil
}

// SetKeys: see Contestant.
func (c *CPP) SetKeys(keys [][]byte) error { return c.send("keys", keys) }

// Build: see Contestant.
func (c *CPP) Build(each int) (d time.Duration, err error) {
	err = c.scan(fmt.Sprintf("build %d 1", each), "%d\n", &d)
	return d, err
}

// BuildFilters: see Contestant.
func (c *CPP) BuildFilters(each int) (filters [][]byte, err error) {
	command := fmt.Sprintf("filtersof %d", each)
	var count int
	if err := c.scan(command, "%d\n", &count); err != nil {
		return nil, err
	}
	for range count {
		var size uint32
		err := binary.Read(c.replies, binary.LittleEndian, &size)
		filter := make([]byte, size)
		if err == nil {
			_, err = io.ReadFull(c.replies, filter)
		}
		if err != nil {
			return nil, c.dead(command, err)
		}
		filters = append(filters, filter)
	}
	if _, err := c.replies.ReadString('\n'); err != nil { // the end of the reply
		return nil, c.dead(command, err)
	}
	return filters, nil
}

// ask sends a command, with records if there are any, and returns the reply to it.
func (c *CPP) ask(command string, records ...[]byte) (string, error) {
	if c.died != nil {
		return "", fmt.Errorf("%s: %s: %w", c.path, command, c.died)
	}
	c.out.WriteString(command + "\n") // the writer keeps the first error for Flush
	for _, r := range records {
		c.out.Write(binary.LittleEndian.AppendUint32(c.out.AvailableBuffer(), uint32(len(r))))
		c.out.Write(r)
	}
	err := c.out.Flush()
	if err == nil {
		var reply string
		if reply, err = c.replies.ReadString('\n'); err == nil {
			return strings.TrimSuffix(reply, "\n"), nil
		}
	}
	return "", c.dead(command, err)
}

// dead ends the child, and returns why: how it ended says more than how the pipe to it did.
func (c *CPP) dead(command string, err error) error {
	if c.died = c.wait(); c.died == nil {
		c.died = fmt.Errorf("it ended without a reply: %w", err)
	}
	return fmt.Errorf("%s: %s: %w", c.path, command, c.died)
}

// tell sends a command whose reply says only that all went well.
func (c *CPP) tell(command string, records ...[]byte) error {
	reply, err := c.ask(command, records...)
	if err == nil && reply != "ok" {
		err = c.unexpected(command, reply)
	}
	return err
}

// send sends a command that ends with the number of records, and the records.
func (c *CPP) send(command string, records [][]byte) error {
	return c.tell(fmt.Sprintf("%s %d", command, len(records)), records...)
}

// scan sends a command whose reply is numbers.
func (c *CPP) scan(command, format string, numbers ...any) error {
	reply, err := c.ask(command)
	if err != nil {
		return err
	}
	if _, err := fmt.Sscanf(reply+"\n", format, numbers...); err != nil {
		return c.unexpected(command, reply)
	}
	return nil
}

func (c *CPP) unexpected(command, reply string) error {
	return fmt.Errorf("%s: %s: unexpected reply %.80q", c.path, command, reply)
}

// wait ends the child, unless it has ended, and returns the fault that it ended with. The closed
// pipes end any program that reads or writes them.
func (c *CPP) wait() error {
	c.stdin.Close()
	c.stdout.Close()
	err := c.child.Wait()
	if said := strings.TrimSpace(c.stderr.String()); err != nil && said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}
