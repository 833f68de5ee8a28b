// `keel -p` and its like on a session that the server has: the same output and exit codes as with one of its own.
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { byPosition, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { verifies } from "../support/verifies.ts";
import { clientOf, heardUntil, isTurnEnd, openServeStage, words } from "./serve-stage.ts";
import { lines, until } from "./stage.ts";

/** One session with a turn behind it: at the server, or of nobody. */
async function session(
  owner: "server" | "nobody",
  replies: readonly Reply[],
  options: Record<string, string[]> = {},
) {
  const stage = await openServeStage(byPosition([reply("First."), ...replies]));
  if (owner === "nobody") {
    const begun = await stage.run(["-p", "begin", "--output-format", "json"]);
    return { stage, id: JSON.parse(begun.stdout).session_id as string };
  }
  const client = await clientOf(await stage.detach());
  const handle = await client.open({ cwd: stage.project, options });
  const ended = heardUntil(handle.events(), isTurnEnd);
  await handle.submit(words("begin"));
  await ended;
  return { stage, id: handle.id, client, handle };
}

/** What differs by chance: ids, times, places of temporary folders. */
function plain(output: string): unknown[] {
  const fresh = new Set([
    "uuid",
    "session_id",
    "id",
    "cwd",
    "duration_ms",
    "duration_api_ms",
    "ttft_ms",
    "request_id",
  ]);
  const scrub = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(scrub);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, of]) => [
        key,
        fresh.has(key) || /_ms$|path|root/.test(key) ? "…" : scrub(of),
      ]),
    );
  };
  return lines(output).map(scrub);
}

describe.each(["server", "nobody"] as const)("keel -p --resume, a session of %s", (owner) => {
  test("prints the answer as text, goes on with the newest, and ends with 0", async () => {
    verifies("S4.38");
    const { stage, id } = await session(owner, [reply("Second."), reply("Third.")]);
    expect(await stage.run(["-p", "--resume", id, "more"])).toMatchObject({ code: 0, stdout: "Second.\n" });
    expect(await stage.run(["-p", "--continue", "more"])).toMatchObject({ code: 0, stdout: "Third.\n" });
  });

  test("ends with 1 and says why where the turn fails; refuses what nobody can be asked", async () => {
    const { stage, id } = await session(owner, [
      reply(toolUse("Bash", { command: "touch made" })),
      reply("It was refused."),
      replyWith(
        { fault: { kind: "http", status: 400, type: "invalid_request_error", message: "no such thing" } },
        "never",
      ),
    ]);
    const refused = await stage.run(["-p", "--resume", id, "make it"]);
    expect(refused).toMatchObject({ code: 0, stdout: "It was refused.\n" });
    expect(existsSync(path.join(stage.project, "made"))).toBe(false);
    const failed = await stage.run(["-p", "--resume", id, "more"]);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("no such thing");
  });

  test("answers a slash command that needs no turn", async () => {
    const { stage, id } = await session(owner, []);
    const answered = await stage.run(["-p", "--resume", id, "/cost"]);
    expect(answered.code).toBe(0);
    expect(answered.stdout).toMatch(/cost|\$/i);
  });

  test("wants a prompt where nothing is unfinished", async () => {
    const { stage, id } = await session(owner, []);
    const nothing = await stage.run(["-p", "--resume", id]);
    expect(nothing.code).toBe(64);
    expect(nothing.stderr).toContain("no unfinished turn");
  });
});

test("as JSON lines, the same messages come from the server as from a session of its own", async () => {
  const outputs: unknown[][] = [];
  for (const owner of ["server", "nobody"] as const) {
    const { stage, id } = await session(owner, [
      reply(toolUse("Bash", { command: "cat nothing" })),
      reply("Nothing there."),
    ]);
    const { code, stdout } = await stage.run([
      "-p",
      "--resume",
      id,
      "look",
      "--output-format",
      "stream-json",
      "--include-partial-messages",
    ]);
    expect(code).toBe(0);
    outputs.push(plain(stdout));
  }
  const [served, own] = outputs;
  const kinds = (messages: unknown[] = []) =>
    messages.map((message) => {
      const { type, subtype } = message as { type: string; subtype?: string };
      return `${type} ${subtype ?? ""}`.trim();
    });
  expect(kinds(served)).toEqual(kinds(own));
  const last = served?.at(-1) as Record<string, unknown>;
  const ownLast = own?.at(-1) as Record<string, unknown>;
  for (const field of ["result", "num_turns", "usage", "total_cost_usd", "is_error", "modelUsage"])
    expect(last[field], field).toEqual(ownLast[field]);
});

describe("a session that the server has", () => {
  test("takes settings that flags name, and refuses those that it cannot follow", async () => {
    const { stage, id, handle } = await session("server", [reply("Second.")]);
    const refused = await stage.run(["-p", "--resume", id, "more", "--allowedTools", "Bash"]);
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain("allowedTools");
    const done = await stage.run(["-p", "--resume", id, "more", "--permission-mode", "acceptEdits"]);
    expect(done).toMatchObject({ code: 0, stdout: "Second.\n" });
    expect(await handle?.inquire("settings")).toMatchObject({ applied: { permissionMode: "acceptEdits" } });
  });

  test("is interrupted by Ctrl-C of the command, and nothing that others queued is dropped", async () => {
    const { stage, id, handle } = await session(
      "server",
      [reply(toolUse("Bash", { command: "sleep 60" })), reply("For the other.")],
      { allowedTools: ["Bash(sleep:*)"] },
    );
    if (!handle) throw new Error("no handle");
    const running = stage.start(["-p", "--resume", id, "wait"]);
    await until("its call", () => stage.log(id).some(({ type }) => type === "tool.started"));
    const other = heardUntil(handle.events(), ({ type }) => type === "session.closed");
    await handle.submit(words("queued by somebody else"));
    running.child.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130, stdout: "" });
    await until(
      "the other's turn",
      () => stage.log(id).filter(({ type }) => type === "turn.finished").length === 3,
    );
    await handle.submit({ type: "close" });
    const ends = (await other).filter(isTurnEnd);
    expect(ends).toMatchObject([{}, { reason: "interrupted" }, { reason: "completed" }]);
  });

  test("is named wherever it is in the way, with the command that joins it", async () => {
    const { stage, id, client, handle } = await session("server", [reply("A copy answers.")]);
    const listed = await stage.run(["sessions", "list"]);
    expect(listed.stdout).toContain("[open at the server]");
    expect(JSON.parse((await stage.run(["sessions", "list", "--json"])).stdout)).toMatchObject([
      { id, owner: { kind: "server" } },
    ]);
    for (const command of [
      ["sessions", "delete", id],
      ["sessions", "rewind", id, "x"],
    ]) {
      const busy = await stage.run(command);
      expect(busy.code, command.join(" ")).toBe(75);
      expect(busy.stderr).toContain(`keel attach ${id}`);
    }
    expect(await stage.run(["-p", "--resume", id, "--fork", "more"])).toMatchObject({
      code: 0,
      stdout: "A copy answers.\n",
    });
    await handle?.submit({ type: "close" });
    await until(
      "it is free",
      async () => (await client?.sessions({}))?.every(({ owner }) => owner !== "open") ?? false,
    );
    expect((await stage.run(["sessions", "list"])).stdout).not.toContain("[open");
  });
});
