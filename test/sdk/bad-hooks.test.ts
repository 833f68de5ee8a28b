// Ten bad hooks in whole sessions: whatever a hook does, the turn ends, and nothing runs that should not.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SDKMessage, SDKResultMessage } from "../../keel/src/sdk/messages/messages.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";

const write = toolUse("Write", { file_path: "a.txt", content: "x".repeat(1_000_000) });
const says = (output: object): string => `echo '${JSON.stringify(output)}'`;
const own = (more: object): object => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...more } });

type Row = {
  readonly name: string;
  readonly command: string;
  /** Whether the call runs. A hook that fails has no opinion; who fails to block, blocks. */
  readonly ran: boolean;
  readonly fails: boolean;
  readonly deny?: string[];
};

const rows: readonly Row[] = [
  { name: "exit code 2 with words", command: "echo no >&2; exit 2", ran: false, fails: false },
  { name: "half a JSON object", command: `printf '{"decision": "bl'`, ran: true, fails: true },
  { name: "100 MB of output", command: "head -c 100000000 /dev/zero", ran: true, fails: true },
  { name: "never reads its input", command: says({}), ran: true, fails: false },
  { name: "closes its input", command: `exec <&-; ${says({})}`, ran: true, fails: false },
  { name: "sleeps", command: "sleep 60", ran: true, fails: true },
  { name: "forks and returns", command: `sleep 30 & ${says({})}`, ran: true, fails: false },
  {
    name: "allows what is denied",
    command: says(own({ permissionDecision: "allow" })),
    ran: false,
    fails: false,
    deny: ["Write(a.txt)"],
  },
  {
    name: "changes the input to what is denied",
    command: says(
      own({ permissionDecision: "allow", updatedInput: { file_path: "secret.txt", content: "x" } }),
    ),
    ran: false,
    fails: false,
    deny: ["Write(secret.txt)"],
  },
  {
    name: "answers for another point",
    command: says({ decision: "block", hookSpecificOutput: { hookEventName: "Stop" } }),
    ran: true,
    fails: true,
  },
];

async function run({ command, deny = [] }: Row, onFailure?: "block") {
  const { options, cwd } = await sdkStage({ replies: [reply(write)], otherwise: reply("Done.") });
  const entry = {
    type: "command" as const,
    command,
    timeout: command.startsWith("sleep 60") ? 0.5 : 20,
    ...(onFailure ? { onFailure } : {}),
  };
  const messages: SDKMessage[] = await all(
    query({
      prompt: "go",
      options: {
        ...options,
        settings: { hooks: { PreToolUse: [{ hooks: [entry] }] } },
        allowedTools: ["Write"],
        disallowedTools: deny,
      },
    }),
  );
  const result = messages.find((message): message is SDKResultMessage => message.type === "result");
  return {
    ran: existsSync(path.join(cwd, "a.txt")),
    secret: existsSync(path.join(cwd, "secret.txt")),
    warnings: messages.filter((message) => "tag" in message && message.tag === "hook_callback_failed").length,
    ended: result?.subtype,
    bytes: existsSync(path.join(cwd, "a.txt")) ? readFileSync(path.join(cwd, "a.txt")).length : 0,
  };
}

describe("a hook that", () => {
  test.each(rows)("$name harms nothing", async (row) => {
    const outcome = await run(row);
    expect(outcome).toMatchObject({ ran: row.ran, secret: false, ended: "success" });
    expect(outcome.warnings).toBe(row.fails ? 1 : 0);
    if (row.ran) expect(outcome.bytes).toBe(1_000_000);
  });

  test.each(rows.filter(({ fails }) => fails))(
    "$name blocks where it is to block on failure",
    async (row) => {
      expect(await run(row, "block")).toMatchObject({ ran: false, ended: "success" });
    },
  );

  test("there are ten of", () => {
    expect(rows).toHaveLength(10);
  });
});
