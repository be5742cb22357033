package main

import (
	"context"
	"io"

	"github.com/levelbloom/levelbloom/bench/ratebench"
	"github.com/levelbloom/levelbloom/bench/report"
)

// crossingSizes returns what `bench rates -crossing` measures: of bits per key fine steps where the builder of binary fuse filters
// turns to blocked Bloom, and of keys two numbers too for which binary fuse is at its best in filters of up to 1,280 bytes.
func crossingSizes(quick bool) map[string]string {
	if quick {
		return map[string]string{"n": "1k", "bits": "11,11.5,12.5", "queries": "200000"}
	}
	return map[string]string{
		"n": "537,910,1k,2k,5k,10k,20k,100k,1M",
		"bits": "9,9.25,9.5,9.75,10,10.25,10.5,10.75,11,11.25,11.5,11.75,12,12.25,12.5,12.75,13,13.5,14,14.5,15,15.5,16,16.5,17,17.25,17.5,18," +
			"18.5,18.75,19,19.25,19.5,19.75,20,20.25,20.5,21,21.5,22,22.5,23,23.5,24,25,26,27,27.25,27.5,27.75,28,28.25,28.5,28.75,29,30",
		"queries": "60000000",
	}
}

// crossing compares blocked Bloom with binary fuse.
func crossing(ctx context.Context, config ratebench.Config, settings []report.Setting, stdout io.Writer) error {
	choices, err := config.Choices(ctx)
	if err != nil {
		return err
	}
	r := ratebench.CrossingReport{Settings: settings, Choices: choices}
	return r.WriteText(stdout)
}
