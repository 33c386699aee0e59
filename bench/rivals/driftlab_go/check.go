package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Anomaly is one thing that must not happen, with the operations that show it.
type Anomaly struct {
	Kind    string
	Process string
	Ops     []int
	Message string
}

// Recovery is how long a consumer took to catch up after the faults ended.
type Recovery struct {
	Process  string
	CaughtUp bool
	Took     time.Duration
}

// Result is the answer.
type Result struct {
	Invalid    []string
	Anomalies  []Anomaly
	Recoveries []Recovery
	Publishes  int
	Unknown    int
}

func (r *Result) verdict() string {
	if len(r.Invalid) > 0 {
		return "invalid"
	}
	if len(r.Anomalies) > 0 {
		return "failed"
	}
	return "clean"
}

func (r *Result) exitCode() int {
	return map[string]int{"clean": 0, "failed": 1, "invalid": 2}[r.verdict()]
}

func (r *Result) print(out io.Writer) {
	fmt.Fprintf(out, "verdict %s, %d of %d publishes unknown\n", r.verdict(), r.Unknown, r.Publishes)
	for _, reason := range r.Invalid {
		fmt.Fprintf(out, "invalid: %s\n", reason)
	}
	for _, a := range r.Anomalies {
		ops := strings.Trim(fmt.Sprint(a.Ops), "[]")
		fmt.Fprintf(out, "%s %s ops=[%s]: %s\n", a.Kind, a.Process, ops, a.Message)
	}
	for _, recovery := range r.Recoveries {
		if recovery.CaughtUp {
			fmt.Fprintf(out, "recovery %s: caught up %v after the faults ended\n", recovery.Process, recovery.Took.Round(time.Millisecond))
		} else {
			fmt.Fprintf(out, "recovery %s: never caught up after the faults ended\n", recovery.Process)
		}
	}
}

// What the final read found.
type finalRead struct {
	seqs   map[uint64]bool
	values map[uint64]bool
	last   uint64
	lastOp int
	start  int // index of the first read; -1: there is no final read
}

func check(history *History) *Result {
	result := &Result{}
	final := readFinal(history.Ops)
	acked := map[uint64]bool{}
	for i := range history.Ops {
		op := &history.Ops[i]
		if op.F != "publish" {
			continue
		}
		switch op.Type {
		case "invoke":
			result.Publishes++
		case "info":
			result.Unknown++
		case "ok":
			acked[op.StreamSeq] = true
		}
	}
	result.Invalid = invalidReasons(history, final, acked)
	result.Anomalies = append(result.Anomalies, deliveryAnomalies(history.Ops)...)
	if final.start >= 0 {
		result.Anomalies = append(result.Anomalies, stalls(history.Ops, final)...)
		result.Anomalies = append(result.Anomalies, lostWrites(history.Ops, final)...)
	}
	result.Anomalies = append(result.Anomalies, phantoms(history.Ops)...)
	result.Recoveries = recoveries(history.Ops)
	return result
}

func readFinal(ops []Op) *finalRead {
	final := &finalRead{seqs: map[uint64]bool{}, values: map[uint64]bool{}, start: -1}
	for i := range ops {
		op := &ops[i]
		if op.F != "read" {
			continue
		}
		if final.start < 0 {
			final.start = i
		}
		final.seqs[op.StreamSeq] = true
		final.values[op.Value] = true
		if op.StreamSeq > final.last {
			final.last = op.StreamSeq
			final.lastOp = i
		}
	}
	return final
}

func invalidReasons(history *History, final *finalRead, acked map[uint64]bool) []string {
	var reasons []string
	if final.start < 0 {
		reasons = append(reasons, "there is no final read")
	}
	var holes, first uint64
	for seq := uint64(1); seq <= final.last; seq++ {
		if final.seqs[seq] || acked[seq] {
			continue
		}
		if holes == 0 {
			first = seq
		}
		holes++
	}
	if holes > 0 {
		reasons = append(reasons, fmt.Sprintf(
			"the final read ends at sequence %d and lacks %d that no acknowledgement explains, the first at %d", final.last, holes, first))
	}
	for _, fault := range history.Meta.Faults {
		completed := false
		for i := range history.Ops {
			op := &history.Ops[i]
			completed = completed || (op.Process == "nemesis" && op.F == fault && op.Type == "ok")
		}
		if !completed {
			reasons = append(reasons, fmt.Sprintf("the declared fault %s never completed", fault))
		}
	}
	return reasons
}

// Of one consumer.
type consumer struct {
	seen  map[uint64]int // sequence to the index of its first delivery
	max   uint64
	maxOp int
}

type skip struct {
	anomaly     int
	process     string
	first, last uint64 // both inside
}

