package report

import (
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Environment says what a benchmark ran on, and when.
type Environment struct {
	CPU       string `json:"cpu"`
	Cores     int    `json:"cores"` // that the program uses (GOMAXPROCS)
	OS        string `json:"os"`
	Arch      string `json:"arch"`
	GoVersion string `json:"go_version"`
	Commit    string `json:"commit"`
	Date      string `json:"date"`
}

// ThisEnvironment describes this machine and this program, today.
func ThisEnvironment() Environment {
	return Environment{processor(), runtime.GOMAXPROCS(0), runtime.GOOS,
		runtime.GOARCH, runtime.Version(), Commit(), time.Now().Format(time.DateOnly)}
}

// processor returns the processor's name, with the family and the model that x86 processors have:
// several processors share a name.
func processor() string {
	name := cpuid.CPU.BrandName
	if name == "" {
		name = "unknown CPU"
	}
	if cpuid.CPU.Family != 0 {
		name += fmt.Sprintf(" (family %d, model %d)", cpuid.CPU.Family, cpuid.CPU.Model)
	}
	return name
}

// Commit returns the version of the module, which names the commit, or that of the working
// directory: `go run` in a clone records none.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12",
		"--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func (e Environment) String() string {
	return fmt.Sprintf("%s, GOMAXPROCS %d, %s/%s, %s, commit %s", e.CPU, e.Cores, e.OS, e.Arch,
		e.GoVersion, e.Commit)
}
