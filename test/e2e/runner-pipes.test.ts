// Ends of a runner: slow readers get everything, and closed pipes crash nothing.
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { startHost } from "./runner-host.ts";
import { command, openStage } from "./stage.ts";

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

test("whatever its reader's speed, the lines of every end are whole", { timeout: 3_600_000 }, async () => {
  verifies("G14", "G40");
  const stage = await openStage({
    replies: [],
    otherwise: replyWith({ chunkChars: 50_000 }, "words and words\n\n".repeat(10_000)),
  });
  const random = generator(seed());
  for (let run = 0; run < countOf("runner-pipes"); run++) {
    const host = startHost(stage);
    host.child.stdout?.pause();
    host.send({ type: "message", id: uuid(1), content: "go" });
    host.end();
    // In sips of random size, with pauses: the process waits for its reader.
    const slow = Math.floor(random() * 30);
    for (let sip = 0; sip < 20; sip++) {
      host.child.stdout?.resume();
      await pause(1);
      host.child.stdout?.pause();
      await pause(slow);
    }
    host.child.stdout?.resume();
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(host.stray).toEqual([]);
    expect(host.lines.at(-1)?.type).toBe("shutdown");
    const spoken = host.lines.filter(({ type }) => type === "assistant_text").map((line) => line["text"]);
    expect(spoken.join("")).toBe("words and words\n\n".repeat(10_000));
  }
});

test("a pipe that closes at any moment raises no uncaught error, and the log is whole", {
  timeout: 3_600_000,
}, async () => {
  verifies("G15");
  const stage = await openStage((_, { assistantTurns }) =>
    assistantTurns < 4
      ? replyWith({ delayMs: 15 }, "step", toolUse("Read", { file_path: "none" }))
      : reply("the end"),
  );
  const random = generator(seed() + 1);
  for (let run = 0; run < countOf("runner-pipes"); run++) {
    const which = (["stdin", "stdout", "stderr"] as const)[Math.floor(random() * 3)] ?? "stdout";
    const child = spawn(command, ["runner"], {
      cwd: stage.project,
      env: { PATH: process.env["PATH"], ...stage.env },
    });
    const err: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.stdout.resume();
    child.stdin.on("error", () => undefined);
    const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
    child.stdin.write(`${JSON.stringify({ type: "message", content: "go" })}\n`);
    await pause(random() * 800);
    child[which].destroy();
    if (which === "stderr") child.stdin.end();
    const code = await exited;
    const about = `${which}: ${Buffer.concat(err)}`;
    expect(which === "stdout" ? [0, 74] : [0], about).toContain(code);
    expect(Buffer.concat(err).toString(), about).toBe("");
  }
  for (const session of stage.sessions()) {
    const log = stage.log(session);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.at(-1)?.type).toBe("session.closed");
  }
});

function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
