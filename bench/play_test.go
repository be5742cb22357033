package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlay(t *testing.T) {
	p := &process{Cmd: exec.Command(os.Args[0], "play", "-open=false"), dir: t.TempDir()}
	p.Env = append(os.Environ(), "LEVELBLOOM_BENCH_MAIN=1")
	p.Cmd.Stderr = &p.stderr
	stdout, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	url := regexp.MustCompile(`^http://127\.0\.0\.1:\d+`).FindString(line)
	require.NotEmpty(t, url, line)
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Contains(t, string(page), "What a filter knows")
	require.NoError(t, p.Process.Signal(os.Interrupt))
	r := p.finish(t)
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.stderr)
}
