#!/bin/sh
# Holds a conversation with a server of sessions by curl alone: opens a session, says something, hears what happens,
# answers what is asked. Needs a server (`keel serve --detach`) and its model. Checks itself.
set -eu

home=${KEEL_HOME:-$HOME/.keel}
keel() { curl --silent --show-error --fail-with-body --unix-socket "$home/run/keel.sock" "$@"; }
stream() { exec curl --silent --no-buffer --unix-socket "$home/run/keel.sock" "$@"; }
json='content-type: application/json'
field() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

# A session in this folder.
session=$(keel -H "$json" -d "{\"cwd\":\"$PWD\"}" http://keel/api/sessions | field session)
test -n "$session"

# What happens in it, as server-sent events, from the first one on.
stream "http://keel/api/sessions/$session/events?after=0" > events.txt &
events=$!
trap 'kill $events 2> /dev/null || true' EXIT
heard() { tries=0; until grep -q "$1" events.txt; do tries=$((tries + 1)); test "$tries" -lt 400; sleep 0.05; done; }

# Words, with an id of our own: sent twice they are one input.
id=0198c0de-0000-7000-8000-000000000001
for _ in once again; do
  keel -H "$json" -d "{\"content\":\"Make a file\",\"id\":\"$id\"}" \
    "http://keel/api/sessions/$session/messages" > receipt.json
done
grep -q '"duplicate":true' receipt.json

# It asks before it does it; we refuse.
heard '"type":"ask.opened"'
ask=$(keel "http://keel/api/sessions/$session/asks" | field id)
keel -H "$json" -d "{\"command\":{\"type\":\"answer\",\"askId\":\"$ask\",\"answer\":{\"verdict\":\"deny\"}}}" \
  "http://keel/api/sessions/$session/commands" | grep -q answered
heard '"type":"turn.finished"'

# Every durable event has its number for an id: a stream that breaks is taken up behind the last one.
last=$(sed -n 's/^id: //p' events.txt | tail -n 1)
test "$(keel "http://keel/api/sessions/$session/history?after=$last" | grep -c '"events":\[\]')" -eq 1

# And it is gone.
keel -X DELETE "http://keel/api/sessions/$session" > deleted.json
echo "All as expected."
