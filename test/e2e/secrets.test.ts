// Sixty canaries, ten kinds of secrets in six situations: none of them is found where it was not put.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { verifies } from "../support/verifies.ts";
import { startHost } from "./runner-host.ts";
import { openStage, type Stage, until } from "./stage.ts";

type Canaries = Readonly<Record<(typeof kinds)[number], string>>;

const kinds = [
  ...(["key", "token", "header", "otherKey", "searchKey", "embeddingKey", "own", "urlPassword"] as const),
  ...(["serverHeader", "serverEnv"] as const),
] as const;

const canariesOf = (situation: string): Canaries =>
  Object.fromEntries(kinds.map((kind) => [kind, `canary-${situation}-${kind}-0123456789abcdef`])) as Canaries;

/** Everything that a model can do to see the environment of its commands. */
const look =
  "env; printenv; export -p; cat /proc/self/environ /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n'";

const looking = [reply(toolUse("Bash", { command: look }, "b")), reply("Done.")];
const everything = ["--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions"];

type Outcome = { readonly stage: Stage; readonly said: string };

const situations: Readonly<Record<string, (canaries: Canaries) => Promise<Outcome>>> = {
  async looking(canaries) {
    const stage = await prepared(canaries, looking);
    const ended = await stage.run(
      ["-p", "go", "--output-format", "stream-json", "--verbose", ...everything],
      { env: environment(stage, canaries) },
    );
    expect(ended.code).toBe(0);
    // The command did run, and saw an environment.
    expect(ended.stdout).toContain("KEEL_IS_ABSENT_BUT_THIS_IS_HERE");
    return { stage, said: ended.stdout + ended.stderr };
  },
  async refused(canaries) {
    // A provider knows no more than it was sent.
    const message = `The key ${canaries.key} is not valid`;
    const fault = { kind: "http", status: 401, type: "authentication_error", message } as const;
    const stage = await prepared(canaries, [replyWith({ fault })]);
    const ended = await stage.run(["-p", "go", "--output-format", "json", "--verbose"], {
      env: environment(stage, canaries),
    });
    expect(ended.code).not.toBe(0);
    return { stage, said: ended.stdout + ended.stderr };
  },
  async broken(canaries) {
    const error = { type: "api_error", message: `lost ${canaries.key}` };
    const fault = { kind: "cut", afterEvents: 2, error } as const;
    const stage = await prepared(canaries, [replyWith({ fault }, "some words"), reply("Done.")]);
    const ended = await stage.run(["-p", "go", "--output-format", "stream-json", "--verbose"], {
      env: environment(stage, canaries),
    });
    return { stage, said: ended.stdout + ended.stderr };
  },
  async runner(canaries) {
    const stage = await prepared(canaries, looking);
    const host = startHost(stage, ["--sdk-debug", ...everything], environment(stage, canaries));
    let said = "";
    for (const stream of [host.child.stdout, host.child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
    host.send({ type: "message", content: "go" });
    expect(await host.next("result")).toMatchObject({ success: true });
    host.end();
    await host.exited;
    expect(said).toContain("KEEL_IS_ABSENT_BUT_THIS_IS_HERE");
    return { stage, said };
  },
  async unreachable(canaries) {
    const stage = await prepared(canaries, []);
    const env = { ...environment(stage, canaries), ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    const { child, err, ended } = stage.start(["-p", "go", "--verbose"], { env });
    child.stdin?.end();
    await until("it says why", () => err().includes("cannot be reached"));
    child.kill("SIGINT");
    const { stdout, stderr } = await ended;
    return { stage, said: stdout + stderr };
  },
  async shown(canaries) {
    const stage = await prepared(canaries, [reply("Hello.")]);
    const env = environment(stage, canaries);
    const bundle = path.join(stage.project, "bundle.json");
    const asked = [
      ["-p", "go"],
      ...[["doctor"], ["doctor", "--json"], ["doctor", "--bundle", bundle], ["config", "list", "--origin"]],
      ...[
        ["mcp", "list"],
        ["mcp", "get", "web"],
        ["mcp", "get", "local"],
        ["models"],
        ["auth", "status"],
        ["usage"],
      ],
    ];
    let said = "";
    for (const parameters of asked) {
      const { stdout, stderr } = await stage.run(parameters, { env });
      said += stdout + stderr;
    }
    const [session = ""] = stage.sessions();
    for (const format of ["jsonl", "md", "html"])
      said += (await stage.run(["sessions", "export", session, "--format", format], { env })).stdout;
    return { stage, said: said + readFileSync(bundle, "utf8") };
  },
};

describe("secrets", () => {
  test.each(Object.entries(situations))("are found nowhere: %s", { timeout: 120_000 }, async (name, run) => {
    verifies("G44");
    const canaries = canariesOf(name);
    const { stage, said } = await run(canaries);
    const kept = filesIn(path.dirname(stage.home)).filter((file) => !given.has(path.basename(file)));
    const places = {
      said,
      // Headers are where a key belongs; nothing else that is sent may hold one.
      sent: stage.server.requests.map(({ body, path: at }) => JSON.stringify([at, body])).join(),
      ...Object.fromEntries(kept.map((file) => [file, readFileSync(file, "latin1")])),
    };
    const found = Object.entries(places).flatMap(([place, text]) =>
      Object.values(canaries).flatMap((canary) => (text.includes(canary) ? [`${canary} in ${place}`] : [])),
    );
    expect(found).toEqual([]);
    expect(kept.length).toBeGreaterThan(0);
    const open = [...filesIn(stage.home), ...foldersIn(stage.home)].filter((each) => {
      const stats = statSync(each);
      return (stats.mode & 0o777) !== (stats.isDirectory() ? 0o700 : 0o600);
    });
    expect(open.filter((each) => !given.has(path.basename(each)))).toEqual([]);
  });
});

/** Files that the test itself wrote, with secrets in them as a person may have written them. */
const given = new Set(["settings.json", "server.mjs"]);

async function prepared(canaries: Canaries, replies: readonly Reply[]): Promise<Stage> {
  const stage = await openStage({ replies });
  mkdirSync(stage.home, { recursive: true, mode: 0o700 });
  const settings = {
    mcpServers: {
      web: {
        type: "http",
        url: `http://person:${canaries.urlPassword}@127.0.0.1:9/mcp`,
        headers: { authorization: `Bearer ${canaries.serverHeader}` },
      },
      local: { command: "false", env: { LOCAL_TOKEN: canaries.serverEnv } },
    },
  };
  writeFileSync(path.join(stage.home, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
  return stage;
}

function environment(stage: Stage, canaries: Canaries): Record<string, string> {
  return {
    ANTHROPIC_API_KEY: canaries.key,
    ANTHROPIC_AUTH_TOKEN: canaries.token,
    ANTHROPIC_CUSTOM_HEADERS: `x-secret: ${canaries.header}`,
    ANTHROPIC_BASE_URL: stage.server.url,
    OPENAI_API_KEY: canaries.otherKey,
    BRAVE_API_KEY: canaries.searchKey,
    VOYAGE_API_KEY: canaries.embeddingKey,
    KEEL_SOME_TOKEN: canaries.own,
    HERE: "KEEL_IS_ABSENT_BUT_THIS_IS_HERE",
  };
}

const entriesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => path.join(folder, name));
const filesIn = (folder: string): string[] => entriesIn(folder).filter((each) => statSync(each).isFile());
const foldersIn = (folder: string): string[] =>
  entriesIn(folder).filter((each) => statSync(each).isDirectory());
