// Files and lines that the guide shows are read by the built command, which has nothing to say against them.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "jsonc-parser";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { installedPeers } from "../../bench/peers.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { examplesOf, settingsInProse, withKey } from "../docs/examples.ts";
import type { Fence } from "../docs/fences.ts";
import { lines, openStage, type Stage } from "./stage.ts";

/** Both providers are there: the scripted model speaks for them. */
async function stageOf(): Promise<Stage> {
  const stage = await openStage({ replies: [], otherwise: reply("ok") });
  const tokens = { TRACKER_TOKEN: "token", GITHUB_TOKEN: "a-token-that-opens-nothing" };
  Object.assign(stage.env, { OPENAI_BASE_URL: `${stage.server.url}/v1`, ...tokens });
  return stage;
}

const named = <Of extends Pick<Fence, "page" | "line">>(fences: readonly Of[]) =>
  fences.map((fence) => ({ ...fence, name: `${fence.page}:${fence.line}` }));

describe("settings in the guide", () => {
  const settings = [...examplesOf("settings"), ...settingsInProse()];

  test.each(named(settings))("$name count, without a warning", async ({ text }) => {
    const stage = await stageOf();
    const { complaints, listed } = await readSettings(stage, text);
    expect(complaints).toEqual([]);
    const counting = lines(listed)
      .flat()
      .map((one) => JSON.parse(JSON.stringify(one)))
      .filter(({ source, state }) => source === "user" && state === "counts")
      .map(({ name }) => String(name).split(".")[0]);
    expect([...new Set(counting)].sort()).toEqual(Object.keys(parse(text)).sort());
  });

  test.each([
    ['{ "web": { "allowHost": ["a"] } }', "nothing is called web.allowHost"],
    ['{ "hooks": { "Stop": [{ "hooks": [{ "type": "prompt" }] }] } }', "it has no prompt"],
    ['{ "permissions": { "allow": ["Bash("] } }', "not a permission rule"],
    ["{", "settings"],
  ])("would be told of %s", async (text, words) => {
    const { complaints } = await readSettings(await stageOf(), text);
    expect(complaints.join("\n")).toContain(words);
  });
});

type Read = { readonly complaints: readonly string[]; readonly listed: string };

/** What counts, and what the command has to say when it reads these settings and opens a session with them. */
async function readSettings(stage: Stage, settings: string): Promise<Read> {
  mkdirSync(stage.home);
  // A key that a reader has in a file.
  writeFileSync(path.join(stage.home, ".example-key"), "a-key-that-opens-nothing\n", { mode: 0o600 });
  writeFileSync(path.join(stage.home, "settings.json"), settings.replaceAll("/home/me", stage.home));
  const listed = await stage.run(["config", "list", "--json"]);
  // Without a line it opens a session and closes it.
  const opened = await stage.run(["runner"]);
  const codes = [listed, opened].filter(({ code }) => code !== 0).map(({ code }) => `ended with ${code}`);
  const notices = opened.stdout.split("\n").filter((line) => line.includes('"agent_notification"'));
  const said = `${listed.stderr}${opened.stderr}`.split("\n");
  return { complaints: [...codes, ...notices, ...said].filter(Boolean), listed: listed.stdout };
}

describe("rules in the guide", () => {
  test.each(named(examplesOf("rules")))(
    "$name have the verdicts that are expected",
    async ({ label, text }) => {
      const stage = await stageOf();
      const file = path.join(stage.project, label);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
      expect(await stage.run(["permissions", "test", label])).toMatchObject({ code: 0, stderr: "" });
      writeFileSync(file, text.replace('"allow" }', '"deny" }').replace("\nallow $", "\ndeny $"));
      expect(await stage.run(["permissions", "test", label])).toMatchObject({ code: 1 });
    },
  );
});

describe("servers in the guide", () => {
  test.each(named(examplesOf("servers")))("$name are known to the command", async ({ label, text }) => {
    const stage = await stageOf();
    writeFileSync(path.join(stage.project, label), text);
    expect(await stage.run(["trust", "add"])).toMatchObject({ code: 0 });
    const listed = await stage.run(["mcp", "list"]);
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    const names = listed.stdout.split("\n").map((line) => line.split(" ")[0]);
    expect(names.filter(Boolean)).toEqual(Object.keys(parse(text).mcpServers));
  });
});

describe("lines in the guide", () => {
  test.each(named(examplesOf("piped")))("$name are understood: $label", async ({ label, text }) => {
    const stage = await stageOf();
    const parameters = label.replace("| keel ", "").split(" ");
    const ended = await stage.run(parameters, { stdin: withKey(text) });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).not.toContain('"error"');
    expect(lines(ended.stdout).length).toBeGreaterThan(0);
    const broken = await stage.run(parameters, { stdin: text.replace("}", "") });
    expect(`${broken.code} ${broken.stdout}`).toMatch(/^64|"error"/);
  });

  test.each(named(examplesOf("wire")))("$name are said and answered in this order", async ({ text }) => {
    const stage = await stageOf();
    const shown = (arrow: string) =>
      text.split("\n").flatMap((line) => (line.startsWith(`${arrow} `) ? [line.slice(2)] : []));
    const ended = await stage.run(["--input-format", "stream-json", "--output-format", "stream-json"], {
      stdin: shown("→")
        .map((line) => `${line}\n`)
        .join(""),
    });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    const heard = ended.stdout.split("\n").map(kindsIn);
    expect(heard.filter((kind) => shown("←").map(kindsIn).includes(kind))).toEqual(shown("←").map(kindsIn));
  });
});

/** The first type and subtype of a line: what a reader goes by. */
function kindsIn(line: string): string {
  const of = (name: string) => new RegExp(`"${name}":"(\\w+)"`).exec(line)?.[1];
  return `${of("type")} ${of("subtype")}`;
}

test.each(named(examplesOf("peer")))("$name is a file that the benchmark reads", async ({ text }) => {
  const { project } = await stageOf();
  const peer = JSON.parse(text);
  writeFileSync(path.join(project, "program.json"), text);
  expect(installedPeers(project)).toEqual([]);
  vi.stubEnv("PATH", project);
  onTestFinished(() => void vi.unstubAllEnvs());
  const command = path.join(project, peer.command);
  writeFileSync(command, "");
  expect(installedPeers(project)).toEqual([{ ...peer, command }]);
});
