#!/bin/sh
# Asks Keel from a script and acts on the outcome. Needs no key: the model is the rehearsal. Checks itself.
set -eu

# The final text, nothing else.
keel -p --model rehearsal "Please mend the greeting." > answer.txt
test -s answer.txt

# One result object for a program; what was refused for want of a terminal is listed in it.
keel -p --model rehearsal --output-format json "Please mend the greeting." > result.json
grep -q '"subtype":"success"' result.json
grep -q '"permission_denials":\[{"tool_name":"Edit"' result.json

# Every message as one line of JSON, as it comes; the first is init, the last is the result.
keel -p --model rehearsal --output-format stream-json --permission-mode acceptEdits \
  --allowed-tools "Bash(node check.js)" "Please mend the greeting." > messages.jsonl
head -n 1 messages.jsonl | grep -q '"subtype":"init"'
tail -n 1 messages.jsonl | grep -q '"permission_denials":\[\]'

# The exit code says how it went.
code=0
keel -p --model rehearsal --max-turns 1 "Please mend the greeting." > limited.txt 2> why.txt || code=$?
test "$code" -eq 1
test ! -s limited.txt
grep -q "limit of model replies" why.txt

echo "All as expected."
