// A shell that speaks the words of the desktop's protocol: conversations, pictures, questions, agents and limits.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { requestSchemas } from "../../keel/src/hosts/desktop/requests.ts";
import { query } from "../../keel/src/sdk/index.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { type Host, type Line, startDesktop } from "./runner-host.ts";
import { openStage, until } from "./stage.ts";

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** One end for each request: `done` or `error`. */
async function end(host: Host, id: string): Promise<Line> {
  await until(`the end of ${id}`, () => endsOf(host, id).length > 0);
  const [line] = endsOf(host, id);
  if (!line) throw new Error(id);
  return line;
}

const dataOf = (line: Line): Record<string, unknown> => line["data"] as Record<string, unknown>;
const listOf = (line: Line, name: string) => dataOf(line)[name] as Record<string, unknown>[];
const endsOf = (host: Host, id: string) =>
  host.lines.filter(({ type, id: its }) => its === id && (type === "done" || type === "error"));

async function finish(host: Host): Promise<void> {
  host.end();
  expect(await host.exited).toEqual({ code: 0, signal: null });
  expect(host.stray).toEqual([]);
  for (const line of host.lines) expect(Number.isInteger(line["timestamp"])).toBe(true);
}

describe("keel desktop", () => {
  test("conversations are made, spoken in, listed, loaded after a restart, gone on with and deleted", async () => {
    verifies("S1.1", "S1.2", "S1.3", "S1.4", "S1.5", "S1.6", "S1.7", "S1.8", "S1.37");
    const stage = await openStage((_, { assistantTurns }) => reply(`Answer ${assistantTurns}.`));
    const first = startDesktop(stage);
    expect(await first.next("ready")).toMatchObject({ protocol: 1, capabilities: expect.any(Array) });
    first.send({ id: "m1", kind: "user_message", message: "Name three rivers, please." });
    const done = await end(first, "m1");
    expect(done).toMatchObject({ type: "done", data: { status: "completed", text: "Answer 0." } });
    const tokens = first.lines.filter(({ type }) => type === "token");
    expect(tokens.map((line) => line["token"]).join("")).toBe("Answer 0.");
    expect(new Set(tokens.map((line) => line["id"]))).toEqual(new Set(["m1"]));
    first.send({ id: "n", kind: "new_conversation" });
    // On its heels: it goes to the new one.
    first.send({ id: "m2", kind: "user_message", message: "And three lakes." });
    const made = dataOf(await end(first, "n"))["conversation"] as Record<string, unknown>;
    expect(dataOf(await end(first, "m2"))["conversation_id"]).toBe(made["id"]);
    first.send({ id: "s", kind: "get_status" });
    expect(dataOf(await end(first, "s"))).toMatchObject({
      state: "ready",
      conversationLength: 2,
      uptime: expect.any(Number),
      conversation_id: made["id"],
    });
    await finish(first);

    const rivers = String(dataOf(done)["conversation_id"]);
    const second = startDesktop(stage);
    second.send({ id: "l", kind: "list_conversations" });
    expect(listOf(await end(second, "l"), "conversations")).toMatchObject([
      { id: made["id"], title: "And three lakes", message_count: 2, session_id: made["id"] },
      { id: rivers, title: "Name three rivers, please", message_count: 2, session_id: rivers },
    ]);
    second.send({ id: "o", kind: "load_conversation", conversation_id: rivers });
    second.send({ id: "m3", kind: "user_message", message: "Which is the longest?", images: null });
    expect(listOf(await end(second, "o"), "messages")).toMatchObject([
      { role: "user", content: "Name three rivers, please." },
      { role: "assistant", content: "Answer 0." },
    ]);
    // The model has what was said before.
    expect(dataOf(await end(second, "m3"))).toMatchObject({ text: "Answer 1.", conversation_id: rivers });
    second.send({ id: "d", kind: "delete_conversation", conversation_id: rivers });
    expect(await end(second, "d")).toMatchObject({ type: "done" });
    second.send({ id: "x", kind: "load_conversation", conversation_id: rivers });
    expect(await end(second, "x")).toMatchObject({ type: "error", code: "unknown_id" });
    second.send({ id: "l2", kind: "list_conversations" });
    expect(listOf(await end(second, "l2"), "conversations").map(({ id }) => id)).toEqual([made["id"]]);
    await finish(second);
  });

  test("a shell that knows only the first words holds ten conversations, over restarts and a kill", async () => {
    verifies("S1.1", "S1.2", "S1.6", "S1.34");
    const stage = await openStage((_, { lastUser, assistantTurns }) =>
      lastUser.includes("for ever")
        ? replyWith({ delayMs: 60_000 }, "never")
        : reply(`Said ${assistantTurns}.`),
    );
    const ids: string[] = [];
    let asked = 0;
    /** Sends what its own schema knows, and waits for the one end of it. */
    const ask = async (host: Host, kind: keyof typeof requestSchemas, fields: object = {}): Promise<Line> => {
      const request = { id: `r${++asked}`, kind, ...fields };
      expect(requestSchemas[kind].safeParse(request).success).toBe(true);
      host.send(request);
      const line = await end(host, request.id);
      expect(endsOf(host, request.id)).toHaveLength(1);
      return line;
    };
    const speak = async (host: Host, at: number): Promise<Line> => {
      await ask(host, "load_conversation", { conversation_id: ids[at] });
      const images = at % 2 === 0 ? JSON.stringify([{ data: pixel, mime_type: "image/png" }]) : null;
      return ask(host, "user_message", { message: `Word ${at}.`, images });
    };
    const first = startDesktop(stage);
    for (let at = 0; at < 5; at++) {
      const made = dataOf(await ask(first, "new_conversation"))["conversation"] as Record<string, unknown>;
      ids.push(String(made["id"]));
      expect(await speak(first, at)).toMatchObject({ type: "done", data: { text: "Said 0." } });
    }
    await finish(first);
    const second = startDesktop(stage);
    for (const at of [0, 5, 6, 7, 8, 9]) {
      if (at > 4) {
        const made = dataOf(await ask(second, "new_conversation"))["conversation"] as Record<string, unknown>;
        ids.push(String(made["id"]));
      }
      expect(await speak(second, at)).toMatchObject({ data: { text: at > 4 ? "Said 0." : "Said 1." } });
    }
    second.send({ id: "cut", kind: "user_message", message: "for ever" });
    await until("it is said", () => stage.server.requests.length === 12);
    second.child.kill("SIGKILL");
    await second.exited;
    expect(second.stray).toEqual([]);
    const third = startDesktop(stage);
    const listed = listOf(await ask(third, "list_conversations"), "conversations");
    expect(listed.map(({ id }) => id).sort()).toEqual([...ids].sort());
    for (const [at, id] of ids.entries()) {
      const loaded = await ask(third, "load_conversation", { conversation_id: id });
      const said = listOf(loaded, "messages").map(({ content }) => content);
      const once = [`Word ${at}.`, "Said 0."];
      expect(said).toEqual(
        at === 0 ? [...once, `Word ${at}.`, "Said 1."] : at < 9 ? once : [...once, "for ever"],
      );
    }
    third.send({ id: "slow", kind: "user_message", message: "for ever" });
    await until("it is said", () => stage.server.requests.length === 13);
    expect(dataOf(await ask(third, "interrupt"))["interrupted"]).toEqual(["slow"]);
    expect(await end(third, "slow")).toMatchObject({ type: "done", data: { status: "interrupted" } });
    expect(dataOf(await ask(third, "clear_history"))["stopped"]).toEqual([]);
    for (const id of ids)
      expect(await ask(third, "delete_conversation", { conversation_id: id })).toMatchObject({
        type: "done",
      });
    expect(listOf(await ask(third, "list_conversations"), "conversations")).toEqual([]);
    await finish(third);
  });

  test("pictures come as the text of a list and as a list, and reach the model behind the words", async () => {
    verifies("S1.34", "S1.35");
    const stage = await openStage({ replies: [], otherwise: reply("Seen.") }, { key: "sk-kept" });
    const allowed = path.join(stage.project, "allowed");
    mkdirSync(allowed);
    // The key in a file for this user alone, the folder by its variable, the model by its flag.
    const kept = await stage.run(["auth", "set", "anthropic", "--file", "--base-url", stage.server.url], {
      stdin: "sk-kept",
    });
    expect(kept.code).toBe(0);
    const host = startDesktop(stage, ["--model", "claude-sonnet-4-5"], { ALLOWED_ROOT_DIR: allowed });
    const images = [{ data: pixel, mime_type: "image/png" }];
    host.send({ id: "a", kind: "user_message", message: "look", images: JSON.stringify(images) });
    host.send({ id: "b", kind: "user_message", message: "look again", images });
    expect(await end(host, "a")).toMatchObject({ type: "done" });
    expect(await end(host, "b")).toMatchObject({ type: "done" });
    const last = JSON.stringify(stage.server.requests.at(-1)?.body);
    expect(last).toContain('"model":"claude-sonnet-4-5');
    expect(stage.log()[0]).toMatchObject({ cwd: allowed });
    expect(last.split(pixel)).toHaveLength(3);
    expect(last.indexOf("look")).toBeLessThan(last.indexOf(pixel));
    host.send({
      id: "c",
      kind: "user_message",
      message: "no",
      images: `[{"data":"data:x","mime_type":"image/png"}]`,
    });
    expect(await end(host, "c")).toMatchObject({ type: "error", code: "bad_field" });
    await finish(host);
  });

  test("messages wait for each other; an interrupt names what it stopped, clearing stops all, time runs out", async () => {
    verifies("S1.3", "S1.4", "S1.37");
    const stage = await openStage((_, { lastUser }) =>
      lastUser.includes("slow")
        ? replyWith({ delayMs: 60_000 }, "never")
        : reply(lastUser.includes("zebra") ? "Second." : "Other."),
    );
    const host = startDesktop(stage);
    host.send({ id: "i0", kind: "interrupt" });
    expect(dataOf(await end(host, "i0"))["interrupted"]).toEqual([]);
    host.send({ id: "a", kind: "user_message", message: "slow" });
    host.send({ id: "b", kind: "user_message", message: "zebra" });
    host.send({ id: "s", kind: "get_status" });
    expect(dataOf(await end(host, "s"))).toMatchObject({
      state: "processing",
      running: ["a"],
      waiting: ["b"],
    });
    host.send({ id: "i", kind: "interrupt" });
    expect(dataOf(await end(host, "i"))["interrupted"]).toEqual(["a"]);
    expect(await end(host, "a")).toMatchObject({ type: "done", data: { status: "interrupted" } });
    expect(await end(host, "b")).toMatchObject({ type: "done", data: { text: "Second." } });
    host.send({ id: "c", kind: "user_message", message: "slow" });
    host.send({ id: "d", kind: "user_message", message: "slow too" });
    host.send({ id: "clear", kind: "clear_history" });
    host.send({ id: "e", kind: "user_message", message: "after" });
    expect(dataOf(await end(host, "clear"))["stopped"]).toEqual(["c", "d"]);
    expect(dataOf(await end(host, "e"))["text"]).toBe("Other.");
    // What was said before is not sent any more, and is still on record.
    const sent = JSON.stringify(stage.server.requests.at(-1)?.body);
    expect(sent).toContain("after");
    expect(sent).not.toContain("zebra");
    host.send({ id: "t", kind: "user_message", message: "slow", timeout_ms: 300 });
    expect(await end(host, "t")).toMatchObject({ type: "error", code: "timeout" });
    for (const id of ["a", "b", "c", "d", "clear", "e", "t"]) expect(endsOf(host, id), id).toHaveLength(1);
    await finish(host);
  });

  test("what is not decided is asked; an answer counts once, and a shell that cannot be asked refuses", async () => {
    verifies("S1.10", "S1.11", "S1.17");
    const server = "mcp__desktop-assistant-tools__";
    const call = reply(
      toolUse(`${server}write_file`, { path: "note.txt", content: "hello" }, "w"),
      toolUse(`${server}read_file`, { path: "there.txt" }, "r"),
    );
    const stage = await openStage({ replies: [call, reply("Written."), call, reply("Not written.")] });
    writeFileSync(path.join(stage.project, "there.txt"), "words");
    const host = startDesktop(stage);
    host.send({ id: "m", kind: "user_message", message: "write it" });
    const ask = await host.next("ask");
    expect(ask).toMatchObject({ id: "m", data: { toolName: `${server}write_file`, askKind: "permission" } });
    const askId = dataOf(ask)["askId"];
    host.send({ id: "a0", kind: "answer_ask", ask_id: "none", approved: true });
    expect(await end(host, "a0")).toMatchObject({ type: "error", code: "unknown_id" });
    host.send({ id: "a1", kind: "answer_ask", ask_id: askId, approved: true });
    expect(await end(host, "a1")).toMatchObject({ type: "done" });
    expect(await end(host, "m")).toMatchObject({ type: "done", data: { text: "Written." } });
    host.send({ id: "a2", kind: "answer_ask", ask_id: askId, approved: true });
    expect(await end(host, "a2")).toMatchObject({ type: "error" });
    const results = host.lines.filter(({ type }) => type === "tool_result").map(dataOf);
    expect(results).toMatchObject([
      { toolId: expect.any(String), failed: false },
      { toolId: expect.any(String), failed: false },
    ]);
    expect(
      host.lines.filter(({ type }) => type === "tool_use").map((line) => dataOf(line)["toolId"]),
    ).toEqual(["w", "r"]);
    await finish(host);
    rmSync(path.join(stage.project, "note.txt"));
    const mute = startDesktop(stage, ["--asks", "refused"]);
    mute.send({ id: "m", kind: "user_message", message: "write it" });
    expect(await end(mute, "m")).toMatchObject({ type: "done", data: { text: "Not written." } });
    expect(mute.lines.filter(({ type }) => type === "tool_result").map(dataOf)).toContainEqual(
      expect.objectContaining({ toolId: "w", denied: true }),
    );
    await finish(mute);
  });

  test("slash commands answer under the id of their message; agents that come into the folder are found", async () => {
    verifies("S1.19", "S1.20", "S1.21");
    const stage = await openStage({ replies: [], otherwise: reply("Heard.") });
    const host = startDesktop(stage);
    host.send({ id: "h", kind: "user_message", message: "/help" });
    expect(dataOf(await end(host, "h"))["text"]).toContain("/status");
    host.send({ id: "s", kind: "user_message", message: "/session" });
    const status = dataOf(await end(host, "s"));
    expect(status["text"]).toContain(`Session: ${status["session_id"]}`);
    expect(stage.server.requests).toHaveLength(0);
    host.send({ id: "u", kind: "user_message", message: "/ultrathink about it" });
    expect(dataOf(await end(host, "u"))["text"]).toBe("Heard.");
    expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain("/ultrathink about it");
    host.send({ id: "r", kind: "user_message", message: "/reset" });
    expect(await end(host, "r")).toMatchObject({ type: "done", data: { command: "clear" } });
    const agents = path.join(stage.env["HOME"] ?? "", ".claude", "agents");
    mkdirSync(agents, { recursive: true });
    writeFileSync(
      path.join(agents, "gardener.md"),
      "---\nname: gardener\ndescription: Knows plants.\n---\nYou know plants.\n",
    );
    host.send({ id: "g", kind: "user_message", message: "@gardener which rose is it?" });
    expect(await end(host, "g")).toMatchObject({ type: "done" });
    const sent = JSON.stringify(stage.server.requests.at(-1)?.body);
    expect(sent).toContain('the agent \\"gardener\\"');
    await finish(host);
  });

  test("one conversation here, on the command line and by a program is one log; who has it open keeps the others out", async () => {
    verifies("S1.8");
    const stage = await openStage((_, { assistantTurns }) => reply(`Said ${assistantTurns}.`));
    const first = startDesktop(stage);
    first.send({ id: "m", kind: "user_message", message: "here" });
    const id = String(dataOf(await end(first, "m"))["conversation_id"]);
    const other = startDesktop(stage);
    for (const kind of ["user_message", "delete_conversation"]) {
      other.send({ id: kind, kind, conversation_id: id, message: "me too" });
      expect(await end(other, kind)).toMatchObject({ type: "error", fault: "session_busy" });
    }
    expect((await stage.run(["-p", "--resume", id, "me too"])).stderr).toContain("open in another process");
    await finish(first);
    expect((await stage.run(["-p", "--resume", id, "there"])).stdout).toContain("Said 1.");
    const env = { PATH: process.env["PATH"], ...stage.env };
    const options = { cwd: stage.project, env, resume: id };
    expect(await Array.fromAsync(query({ prompt: "by a program", options }))).toContainEqual(
      expect.objectContaining({ type: "result", result: "Said 2.", session_id: id }),
    );
    other.send({ id: "o", kind: "load_conversation", conversation_id: id });
    expect(listOf(await end(other, "o"), "messages").map(({ content }) => content)).toEqual([
      "here",
      "Said 0.",
      "there",
      "Said 1.",
      "by a program",
      "Said 2.",
    ]);
    other.send({ id: "m", kind: "user_message", message: "and back" });
    expect(dataOf(await end(other, "m"))["text"]).toBe("Said 3.");
    expect(stage.sessions()).toEqual([id]);
    await finish(other);
  });
});
