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
	"path/filepath"
	"strings"
	"time"
)

// The program that asks C++ LevelDB, seen from the module's root, and the command that builds it.
const (
	CPPProgram = "testdata/leveldb/build/speed"
	CPPBuild   = "make -C testdata/leveldb build/speed"
)

// CPP is C++ LevelDB's own filter in a process of its own, testdata/leveldb/speed.cc, which also
// describes the commands. Its times are its own clock's. Every error names the program and the
// command that failed; once the child has died every command fails.
type CPP struct {
	name, path string
	version    string
	queries    int    // how many the child has
	dir        string // the child's working directory: commands name files in it
	child      *exec.Cmd
	stdin      io.WriteCloser
	stdout     io.ReadCloser
	replies    *bufio.Reader // of stdout
	stderr     bytes.Buffer  // not to be read before the child was waited for
	died       error         // why the child, already waited for, replies no more
}

// StartCPP starts the program at path. Close ends it.
func StartCPP(name, path string, bits int) (*CPP, error) {
	program, err := filepath.Abs(path) // a relative one would be sought in the child's directory
	if err == nil {
		_, err = os.Stat(program)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: build C++ LevelDB's contestant: %s", err, CPPBuild)
	}
	c := &CPP{name: name, path: path, child: exec.Command(program)}
	if err == nil {
		c.dir, err = os.MkdirTemp("", "levelbloom-cpp-")
	}
	if err == nil {
		err = c.start()
	}
	if err != nil {
		os.RemoveAll(c.dir)
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := c.greet(bits); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *CPP) start() (err error) {
	c.child.Dir = c.dir
	c.child.SysProcAttr = ownProcessGroup
	c.child.Stderr = &c.stderr
	if c.stdin, err = c.child.StdinPipe(); err != nil {
		return err
	}
	if c.stdout, err = c.child.StdoutPipe(); err != nil {
		return err
	}
	c.replies = bufio.NewReader(c.stdout)
	return c.child.Start()
}

func (c *CPP) greet(bits int) error {
	version, err := c.ask("version")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(version, "C++ LevelDB ") { // some other program
		return c.unexpected("version", version)
	}
	c.version = strings.TrimPrefix(version, "C++ LevelDB ")
	return c.tell(fmt.Sprintf("bits %d", bits))
}

func (c *CPP) Name() string     { return c.name }
func (c *CPP) Encoding() string { return LevelDBBloom }

// Version says which library is asked, and what compiled the loop around it.
func (c *CPP) Version() string { return c.version }

// Close ends the child and removes its files, whatever happened before.
func (c *CPP) Close() error {
	var err error
	if c.died == nil {
		err = c.wait()
		c.died = errors.New("it is closed")
	}
	if err = errors.Join(err, os.RemoveAll(c.dir)); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}

// SetQueries: see Contestant.
func (c *CPP) SetQueries(q *Queries) error {
	err := c.send(
		"filters",
		len(q.Filters),
		func(w *bufio.Writer, i int) { writeString(w, q.Filters[i]) },
	)
	if err == nil {
		err = c.tell(fmt.Sprintf("copies %d", q.Copies))
	}
	if err != nil {
		return err
	}
	c.queries = len(q.Keys)
	return c.send("queries", len(q.Keys), func(w *bufio.Writer, i int) {
		writeNumber(w, q.Index[i])
		writeString(w, q.Keys[i])
	})
}

// Lookup: see Contestant.
func (c *CPP) Lookup(pass, repeat int) (total time.Duration, matches int, err error) {
	err = c.scan(fmt.Sprintf("lookup %d %d", pass, repeat), &total, &matches)
	return total, matches, err
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
func (c *CPP) SetKeys(keys [][]byte) error {
	return c.send("keys", len(keys), func(w *bufio.Writer, i int) { writeString(w, keys[i]) })
}

// Build: see Contestant.
func (c *CPP) Build(each, repeat int) (total time.Duration, err error) {
	var bytes int64
	err = c.scan(fmt.Sprintf("build %d %d", each, repeat), &total, &bytes)
	return total, err
}

// BuildFilters: see Contestant.
func (c *CPP) BuildFilters(each int) ([][]byte, error) {
	command := fmt.Sprintf("buildto %d filters", each)
	if err := c.tell(command); err != nil {
		return nil, err
	}
	path := filepath.Join(c.dir, "filters")
	content, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	filters, ok := splitStrings(content)
	if err == nil && !ok {
		err = errors.New("the file of filters is damaged")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", c.path, command, err)
	}
	return filters, nil
}

// ask sends a command and returns the reply to it.
func (c *CPP) ask(command string) (string, error) {
	if c.died != nil {
		return "", fmt.Errorf("%s: %s: %w", c.path, command, c.died)
	}
	_, err := fmt.Fprintln(c.stdin, command)
	if err == nil {
		var reply string
		if reply, err = c.replies.ReadString('\n'); err == nil {
			return strings.TrimSuffix(reply, "\n"), nil
		}
	}
	// How the child ended says more than how the pipe to it did.
	if c.died = c.wait(); c.died == nil {
		c.died = fmt.Errorf("it ended without a reply: %w", err)
	}
	return "", fmt.Errorf("%s: %s: %w", c.path, command, c.died)
}

// tell sends a command whose reply says only that all went well.
func (c *CPP) tell(command string) error {
	reply, err := c.ask(command)
	if err == nil && reply != "ok" {
		err = c.unexpected(command, reply)
	}
	return err
}

// scan sends a command whose reply is two numbers.
func (c *CPP) scan(command string, first, second any) error {
	reply, err := c.ask(command)
	if err != nil {
		return err
	}
	if _, err := fmt.Sscanf(reply+"\n", "%d %d\n", first, second); err != nil {
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

// send sends a command with a file of n records, which write writes. The file is gone afterwards.
func (c *CPP) send(command string, n int, write func(w *bufio.Writer, i int)) error {
	path := filepath.Join(c.dir, command)
	file, err := os.Create(path)
	if err == nil {
		w := bufio.NewWriterSize(file, 1<<20)
		writeNumber(w, uint32(n))
		for i := range n {
			write(w, i)
		}
		err = errors.Join(w.Flush(), file.Close()) // the writer keeps the first error for Flush
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", c.path, command, err)
	}
	if err := c.tell(command + " " + command); err != nil {
		return err
	}
	return os.Remove(path)
}

func writeNumber(w *bufio.Writer, n uint32) {
	w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), n))
}

func writeString(w *bufio.Writer, s []byte) {
	writeNumber(w, uint32(len(s)))
	w.Write(s)
}

// splitStrings returns the byte strings of content: their number, then each after its length.
func splitStrings(content []byte) (all [][]byte, ok bool) {
	number := func() (n uint32, ok bool) {
		if len(content) < 4 {
			return 0, false
		}
		n, content = binary.LittleEndian.Uint32(content), content[4:]
		return n, true
	}
	count, ok := number()
	for ; ok && count > 0; count-- {
		var n uint32
		if n, ok = number(); !ok || uint64(n) > uint64(len(content)) {
			return nil, false
		}
		all, content = append(all, content[:n:n]), content[n:]
	}
	return all, ok && len(content) == 0
}
