// Watches all sessions of a home: which there are, what each is doing, and what waits for an answer.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { connect } from "keel/client";
import { reply, toolUse } from "keel/testing";
import { foldActivity, idle } from "keel/view";
import { stage } from "./scripted.ts";

await using scripted = await stage({
  replies: [reply("Hello."), reply(toolUse("Bash", { command: "touch made" })), reply("As you say.")],
});
const { cwd } = scripted;
const keel = path.dirname(createRequire(import.meta.url).resolve("keel/package.json"));
const command = [path.join(keel, "bin/start.cjs"), "serve", "--port", "0", "--json"];
const server = spawn(process.execPath, command, { cwd, env: process.env });
const [line = ""] = await new Promise<[string]>((resolve) =>
  createInterface({ input: server.stdout }).once("line", (first) => resolve([first])),
);
const { url, secretFile } = JSON.parse(line);
const seen: string[] = [];
const print = (words: string): void => void seen.push(words);

// #region watch-sessions
const client = connect({ url, secret: readFileSync(secretFile, "utf8").trim(), name: "a watcher" });
client.onLink(({ state }) => print(`the server: ${state}`));

/** Says what one session does whenever that changes, until it is closed. */
async function watch(id: string): Promise<void> {
  let activity = idle;
  for await (const event of client.attach(id).events()) {
    const before = activity.state;
    activity = foldActivity(activity, event);
    if (activity.state !== before) print(`${id} is ${activity.state}`);
    if (event.type === "ask.opened") print(`${id} asks: ${event.ask.title}`);
  }
}

/** Those that are there, and those that come. */
const watched = new Set<string>();
async function look(): Promise<void> {
  for (const { id, owner } of await client.sessions()) {
    if (watched.has(id) || owner === "elsewhere") continue;
    watched.add(id);
    watch(id).catch((problem) => print(`${id}: ${problem.message}`));
  }
}
const looking = setInterval(() => look().catch(() => undefined), 1_000);
// #endregion

const session = await client.open({ cwd, options: { model: "claude-haiku-4-5" } });
const until = async (what: RegExp): Promise<void> => {
  for (let tries = 0; tries < 1_000 && !seen.some((words) => what.test(words)); tries++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.match(seen.join("\n"), what);
};
const say = (text: string) => session.submit({ type: "input", content: [{ type: "text", text }] });
await say("Hi");
await until(new RegExp(`${session.id} is running`));
await until(new RegExp(`${session.id} is idle`));
await say("Make it");
await until(new RegExp(`${session.id} asks: `));
const [ask] = await session.asks();
await session.submit({ type: "answer", askId: ask?.id ?? "", answer: { verdict: "deny" } });
clearInterval(looking);
client.close();
server.kill("SIGTERM");
await new Promise((resolve) => server.once("exit", resolve));
