// `keel attach`: a session of the server on a terminal, typed at by real keys; and the commands that meet one.
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { clientOf, heardUntil, isTurnEnd, openServeStage, words } from "./serve-stage.ts";
import { type Running, until } from "./stage.ts";
import { hasTerminal, startOnTerminal } from "./terminal.ts";

const shows = (running: Running, words: string): Promise<void> =>
  until(`${words} in ${JSON.stringify(running.out().slice(-500))}`, () => running.out().includes(words));
/** On a terminal that cannot be drawn on it is lines; otherwise the screen, which has tests of its own. */
const plain = <T extends { readonly env: Record<string, string> }>(stage: T): T => ({
  ...stage,
  env: { ...stage.env, TERM: "dumb" },
});
const type = (running: Running, keys: string): void => void running.child.stdin?.write(keys);

describe("keel attach", () => {
  test("shows what was said, says what is typed, asks with the choices of the terminal, and lets go", async () => {
    verifies("S4.38", "P16");
    if (!hasTerminal()) return notRunHere("attaching on a terminal", "script of util-linux absent");
    const stage = await openServeStage(
      byPosition([
        reply("First answer."),
        reply(toolUse("Bash", { command: "touch made" })),
        reply("It is made.\nAll of it."),
      ]),
    );
    const state = await stage.detach();
    const client = await clientOf(state);
    const handle = await client.open({ cwd: stage.project });
    const first = heardUntil(handle.events(), isTurnEnd);
    await handle.submit(words("The first question"));
    await first;

    // None is named: it is the newest of this folder.
    const running = startOnTerminal(["attach"], plain(stage));
    await shows(running, "Attached to");
    expect(running.out()).toContain("> You (this machine): The first question");
    expect(running.out()).toContain("First answer.");
    type(running, "Make it\n");
    await shows(running, "] > ");
    expect(running.out()).toContain("│ touch made");
    type(running, "o\n");
    await shows(running, "All of it.");
    expect(existsSync(path.join(stage.project, "made"))).toBe(true);
    // What somebody else says is shown too.
    const other = heardUntil(handle.events(), isTurnEnd);
    await handle.submit(words("Said by a program"));
    await shows(running, "> You (this machine): Said by a program");
    await other;
    type(running, "/detach\n");
    const ended = await running.ended;
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain(`keel attach ${handle.id}`);
    // The session is at the server as before.
    expect(await client.session(handle.id)).toMatchObject({ working: false });
  });

  test("Ctrl-C interrupts, and twice lets go while the session goes on", async () => {
    if (!hasTerminal()) return notRunHere("attaching on a terminal", "script of util-linux absent");
    const stage = await openServeStage(
      byPosition([reply(toolUse("Bash", { command: "sleep 60" })), reply("Next.")]),
    );
    const client = await clientOf(await stage.detach());
    const handle = await client.open({ cwd: stage.project, options: { allowedTools: ["Bash(sleep:*)"] } });
    const running = startOnTerminal(["attach", handle.id], plain(stage));
    await shows(running, "Attached to");
    const ended = heardUntil(handle.events(), isTurnEnd);
    type(running, "Wait\n");
    await shows(running, "· Bash sleep 60");
    type(running, "\u0003");
    expect((await ended).at(-1)).toMatchObject({ type: "turn.finished", reason: "interrupted" });
    await shows(running, "Once more: detach.");
    type(running, "\u0003");
    expect((await running.ended).code).toBe(0);
    const next = heardUntil(
      handle.events(),
      (event) => isTurnEnd(event) && "reason" in event && event.reason === "completed",
    );
    await handle.submit(words("Go on"));
    expect((await next).at(-1)).toMatchObject({ reason: "completed" });
  });

  test("an ask that somebody else answers is withdrawn here", async () => {
    if (!hasTerminal()) return notRunHere("attaching on a terminal", "script of util-linux absent");
    const stage = await openServeStage(
      byPosition([reply(toolUse("Bash", { command: "touch made" })), reply("Done with it.")]),
    );
    const client = await clientOf(await stage.detach());
    const handle = await client.open({ cwd: stage.project });
    const asked = heardUntil(handle.events(), ({ type }) => type === "ask.opened");
    await handle.submit(words("Make it"));
    await asked;
    const running = startOnTerminal(["attach", handle.id], plain(stage));
    await shows(running, "It waits for an answer.");
    await shows(running, "] > ");
    const [ask] = await handle.asks();
    await handle.submit({ type: "answer", askId: ask?.id ?? "", answer: { verdict: "deny" } });
    await shows(running, "(refused, by");
    await shows(running, "Done with it.");
    type(running, "\u0004");
    expect((await running.ended).code).toBe(0);
  });

  test("takes lines of a pipe as what to say, and ends when they are answered; it answers no ask", async () => {
    const stage = await openServeStage(byPosition([reply("One."), reply("Two.")]));
    const client = await clientOf(await stage.detach());
    const handle = await client.open({ cwd: stage.project });
    const piped = await stage.run(["attach", handle.id], { stdin: "first\nsecond\n" });
    expect(piped.code).toBe(0);
    const lines = piped.stdout.trim().split("\n");
    expect(lines.toSorted()).toEqual(["> first", "> second", "One.", "Two."]);
    expect(lines.indexOf("One.")).toBeLessThan(lines.indexOf("Two."));
  });

  test("says what it lacks: a server, a session, the session's being free", async () => {
    const stage = await openServeStage(byPosition([]));
    const none = await stage.run(["attach"]);
    expect(none).toMatchObject({ code: 69 });
    expect(none.stderr).toContain("keel serve");
    await stage.detach();
    expect((await stage.run(["attach"])).code).toBe(66);
    const unknown = await stage.run(["attach", "0198c0de-0000-7000-8000-000000000001"]);
    expect(unknown.code).toBe(66);
  });
});
