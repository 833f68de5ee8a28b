/** What the workers of the gallery that are no conversation show: a diff with comments on it, and a terminal. */
import type { DiffSummary, FileDiff, TerminalUpdate } from "keel/protocol";

const diffFiles: DiffSummary["files"] = [
  { path: "src/login.ts", change: "modified", staged: "unstaged", added: 2, removed: 2, stamp: "1" },
  { path: "src/session.ts", change: "modified", staged: "staged", added: 1, removed: 1, stamp: "1" },
  {
    path: "test/an-hour-ago.test.ts",
    change: "untracked",
    staged: "unstaged",
    added: 31,
    removed: 0,
    stamp: "1",
  },
  { path: "src/old-login.ts", change: "deleted", staged: "unstaged", added: 0, removed: 18, stamp: "1" },
];

export const diff: DiffSummary = {
  base: "main",
  branch: "login-fix",
  files: diffFiles,
  added: 34,
  removed: 21,
  more: 0,
};

export const fileDiffs: Readonly<Record<string, FileDiff>> = {
  "src/login.ts": {
    path: "src/login.ts",
    stamp: "1",
    hunks: [
      {
        id: "1",
        staged: false,
        head: "@@ -3,8 +3,8 @@ export function login",
        lines: [
          { kind: "same", before: 4, after: 4, text: "/** Signs somebody in, and says until when. */" },
          { kind: "same", before: 5, after: 5, text: "export function login(name: string): Login {" },
          { kind: "removed", before: 6, text: "  const session = createSession();" },
          { kind: "removed", before: 7, text: "  const now = clock.now();" },
          { kind: "added", after: 6, text: "  const now = clock.now();" },
          { kind: "added", after: 7, text: "  const session = createSession(now);" },
          {
            kind: "same",
            before: 8,
            after: 8,
            text: "  return { name, until: session.startedAt + 3_600_000 };",
          },
          { kind: "same", before: 9, after: 9, text: "}" },
        ],
      },
    ],
  },
};

/** Of the diff above: on two lines, on one that reads otherwise by now, and on a file that is no longer changed. */
export const comments = [
  {
    id: "1",
    path: "src/login.ts",
    from: 6,
    line: 7,
    side: "after",
    quoted: "  const now = clock.now();\n  const session = createSession(now);",
    text: "Why is the clock read here, and not where the session is made?",
  },
  {
    id: "2",
    path: "src/login.ts",
    line: 8,
    side: "after",
    quoted: "  return { name, until: session.startedAt + hour };",
    text: "An hour has a name elsewhere.",
  },
  {
    id: "3",
    path: "src/clock.ts",
    from: 1,
    line: 2,
    side: "after",
    quoted: "export const clock = {\n  now: () => Date.now(),",
    text: "Leave this as it was, please.",
  },
];

export const terminal: readonly TerminalUpdate[] = [
  {
    kind: "screen",
    epoch: "1",
    at: 0,
    columns: 100,
    rows: 24,
    paint: [
      "\u001b[32mada@shop\u001b[0m:\u001b[34m~/shop\u001b[0m$ npm test",
      "",
      " \u001b[32m✓\u001b[0m test/login.test.ts \u001b[2m(14 tests)\u001b[0m 31ms",
      " \u001b[31m✗\u001b[0m test/prices.test.ts \u001b[2m(3 tests)\u001b[0m 12ms",
      "   \u001b[31m× prices are never below zero\u001b[0m",
      "",
      "\u001b[1mTests\u001b[0m  \u001b[31m1 failed\u001b[0m | \u001b[32m16 passed\u001b[0m",
      "\u001b[38;2;120;120;220mtrue colour\u001b[0m \u001b[7minverse\u001b[0m \u001b[48;5;22mground\u001b[0m",
      "\u001b[32mada@shop\u001b[0m:\u001b[34m~/shop\u001b[0m$ ",
    ].join("\r\n"),
  },
];
