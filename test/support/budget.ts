// How often the repeating suites repeat, and how long they may take: samples in `npm test`, the full figure in
// `npm run test:long`. Together the samples have about 7 minutes on 2 cores.
import { note } from "./notes.ts";

type Budget = { readonly sample: number; readonly full: number; readonly seconds: number };

/** `seconds` is what the sample may take; goals (G…) are those of the reliability page. */
export const budgets = {
  /** G1, G2, G3: kill -9 of a child at a seeded moment. */
  "kill-nine": { sample: 12, full: 2_000, seconds: 15 },
  /** G1: kill -9 of a process that appends to a log, at a seeded moment. */
  "log-kills": { sample: 10, full: 2_000, seconds: 10 },
  /** The same with the database, and with a move between it and files. */
  "sqlite-kills": { sample: 4, full: 200, seconds: 5 },
  /** Rounds of three workers with kills, pauses, cuts and restarts. */
  "worker-faults": { sample: 2, full: 100, seconds: 45 },
  /** Appends over a way to PostgreSQL that is cut at seeded moments. */
  "postgres-cuts": { sample: 60, full: 5_000, seconds: 5 },
  /** Appends of each of eight processes, each to a session of its own in one database. */
  "sqlite-writers": { sample: 25, full: 1_000, seconds: 5 },
  /** Tables of conversations that are deleted or damaged. */
  "damaged-caches": { sample: 10, full: 500, seconds: 4 },
  /** G1: crashes after events of a session whose log stands on a real disk, in files and in a database. */
  "crashes-on-disk": { sample: 3, full: 150, seconds: 4 },
  /** kill -9 of a process that fills the memory index. */
  "memory-kills": { sample: 3, full: 200, seconds: 4 },
  /** Sets of questions that are asked by words, by meaning and by both; the sample is a part of one. */
  "memory-sets": { sample: 1, full: 3, seconds: 6 },
  /** G4: random changes of a log. */
  "log-mutations": { sample: 100, full: 10_000, seconds: 3 },
  /** G7: appends of each of four processes to one log. */
  "log-writers": { sample: 60, full: 500, seconds: 5 },
  /** G6: changes of each of eight processes to one settings file, with a kill for every five. */
  "settings-writers": { sample: 15, full: 1_000, seconds: 15 },
  /** G9: each of the six kinds of end, with one common wait. */
  "kinds-of-end": { sample: 3, full: 200, seconds: 25 },
  /** G9: the same with agents, background shells and an MCP server at once. */
  "kinds-of-end-of-families": { sample: 2, full: 200, seconds: 15 },
  /** G13: interrupts at seeded points. */
  interrupts: { sample: 12, full: 200, seconds: 10 },
  /** Crashes after events of a team with its mail and its list; the full figure is after each. */
  "team-crashes": { sample: 24, full: 1_000, seconds: 6 },
  /** G14: exits with slow readers. */
  exits: { sample: 12, full: 500, seconds: 15 },
  /** G15: streams closed at random. */
  "closed-pipes": { sample: 12, full: 500, seconds: 15 },
  /** Conversations that an attached program of the official SDK hears as `query()` tells them. */
  "sdk-wire": { sample: 8, full: 22, seconds: 8 },
  /** Questions that clients of a server answer at the same moment. */
  "racing-answers": { sample: 12, full: 500, seconds: 10 },
  /** G39: changed lines on the wire of the executable. */
  "wire-lines": { sample: 5_000, full: 1_000_000, seconds: 10 },
  /** The request law over random conversations. */
  "context-law": { sample: 200, full: 2_000, seconds: 12 },
  /** G39: changed lines for the runner. */
  "runner-lines": { sample: 8_000, full: 1_000_000, seconds: 10 },
  /** G39: changed lines for the desktop. */
  "desktop-lines": { sample: 2_000, full: 1_000_000, seconds: 4 },
  /** G14, G15: ends of the desktop, of six kinds in turn: closed pipes, signals, a killed shell. */
  "desktop-ends": { sample: 3, full: 1_200, seconds: 8 },
  /** G20: megabytes of lines for a shell that reads a kilobyte a second. */
  "desktop-slow-reader": { sample: 2, full: 200, seconds: 8 },
  /** G14, G15: ends of a runner with slow readers and closed pipes. */
  "runner-pipes": { sample: 6, full: 500, seconds: 30 },
  /** G20: megabytes of events for a reader that does not read. */
  "slow-reader": { sample: 10, full: 200, seconds: 20 },
  /** G20: the same for the runner, whose text is never left out. */
  "runner-slow-reader": { sample: 15, full: 200, seconds: 20 },
  /** G21: turns with 100 KB of output each. */
  "long-run": { sample: 60, full: 1_000, seconds: 30 },
  /** Sessions of one folder that are listed. */
  "listed-sessions": { sample: 1_000, full: 10_000, seconds: 5 },
  /** G27: generated commands against real bash. */
  "bash-differential": { sample: 500, full: 100_000, seconds: 30 },
  /** G28: random texts for the reader of commands. */
  "policy-inputs": { sample: 15_000, full: 1_000_000, seconds: 5 },
  /** G29: random set-ups in which a deny must stay a deny. */
  "deny-property": { sample: 5_000, full: 100_000, seconds: 10 },
  /** G29: spellings of denied commands, in every mode. */
  "deny-spellings": { sample: 4_000, full: 100_000, seconds: 6 },
  /** G23, G29: generated folders with links and denied files, in which what is allowed is really run. */
  "shown-files": { sample: 40, full: 20_000, seconds: 8 },
  /** G32: links swapped while a path is decided. */
  "link-race": { sample: 1_000, full: 100_000, seconds: 20 },
  /** G35, G36: hostile repositories; the sample starts each with print only. */
  "hostile-repositories": { sample: 30, full: 90, seconds: 60 },
  /** Folders with planted repositories and settings of tools, in which what is allowed unasked is really run. */
  "planted-folders": { sample: 40, full: 5_000, seconds: 5 },
  /** Scenarios of the official MCP conformance suite, client side. */
  "mcp-conformance": { sample: 2, full: 38, seconds: 20 },
  /** G43: seeds by which the wires between a server and its clients go wrong. */
  "server-property": { sample: 20, full: 100_000, seconds: 10 },
  /** kill -9 of a server whose groups are written to. */
  "group-kills": { sample: 3, full: 200, seconds: 8 },
  /** Messages to groups of two channels, with a kill -9 for every ten. */
  "group-storm": { sample: 20, full: 2_000, seconds: 15 },
  /** Steps of a group's talk after which everything is gone. */
  "group-crashes": { sample: 24, full: 1_000, seconds: 3 },
  /** G43: places at which a proxy cuts a real connection, or the server starts anew. */
  "server-cuts": { sample: 12, full: 200, seconds: 15 },
  /** Cuts between a bridge and its server, restarts of either and registrations that come twice. */
  "bridge-cuts": { sample: 12, full: 200, seconds: 25 },
  /** Kills of a bridge and of its server, each a process, in one conversation. */
  "bridge-kills": { sample: 3, full: 100, seconds: 15 },
  /** Sessions of `keel acp` that are walked through at random: each line is held to the schema of the protocol. */
  "acp-walks": { sample: 15, full: 1_000, seconds: 10 },
  /** Cancels of `keel acp` at seeded moments, in each of its phases. */
  "acp-cancels": { sample: 24, full: 500, seconds: 20 },
  /** Ends of `keel acp` by the end of its input, in each phase: nothing of it is left. */
  "acp-leaves": { sample: 8, full: 200, seconds: 12 },
  /** Cuts of the line of one conversation by `keel ssh`, with a program in place of ssh. */
  "ssh-cuts": { sample: 6, full: 50, seconds: 20 },
  /** The same by a real sshd, where there is one. */
  "sshd-cuts": { sample: 3, full: 50, seconds: 10 },
  /** Moves of one session to and fro between two homes, with edits and commits in between. */
  "teleport-moves": { sample: 3, full: 30, seconds: 5 },
  /** Moves of a session to another home, with kill -9 of either side at a seeded step or moment. */
  "teleport-crashes": { sample: 3, full: 300, seconds: 12 },
  /** G43: places at which a proxy cuts what a real browser is told. */
  "browser-cuts": { sample: 4, full: 200, seconds: 20 },
  /** Questions that two browsers, a screen and a program have before them, and one or all of them answer. */
  "browser-hands": { sample: 5, full: 100, seconds: 20 },
  /** G1, G2, G43: kill -9 of a server with ten sessions and thirty clients at a seeded moment. */
  "server-kills": { sample: 3, full: 100, seconds: 40 },
  /** G17, G18, G46, G47: seeds of the simulation. */
  simulation: { sample: 250, full: 100_000, seconds: 15 },
  /** The same with a team in each, and schedules in every other. */
  "simulated-teams": { sample: 700, full: 100_000, seconds: 22 },
  /** Random keys and actions for the input of the terminal screen. */
  "editor-keys": { sample: 500, full: 100_000, seconds: 5 },
  /** Places at which a megabyte is cut that is pasted into the terminal screen. */
  "screen-pastes": { sample: 300, full: 10_000, seconds: 10 },
  /** Calls of one reply that the terminal screen shows while they run. */
  "screen-calls": { sample: 60, full: 500, seconds: 5 },
  /** Questions that the terminal screen and other clients of a server answer at the same moment. */
  "screen-hands": { sample: 6, full: 500, seconds: 12 },
  /** Scenarios of the terminal screen, here, at a server, and at a server that is killed at one of their moments. */
  "screen-far": { sample: 4, full: 78, seconds: 25 },
  /** Storms of sizes for the writer of the terminal screen, with frames on their way. */
  "screen-sizes": { sample: 20, full: 2_000, seconds: 3 },
  /** Ends of the terminal screen, by keys, signals, crashes and stops. */
  "screen-ends": { sample: 5, full: 200, seconds: 12 },
  /** Sessions of the simulation of which every call is decided again, under the rules of then. */
  backtest: { sample: 60, full: 1_000, seconds: 4 },
  /** Hosts under lists, rules and addresses: what tools and commands are told of them. */
  "same-verdicts": { sample: 1_000, full: 100_000, seconds: 3 },
  /** Sessions with answers known by hand, under other rules. */
  "backtest-known": { sample: 20, full: 200, seconds: 2 },
  /** Calls in the mode `auto` about which a model that believes everything is talked into a yes. */
  "auto-mode": { sample: 40, full: 500, seconds: 5 },
  /** Rules, commands and verdicts of a judge in the mode `auto`: no deny is lifted. In deny-property. */
  "judged-rules": { sample: 150, full: 10_000, seconds: 3 },
  /** Worlds of the simulation whose sessions are replayed by today's engine. */
  "replayed-sessions": { sample: 25, full: 2_000, seconds: 4 },
  /** Sessions of thirty messages in real repositories, one of which breaks something. */
  bisects: { sample: 1, full: 30, seconds: 6 },
  /** Histories of a file that sessions and others edit, of which each line is asked about. */
  blames: { sample: 60, full: 500, seconds: 2 },
  /** Cases for Keel itself, on the scripted model; all of them in `npm run eval`. */
  "eval-cases": { sample: 8, full: 32, seconds: 6 },
  /** Events of a session behind which its files are had back. */
  "what-if-points": { sample: 12, full: 300, seconds: 3 },
  /** Sessions whose calls run once more behind a change of their folder. */
  "environment-changes": { sample: 3, full: 50, seconds: 4 },
  /** Worlds of the simulation whose sessions are told as spans. */
  "traced-sessions": { sample: 20, full: 1_000, seconds: 3 },
  /** Sessions whose contents go along with their spans. */
  "traced-contents": { sample: 6, full: 300, seconds: 2 },
  /** Programs of a model that try to get out, to loop, to allocate and to forge. */
  "hostile-programs": { sample: 4, full: 41, seconds: 15 },
  /** Events of a program of a model behind which everything is gone; the full figure is all of them. */
  "program-crashes": { sample: 3, full: 12, seconds: 8 },
  /** kill -9 of sessions whose spans are sent. */
  "telemetry-kills": { sample: 4, full: 200, seconds: 8 },
  /** Bits of an exported log, each changed alone. */
  "flipped-bytes": { sample: 40, full: 1_000, seconds: 2 },
  /** Changes of Keel that a replay must find. */
  "replay-mutations": { sample: 4, full: 40, seconds: 6 },
  /** Packages of the AI SDK that play the scenarios of every wire; Keel's own wires play them always. */
  "every-wire": { sample: 1, full: 4, seconds: 10 },
  /** G19: seeds that are run twice. */
  replays: { sample: 25, full: 1_000, seconds: 3 },
  /** G41: connections that say nothing; the rows of the corpus and the other floods are beside it. */
  "server-attacks": { sample: 500, full: 10_000, seconds: 20 },
  /** Pages and states of the gallery, in both themes and three widths, held to the rules of axe; all of them at most. */
  /** P10, G38: commands that try to get out of the sandbox, by each of two users. */
  "sandbox-escapes": { sample: 24, full: 353, seconds: 12 },
  /** Places that are opened, used and given up, some by kill -9 of their Keel. */
  "sandbox-ends": { sample: 2, full: 500, seconds: 4 },
  /** Commands of developers, outside and inside. */
  "sandbox-everyday": { sample: 40, full: 213, seconds: 12 },
  "gallery-states": { sample: 10, full: 600, seconds: 30 },
  /** Years of time zones in which five expressions are due as an independent table says. */
  "schedule-zones": { sample: 2, full: 200, seconds: 4 },
  /** Moments at which what starts schedules ends and begins anew, for each policy. */
  "schedule-restarts": { sample: 6, full: 500, seconds: 4 },
  /** kill -9 of processes that start what is due on one home, at seeded moments. */
  "schedule-kills": { sample: 3, full: 300, seconds: 15 },
} as const satisfies Record<string, Budget>;

