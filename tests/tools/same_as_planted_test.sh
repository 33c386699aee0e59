#!/bin/sh
# tools/same-as-planted agrees with equal lists however they are written, and names each difference.
set -eu
tool=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

expect() {  # CODE TEXT: what the tool must do with truth and result
  code=0
  said=$("$tool" truth result 2>&1) || code=$?
  if [ "$code" != "$1" ]; then echo "exit $code instead of $1: $said"; exit 1; fi
  case $said in *"$2"*) ;; *) echo "said '$said' without '$2'"; exit 1 ;; esac
}

printf '%s\n' '{"kind":"lose","code":"lost","blame":"log","group":"g","key":"r1.0.1.0.3","first":7,"last":7,"partition":2,"count":1}' \
  '{"kind":"lose","code":"lost","blame":"log","group":"g","key":"r1.0.1.0.3","first":8,"last":8,"partition":2,"count":1}' \
  '{"kind":"lose","code":"lost","blame":"log","group":"g","key":"r1.0.1.1.0","first":4,"last":4,"partition":0,"count":1}' > truth
result() {  # COUNTS FINDINGS
  printf '{\n  "verdict": "failed",\n  "counts": {\n    %s\n  },\n  "allowed": {"duplicate-delivery": 2},\n  "findings": [%s]\n}\n' "$1" "$2" > result
}
one='{"code": "lost", "blame": "log", "group": "g", "key": "r1.0.1.0.3", "first": 7, "last": 8, "records": 2, "positions": []}'
two='{"code":"lost","key":"r1.0.1.1.0","first":4,"last":4,"records":1}'
other='{"code":"lost","key":"r1.0.1.1.0","first":5,"last":5,"records":1}'

result '"lost": 3, "duplicate-delivery": 2' "$one, $two"
expect 0 '3 planted, 3 found: lost r1.0.1.0.3 7'
result '"lost": 3' "$one, $other"
expect 1 'planted and not found: lost r1.0.1.1.0 4'
result '"lost": 2' "$one"
expect 1 'planted: lost 3; counted: lost 2'
result '"lost": 3, "phantom": 1' "$one, $two"
expect 1 'counted: lost 3,phantom 1'
result '"lost": 3, "duplicate-delivery": 3' "$one, $two"
expect 1 'duplicate-delivery 1'
rm result
expect 2 'there is no result'
: > truth
expect 2 'nothing was planted'
echo good
