// A straightforward checker of driftlab histories, to be measured against.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// The most bytes this process had resident, of Linux; 0 where the system does not tell.
func residentMax() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(status), "\n") {
		var kibibytes uint64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kibibytes); n == 1 {
			return kibibytes * 1024
		}
	}
	return 0
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: driftlab_go FILE")
		os.Exit(3)
	}
	history, err := readHistory(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	result := check(history)
	out := bufio.NewWriter(os.Stdout)
	result.print(out)
	out.Flush()
	fmt.Fprintln(os.Stderr, "memory", residentMax())
	os.Exit(result.exitCode())
}
