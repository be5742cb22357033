//go:build unix

package filterbench

import "syscall"

// ownProcessGroup keeps a terminal's Ctrl-C from the child: it ends when the benchmark does, and
// its end is no fault then.
var ownProcessGroup = &syscall.SysProcAttr{Setpgid: true}