func deliveryAnomalies(ops []Op) []Anomaly {
	var anomalies []Anomaly
	var skips []skip
	consumers := map[string]*consumer{}
	for i := range ops {
		op := &ops[i]
		if op.F != "deliver" {
			continue
		}
		c := consumers[op.Process]
		if c == nil {
			c = &consumer{seen: map[uint64]int{}}
			consumers[op.Process] = c
		}
		seq := op.StreamSeq
		if before, again := c.seen[seq]; again {
			anomalies = append(anomalies, Anomaly{"duplicate", op.Process, []int{before, i},
				fmt.Sprintf("sequence %d was delivered again", seq)})
			continue
		}
		c.seen[seq] = i
		if seq < c.max {
			anomalies = append(anomalies, Anomaly{"nonmonotonic-poll", op.Process, []int{c.maxOp, i},
				fmt.Sprintf("sequence %d was delivered after %d", seq, c.max)})
			continue
		}
		if seq > c.max+1 {
			evidence := []int{i}
			if c.max > 0 {
				evidence = []int{c.maxOp, i}
			}
			skips = append(skips, skip{len(anomalies), op.Process, c.max + 1, seq - 1})
			anomalies = append(anomalies, Anomaly{Kind: "poll-skip", Process: op.Process, Ops: evidence})
		}
		c.max = seq
		c.maxOp = i
	}
	for _, s := range skips {
		late := 0
		for seq := s.first; seq <= s.last; seq++ {
			if _, ok := consumers[s.process].seen[seq]; ok {
				late++
			}
		}
		skipped := int(s.last - s.first + 1)
		anomalies[s.anomaly].Message = fmt.Sprintf("expected sequence %d, received %d: %d skipped, %d delivered late, %d never delivered",
			s.first, s.last+1, skipped, late, skipped-late)
	}
	return anomalies
}

func stalls(ops []Op, final *finalRead) []Anomaly {
	type state struct {
		known   int
		reached uint64
	}
	states := map[string]*state{}
	var order []string
	for i := range ops[:final.start] {
		op := &ops[i]
		delivers := op.F == "deliver"
		if !delivers && !(op.F == "subscribe" && op.Type == "ok") {
			continue
		}
		s := states[op.Process]
		if s == nil {
			s = &state{}
			states[op.Process] = s
			order = append(order, op.Process)
		}
		s.known = i
		if delivers && op.StreamSeq > s.reached {
			s.reached = op.StreamSeq
		}
	}
	var anomalies []Anomaly
	for _, process := range order {
		s := states[process]
		if s.reached >= final.last {
			continue
		}
		message := fmt.Sprintf("reached %d of %d before the final read", s.reached, final.last)
		if s.reached == 0 {
			message = fmt.Sprintf("received nothing before the final read; the stream ends at %d", final.last)
		}
		anomalies = append(anomalies, Anomaly{"stall", process, []int{s.known, final.lastOp}, message})
	}
	return anomalies
}

func lostWrites(ops []Op, final *finalRead) []Anomaly {
	var anomalies []Anomaly
	for i := range ops {
		op := &ops[i]
		if op.F != "publish" || op.Type != "ok" || final.values[op.Value] {
			continue
		}
		anomalies = append(anomalies, Anomaly{"lost-write", op.Process, []int{i},
			fmt.Sprintf("value %d, acknowledged at sequence %d, is not in the final read", op.Value, op.StreamSeq)})
	}
	return anomalies
}

func phantoms(ops []Op) []Anomaly {
	invoked := map[uint64]bool{}
	failed := map[uint64]bool{}
	for i := range ops {
		op := &ops[i]
		if op.F == "publish" && op.Type == "invoke" {
			invoked[op.Value] = true
		}
		if op.F == "publish" && op.Type == "fail" {
			failed[op.Value] = true
		}
	}
	var anomalies []Anomaly
	phantomOf := map[uint64]int{}
	for i := range ops {
		op := &ops[i]
		if op.F != "deliver" && op.F != "read" || invoked[op.Value] && !failed[op.Value] {
			continue
		}
		number, known := phantomOf[op.Value]
		if !known {
			number = len(anomalies)
			phantomOf[op.Value] = number
			message := fmt.Sprintf("value %d was never published", op.Value)
			if invoked[op.Value] {
				message = fmt.Sprintf("value %d appeared although its publish failed", op.Value)
			}
			anomalies = append(anomalies, Anomaly{Kind: "phantom", Process: op.Process, Message: message})
		}
		anomalies[number].Ops = append(anomalies[number].Ops, i)
	}
	return anomalies
}

func recoveries(ops []Op) []Recovery {
	end := -1
	for i := range ops {
		if ops[i].Process == "nemesis" && ops[i].Type == "ok" {
			end = i
		}
	}
	if end < 0 {
		return nil
	}
	var target uint64
	for i := range ops[:end] {
		op := &ops[i]
		if op.F == "publish" && op.Type == "ok" && op.StreamSeq > target {
			target = op.StreamSeq
		}
	}
	if target == 0 {
		return nil
	}
	received := map[string]map[uint64]bool{}
	numberOf := map[string]int{}
	var found []Recovery
	for i := range ops {
		op := &ops[i]
		if op.F != "deliver" {
			continue
		}
		if received[op.Process] == nil {
			received[op.Process] = map[uint64]bool{}
			numberOf[op.Process] = len(found)
			found = append(found, Recovery{Process: op.Process})
		}
		own := received[op.Process]
		if op.StreamSeq > target || own[op.StreamSeq] {
			continue
		}
		own[op.StreamSeq] = true
		if uint64(len(own)) == target {
			took := time.Duration(op.TimeNs - ops[end].TimeNs)
			if took < 0 {
				took = 0
			}
			found[numberOf[op.Process]].CaughtUp = true
			found[numberOf[op.Process]].Took = took
		}
	}
	return found
}
