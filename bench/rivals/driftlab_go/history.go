package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Meta is the first record of a history.
type Meta struct {
	Type     string   `json:"type"`
	Client   string   `json:"client"`
	Scenario string   `json:"scenario"`
	Faults   []string `json:"faults"`
}

// Op is one operation; a number that is 0 is absent.
type Op struct {
	Index     int             `json:"index"`
	TimeNs    int64           `json:"time_ns"`
	Process   string          `json:"process"`
	Type      string          `json:"type"`
	F         string          `json:"f"`
	Value     uint64          `json:"value"`
	StreamSeq uint64          `json:"stream_seq"`
	Error     string          `json:"error"`
	Detail    json.RawMessage `json:"detail"`
}

// History is a file, read.
type History struct {
	Meta Meta
	Ops  []Op
}

const lineBytesMax = 64 * 1024

func readHistory(path string) (*History, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	history := &History{}
	hasMeta := false
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, lineBytesMax)
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if !hasMeta {
			if err := readMeta(line, &history.Meta); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			hasMeta = true
			continue
		}
		var op Op
		if err := json.Unmarshal(line, &op); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if err := op.validate(len(history.Ops)); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		history.Ops = append(history.Ops, op)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", number+1, err)
	}
	if !hasMeta {
		return nil, fmt.Errorf("empty: the meta line is missing")
	}
	return history, nil
}

func readMeta(line []byte, meta *Meta) error {
	if err := json.Unmarshal(line, meta); err != nil {
		return err
	}
	if meta.Type != "meta" {
		return fmt.Errorf("the first record is %q, not meta", meta.Type)
	}
	if meta.Client == "" || meta.Scenario == "" {
		return fmt.Errorf("the meta record lacks client or scenario")
	}
	return nil
}

func (op *Op) validate(index int) error {
	if op.Index != index {
		return fmt.Errorf("index %d, expected %d", op.Index, index)
	}
	switch op.Type {
	case "invoke", "ok", "fail", "info":
	default:
		return fmt.Errorf("unknown type %q", op.Type)
	}
	if op.Process == "" || op.F == "" {
		return fmt.Errorf("process or f is missing")
	}
	switch op.F {
	case "publish":
		if op.Value == 0 {
			return fmt.Errorf("publish without value")
		}
		if op.Type == "ok" && op.StreamSeq == 0 {
			return fmt.Errorf("acknowledged publish without stream_seq")
		}
	case "deliver", "read":
		if op.Type != "ok" {
			return fmt.Errorf("%s of type %s", op.F, op.Type)
		}
		if op.Value == 0 || op.StreamSeq == 0 {
			return fmt.Errorf("%s without value or stream_seq", op.F)
		}
	}
	return nil
}