export type Suite = keyof typeof budgets;

/** How long something may take that is only waited for. A full count runs beside other work, at a low priority. */
export const patienceMs: number = process.env["KEEL_TEST_COUNTS"] === undefined ? 20_000 : 120_000;

/** How often to repeat in this run. The closing line of the long command shows it. */
export function countOf(suite: Suite): number {
  const { from, to } = rangeOf(suite);
  note("counts", `${suite} ${to - from}`);
  return to - from;
}

/** Of a list whose full count is all of it, what this run takes: shares of one seed never take the same. */
export function partOf<T>(suite: Suite, inOrder: (seed: number) => readonly T[]): readonly T[] {
  const count = countOf(suite);
  const { from } = rangeOf(suite);
  return inOrder(wholeSeed()).slice(from, from + count);
}

/** Of a list that is always run whole, the part of this share. */
export function shareOf<T>(all: readonly T[]): T[] {
  const { share, of } = shareOfRun();
  return all.filter((_, index) => index % of === share - 1);
}

function rangeOf(suite: Suite): { readonly from: number; readonly to: number } {
  const wanted = process.env["KEEL_TEST_COUNTS"];
  const whole =
    wanted === undefined ? budgets[suite].sample : wanted === "full" ? budgets[suite].full : Number(wanted);
  const { share, of } = shareOfRun();
  return { from: Math.floor((whole * (share - 1)) / of), to: Math.floor((whole * share) / of) };
}

/**
 * The seed of this run: given by the long command, otherwise fixed, so that a plain `npm test` repeats itself. Suites count
 * up from it; each share starts so far behind the one before that they never meet.
 */
export function seed(): number {
  return wholeSeed() + (shareOfRun().share - 1) * seedsOfShare;
}

const wholeSeed = (): number => Number(process.env["KEEL_TEST_SEED"] ?? 20_260_101);

/** More than any suite repeats. */
const seedsOfShare = 2_000_000;

/** A full count may be made of several runs: `3/20` is the third of twenty. */
function shareOfRun(): { readonly share: number; readonly of: number } {
  const [share = 1, of = 1] = (process.env["KEEL_TEST_SHARE"] ?? "1/1").split("/").map(Number);
  return { share, of };
}
