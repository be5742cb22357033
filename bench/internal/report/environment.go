package report

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// Environment says what a benchmark ran on.
type Environment struct {
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	GoMaxProcs int    `json:"gomaxprocs"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	GoVersion  string `json:"go_version"`
	Commit     string `json:"commit"`
}

// ThisEnvironment describes this machine and this program.
func ThisEnvironment() Environment {
	info, _ := os.ReadFile("/proc/cpuinfo") // which only Linux has
	return Environment{processor(string(info)), runtime.NumCPU(), runtime.GOMAXPROCS(0),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), commit()}
}

// processor returns the name of the first processor in Linux's list, with the family and the model
// that x86 processors have: several processors share a name.
func processor(info string) string {
	first, _, _ := strings.Cut(info, "\n\n")
	fields := map[string]string{}
	for _, line := range strings.Split(first, "\n") {
		name, value, _ := strings.Cut(line, ":")
		fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	name := fields["model name"]
	if name == "" {
		name = "unknown CPU"
	}
	if fields["cpu family"] != "" {
		name += fmt.Sprintf(" (family %s, model %s)", fields["cpu family"], fields["model"])
	}
	return name
}

// commit returns the commit of the source: what the build recorded, or, since `go run` in a clone
// records nothing, that of the working directory. Of bench@latest it is the module's version.
func commit() string {
	revision, dirty := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Sum != "" { // the module was downloaded
			return info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "-dirty"
			}
		}
	}
	if revision != "" {
		return revision[:min(12, len(revision))] + dirty
	}
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12",
		"--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func (e Environment) String() string {
	cores := "1 core"
	if e.Cores != 1 {
		cores = fmt.Sprintf("%d cores", e.Cores)
	}
	return fmt.Sprintf("%s, %s, GOMAXPROCS %d, %s/%s, %s, commit %s", e.CPU, cores,
		e.GoMaxProcs, e.OS, e.Arch, e.GoVersion, e.Commit)
}

// ModuleVersion returns the version of a module that this program was built with.
func ModuleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "unknown version"
}
