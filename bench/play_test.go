package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPlay(t *testing.T) {
	p := start(t, t.TempDir(), "play")
	require.Eventually(t, func() bool { return strings.Contains(p.stdout.String(), "\n") },
		time.Minute, 5*time.Millisecond)
	url := regexp.MustCompile(`^http://127\.0\.0\.1:\d+`).FindString(p.stdout.String())
	require.NotEmpty(t, url)
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
