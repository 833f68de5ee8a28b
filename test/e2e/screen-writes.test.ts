// What the screen writes, write by write, and what becomes of keys that are typed before it is there.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { reply, replyWith } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { command, leave, openScreenStage, ready, say } from "../tui/stage.ts";

const begin = "\u001b[?2026h";
const end = "\u001b[?2026l";

test("every frame is one write, and thirty in a second are the most", async () => {
  verifies("S4.71");
  const stage = await openScreenStage({
    replies: [replyWith({ betweenMs: 2, chunkChars: 6 }, "some words of it\n".repeat(300))],
  });
  const noted = path.join(stage.folder, "writes");
  const noting = path.join(stage.folder, "noting.mjs");
  writeFileSync(
    noting,
    `import { appendFileSync } from "node:fs";
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (text, ...more) => {
  appendFileSync(${JSON.stringify(noted)}, JSON.stringify(String(text)) + "\\n");
  return write(text, ...more);
};
`,
  );
  const screen = stage.open([], { env: { NODE_OPTIONS: `--import=${noting}` } });
  const startedAt = performance.now();
  await ready(screen);
  say(screen, "Write");
  await screen.until("the reply", ({ text }) => text().includes("some words"));
  for (let key = 0; key < 60; key++) {
    screen.type("k");
    await pause(5);
  }
  await screen.until("the end", ({ text }) => (text().match(/some words of it/g) ?? []).length >= 300);
  // Ctrl-U takes what was typed away.
  screen.type("\u0015");
  await ready(screen);
  await leave(screen);
  const seconds = (performance.now() - startedAt) / 1_000;
  const writes = readFileSync(noted, "utf8")
    .trim()
    .split("\n")
    .map((line) => String(JSON.parse(line)));
  const frames = writes.filter((text) => text.includes(begin));
  expect(frames.length).toBeGreaterThan(10);
  // The first comes with the modes of the terminal around it, the last with their ends behind it.
  const isWhole = (text: string): boolean => text.split(begin).length === 2 && text.includes(end);
  expect(frames.filter((text) => !isWhole(text))).toEqual([]);
  expect(frames.slice(1).filter((text) => !text.startsWith(begin))).toEqual([]);
  expect(frames.length).toBeLessThanOrEqual(30 * (Math.ceil(seconds) + 1));
});

test("what is typed before the screen is there stands in its input", async () => {
  verifies("S4.71");
  const stage = await openScreenStage({ replies: [reply("I read it.")] });
  const screen = stage.open([], { live: [/^Early words/] });
  screen.type("Early words");
  await screen.until("the words", ({ rows }) => rows().some((row) => /> Early words$/.test(row.trimEnd())));
  screen.type("\r");
  await screen.until("the reply", ({ text }) => text().includes("I read it."));
  await ready(screen);
  await leave(screen);
  const inputs = (await stage.log()).filter(({ type }) => type === "input.accepted");
  expect(inputs).toMatchObject([{ input: { content: [{ type: "text", text: "Early words" }] } }]);
});

test("stops and returns, at rest and while a reply is written, leave every row once", async () => {
  verifies("S4.71");
  const numbered = (name: string): string =>
    Array.from({ length: 40 }, (_, line) => `${name}-${line} of the reply`).join("\n");
  const stage = await openScreenStage({
    replies: [
      replyWith({ betweenMs: 20, chunkChars: 20 }, numbered("ONE")),
      replyWith({ betweenMs: 20, chunkChars: 20 }, numbered("TWO")),
    ],
  });
  const screen = stage.open(["--norc", "--noprofile", "--noediting", "-i"], {
    command: "/bin/bash",
    env: { PS1: "SHELL " },
    unlogged: "a shell writes between its rows",
  });
  screen.type(`'${command}'\r`);
  let stops = 0;
  const stopped = async (): Promise<void> => {
    stops++;
    screen.type("\u001a");
    await screen.until("the shell", ({ text }) => (text().match(/^\[1\].*Stopped/gm) ?? []).length === stops);
    screen.type("fg\r");
  };
  await ready(screen);
  await stopped();
  await ready(screen);
  say(screen, "Write");
  for (const sign of ["ONE-5 ", "ONE-20 "]) {
    await screen.until(sign, ({ text }) => text().includes(sign));
    await stopped();
  }
  await screen.until("the end", ({ text }) => text().includes("ONE-39 "));
  await ready(screen);
  await stopped();
  await ready(screen);
  say(screen, "Again");
  await screen.until("the end", ({ text }) => text().includes("TWO-39 "));
  await ready(screen);
  screen.type("\u0004");
  await screen.until("the shell", ({ rows }) => /^SHELL/.test(rows().findLast((row) => row !== "") ?? ""));
  screen.type("exit\r");
  expect((await screen.ended).code).toBe(0);
  const isOfShell = (line: string): boolean =>
    /^SHELL|Stopped|^exit$|^(?:Keel \d|Ended\.)/.test(line) || line.includes(command);
  const rows = screen.lines().map(({ text }) => text.trim());
  expect(rows.filter((line) => line !== "" && !isOfShell(line))).toEqual([
    "▍Write",
    ...numbered("ONE").split("\n"),
    "▍Again",
    ...numbered("TWO").split("\n"),
  ]);
});
