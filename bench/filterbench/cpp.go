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

// cppDefault is where `make -C testdata/leveldb build/speed` leaves the program, seen from the module's root.
const cppDefault = "testdata/leveldb/build/speed"

// cpp is C++ LevelDB in a process of its own: the program testdata/leveldb/speed.cc. Its times are its own clock's, so
// they hold nothing of the way between the two processes. Every error names the program and the command that failed;
// after the child has died every command fails. It is not safe for concurrent use.
type cpp struct {
	path    string
	version string
	queries int    // how many the child has
	dir     string // the child's working directory: commands name files in it
	child   *exec.Cmd
	stdin   io.WriteCloser
	stdout  io.ReadCloser
	replies *bufio.Reader // of stdout
	stderr  bytes.Buffer  // not to be read before the child was waited for
	died    error         // why the child, already waited for, replies no more
}

// startCPP starts the program at path; it builds filters with the given bits per key, and reads those of all settings.
func startCPP(path string, bits int) (*cpp, error) {
	program, err := filepath.Abs(path) // a relative one would be sought in the child's directory
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &cpp{path: path, child: exec.Command(program)}
	if c.dir, err = os.MkdirTemp("", "levelbloom-cpp-"); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := c.start(); err != nil {
		os.RemoveAll(c.dir)
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := c.greet(bits); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *cpp) start() (err error) {
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

func (c *cpp) greet(bits int) error {
	version, err := c.ask("version")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(version, "C++ LevelDB ") { // some other program
		return c.unexpected("version", version)
	}
	c.version = version
	return c.tell(fmt.Sprintf("bits %d", bits))
}

// Close ends the child and removes its files, whatever happened before.
func (c *cpp) Close() error {
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

// Version tells which library is asked, and what compiled the loop around it.
func (c *cpp) Version() string { return c.version }

// SetFilters sets the filters that queries name by their index, and how many copies of each there are in memory.
func (c *cpp) SetFilters(filters [][]byte, copies int) error {
	if err := c.send("filters", len(filters), func(w *bufio.Writer, i int) { writeString(w, filters[i]) }); err != nil {
		return err
	}
	return c.tell(fmt.Sprintf("copies %d", copies))
}

// SetQueries sets the queries: is keys[i] in the filter index[i]?
func (c *cpp) SetQueries(index []uint32, keys [][]byte) error {
	if len(index) != len(keys) {
		return fmt.Errorf("%s: queries: %d filters for %d keys", c.path, len(index), len(keys))
	}
	c.queries = len(keys)
	return c.send("queries", len(keys), func(w *bufio.Writer, i int) {
		writeNumber(w, index[i])
		writeString(w, keys[i])
	})
}

// Lookup answers all queries repeat times, each from one copy of its filter: copyOf tells which, for the passes pass to
// pass+repeat-1. It returns how long they took together, and how many answers were "may contain".
func (c *cpp) Lookup(pass, repeat int) (total time.Duration, matches int, err error) {
	err = c.scan(fmt.Sprintf("lookup %d %d", pass, repeat), &total, &matches)
	return total, matches, err
}

// Answers returns the answer to each query.
func (c *cpp) Answers() ([]bool, error) {
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

// SetKeys sets the keys of which Build and BuildFilters make filters.
func (c *cpp) SetKeys(keys [][]byte) error {
	return c.send("keys", len(keys), func(w *bufio.Writer, i int) { writeString(w, keys[i]) })
}

// Build makes a filter of every each keys, all of this repeat times. It returns how long that took, and the length of
// the filters of one time.
func (c *cpp) Build(each, repeat int) (total time.Duration, bytes int64, err error) {
	err = c.scan(fmt.Sprintf("build %d %d", each, repeat), &total, &bytes)
	return total, bytes, err
}

// BuildFilters returns the filters that Build makes.
func (c *cpp) BuildFilters(each int) ([][]byte, error) {
	command := fmt.Sprintf("buildto %d filters", each)
	if err := c.tell(command); err != nil {
		return nil, err
	}
	filters, err := c.readFile("filters")
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", c.path, command, err)
	}
	return filters, nil
}

// ask sends a command and returns the reply to it.
func (c *cpp) ask(command string) (string, error) {
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
func (c *cpp) tell(command string) error {
	reply, err := c.ask(command)
	if err == nil && reply != "ok" {
		err = c.unexpected(command, reply)
	}
	return err
}

// scan sends a command whose reply is two numbers.
func (c *cpp) scan(command string, first, second any) error {
	reply, err := c.ask(command)
	if err != nil {
		return err
	}
	if _, err := fmt.Sscanf(reply+"\n", "%d %d\n", first, second); err != nil {
		return c.unexpected(command, reply)
	}
	return nil
}

func (c *cpp) unexpected(command, reply string) error {
	return fmt.Errorf("%s: %s: unexpected reply %.80q", c.path, command, reply)
}

// wait ends the child, unless it has ended, and returns the fault that it ended with. The closed pipes end any program
// that reads or writes them.
func (c *cpp) wait() error {
	c.stdin.Close()
	c.stdout.Close()
	err := c.child.Wait()
	if said := strings.TrimSpace(c.stderr.String()); err != nil && said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// send sends a command with a file of n records, which write writes. The file is gone afterwards.
func (c *cpp) send(command string, n int, write func(w *bufio.Writer, i int)) error {
	if err := c.writeFile(command, n, write); err != nil {
		return fmt.Errorf("%s: %s: %w", c.path, command, err)
	}
	if err := c.tell(command + " " + command); err != nil {
		return err
	}
	return os.Remove(filepath.Join(c.dir, command))
}

func (c *cpp) writeFile(name string, n int, write func(w *bufio.Writer, i int)) error {
	file, err := os.Create(filepath.Join(c.dir, name))
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	writeNumber(w, uint32(n))
	for i := range n {
		write(w, i)
	}
	return errors.Join(w.Flush(), file.Close()) // the writer keeps the first error for Flush
}

func writeNumber(w *bufio.Writer, n uint32) {
	w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), n))
}

func writeString(w *bufio.Writer, s []byte) {
	writeNumber(w, uint32(len(s)))
	w.Write(s)
}

// readFile reads and removes a file of byte strings.
func (c *cpp) readFile(name string) ([][]byte, error) {
	path := filepath.Join(c.dir, name)
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	strs, ok := splitStrings(content)
	if !ok {
		return nil, fmt.Errorf("%s is damaged", name)
	}
	return strs, os.Remove(path)
}

// splitStrings returns the byte strings that are content but for their number and lengths.
func splitStrings(content []byte) (strs [][]byte, ok bool) {
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
		strs, content = append(strs, content[:n:n]), content[n:]
	}
	return strs, ok && len(content) == 0
}
