// Thirty ways in which a child keeps its parent's output open after the parent has ended.
export const holders: Readonly<Record<string, string>> = {
  "a background child": "sleep 30 &",
  "a background child with nohup": "nohup sleep 30 &",
  "a disowned child": "sleep 30 & disown",
  "a child of a subshell": "(sleep 30 &)",
  "a grandchild of subshells": "( (sleep 30 &) & )",
  "a child with its own session": "setsid sleep 30 &",
  "a forked session": "setsid -f sleep 30",
  "a forked session with nohup": "setsid nohup sleep 30 &",
  "a double fork": "bash -c 'bash -c \"sleep 30 &\" &'",
  "a holder of standard output only": "sleep 30 2>/dev/null &",
  "a holder of standard error only": "sleep 30 >/dev/null &",
  "a holder of a copied descriptor": "sleep 30 5>&1 >/dev/null 2>&1 &",
  "a silent loop": "while :; do sleep 1; done &",
  "a talking loop": "while :; do echo tick; sleep 0.05; done &",
  "a talking loop on standard error": "while :; do echo tick >&2; sleep 0.05; done &",
  "an endless writer": "yes &",
  "a pipeline": "sleep 30 | cat &",
  "the end of a pipeline": "(sleep 30; echo late) | cat &",
  "a process substitution": "sleep 30 > >(cat) &",
  "a coprocess": "coproc sleep 30",
  "a child that ignores SIGTERM": "(trap '' TERM; sleep 30) &",
  "a child that ignores SIGHUP": "(trap '' HUP; sleep 30) &",
  "a stopped child": "sleep 30 & kill -STOP $!",
  "five children": "for i in 1 2 3 4 5; do sleep 30 & done",
  "a reader of the input": "(cat; sleep 30) <&0 &",
  "a server":
    "perl -MIO::Socket -e '$s=IO::Socket::INET->new(Listen=>1,LocalAddr=>\"127.0.0.1\");sleep 30' &",
  "a child in a group of its own": "set -m; sleep 30 &",
  "a child that exec left": "sleep 30 & exec true",
  "a child of a function": "f() { sleep 30 & }; f",
  "a child of a trap": "trap 'sleep 30 &' EXIT; true",
};

/** The command, which notes when its main process is about to end: only the time after that is measured. */
export function noteEnd(text: string): string {
  const note = "echo said at the end; date +%s%3N > ended";
  return text.includes("exec true") ? text.replace("exec", `${note}; exec`) : `${text}\n${note}`;
}
