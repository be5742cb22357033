//go:build !unix

package filterbench

import "syscall"

var ownProcessGroup *syscall.SysProcAttr // there is none to keep
