// Breaks of what stands around the loop: tools, logs, servers, notes.
import { breaksOf } from "./break.ts";

export const outsideBreaks = [
  ...breaksOf("keel/src/tools/glob.ts", [
    [
      "S4.83",
      "keel/src/tools/glob.test.ts",
      "const shown = paths.slice(0, most)",
      "const shown = paths.slice(0, most + 1)",
    ],
    [
      "S4.9",
      "keel/src/tools/glob.test.ts",
      "const paths = found.paths.filter((file) => !isDenied(file));",
      "const paths: string[] = [];",
    ],
  ]),
  ...breaksOf("keel/src/memory/notes.ts", [
    ["S4.77", "keel/src/memory/notes.test.ts", "const maxLines = 200;", "const maxLines = 2_000;"],
    ["S4.78", "keel/src/memory/notes.test.ts", "\\ntype: ", "\\nkind: "],
  ]),
  ...breaksOf("keel/src/workspace/git/git-state.ts", [
    [
      "S4.42",
      "keel/src/workspace/git/git-state.test.ts",
      "commits: linesOf(log).slice(0, maxCommits),",
      "commits: [],",
    ],
  ]),
  ...breaksOf("keel/src/mcp/link.ts", [
    [
      "S4.63",
      "keel/src/mcp/link.test.ts",
      "if (this.#tries > reconnect.tries || tooLong)",
      "if (this.#tries > reconnect.tries + 1 || tooLong)",
    ],
    [
      "S4.64",
      "keel/src/mcp/link.test.ts",
      `isAuth ? { status: "needs-auth", error } : { status: "failed", error }`,
      `{ status: "pending", error }`,
    ],
  ]),
  ...breaksOf("keel/src/hosts/bridge/kept-channel.ts", [
    ["S4.76", "keel/src/hosts/bridge/kept-channel.test.ts", "        connection.succeeded();\n", ""],
  ]),
  ...breaksOf("keel/src/store/jsonl/scan.ts", [
    [
      "S4.32",
      "keel/src/store/jsonl/torn-end.test.ts",
      "if (!checked && !ended) return;",
      "if (!checked && ended) return;",
    ],
  ]),
  ...breaksOf("keel/src/store/jsonl/line.ts", [
    [
      "G4",
      "test/log-mutations.test.ts",
      "return sum !== undefined && sum === crc32(line.subarray(0, bodyBytes));",
      "return sum !== undefined;",
    ],
  ]),
];
