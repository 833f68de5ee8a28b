// The screen on a session of the server: the same law, also when the server is killed in the middle of a reply.
import { describe, expect, test } from "vitest";
import { reply, replyWith } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openScreen } from "../tui/screen.ts";
import { ready, say } from "../tui/stage.ts";
import { openServeStage } from "./serve-stage.ts";
import { command, until } from "./stage.ts";

const numbered = Array.from(
  { length: 30 },
  (_, line) => `LINE-${String(line).padStart(2, "0")} of the reply`,
).join("\n");

describe("a session of the server on the screen", () => {
  test("is joined, goes on over a server that was killed, and each row stands once", async () => {
    verifies("S4.71");
    const stage = await openServeStage({
      replies: [reply("First."), replyWith({ betweenMs: 30, chunkChars: 40 }, numbered), reply(numbered)],
    });
    const env = { ...stage.env, ANTHROPIC_API_KEY: "none", PWD: stage.project };
    const { child } = await stage.serve();
    const { clientOf } = await import("./serve-stage.ts");
    const { readServerState } = await import("../../keel/src/app/sessions/home-server.ts");
    const state = await readServerState(stage.home);
    if (!state) throw new Error("no server");
    const client = await clientOf(state);
    const handle = await client.open({ cwd: stage.project });
    const source = process.env["KEEL_SCREEN_SOURCE"];
    const screen = openScreen({
      command: source ? process.execPath : command,
      parameters: [...(source ? [source] : []), "attach", handle.id],
      cwd: stage.project,
      env: { PATH: process.env["PATH"], ...env },
    });
    try {
      await ready(screen);
      say(screen, "One");
      await screen.until("the first reply", ({ text }) => text().includes("First."));
      await ready(screen);
      say(screen, "Two");
      await screen.until("a part of it", ({ text }) => text().includes("LINE-03"));
      child.kill("SIGKILL");
      await screen.until("the loss", ({ rows }) => rows().some((row) => row.includes("connection lost")));
      await stage.serve();
      await screen.until("the whole reply", ({ text }) => text().includes("LINE-29"));
      await ready(screen);
      screen.type("\u0004");
      expect((await screen.ended).code).toBe(0);
      await screen.settled();
      const seen = screen.text();
      expect(seen).toContain("Left. It goes on at the server");
      await until(
        "the end in the log",
        () => stage.log(handle.id).filter(({ type }) => type === "turn.finished").length >= 2,
      );
      const counts = [...new Set(seen.match(/LINE-\d\d/g))].length;
      expect(counts).toBe(30);
    } finally {
      screen.kill("SIGKILL");
    }
  });
});
