// G35 and G36: thirty hostile repositories, each started in by the built command and, at full count, by a program and on
// a terminal. What runs and where it connects to is compared with a harmless repository: nothing may be added.
import { existsSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { fileRepositories } from "../hostile/file-repositories.ts";
import { type HostileRepository, key, makePlace, type Place, secret } from "../hostile/place.ts";
import { settingsRepositories } from "../hostile/settings-repositories.ts";
import { snapshot } from "../hostile/snapshot.ts";
import { hasStrace, openSink, type Sink, type Watched, watch } from "../hostile/watch.ts";
import { countOf } from "../support/budget.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { command } from "./stage.ts";
import { hasTerminal } from "./terminal.ts";

const repositories = [...settingsRepositories, ...fileRepositories];
const library = path.resolve(import.meta.dirname, "../../keel/dist/index.js");
const sdkStart = path.resolve(import.meta.dirname, "../hostile/sdk-start.ts");
const model = "claude-haiku-4-5";
const strace = hasStrace();

/** A model that does what a hostile repository hopes for: it runs the program, and it asks git. */
const obedient = byPosition([
  reply(
    toolUse("Read", { file_path: "README.md" }),
    toolUse("Bash", { command: "sh evil.sh" }),
    toolUse("Bash", { command: "git status" }),
  ),
  reply("looked around"),
]);

type Start = { readonly name: string; words(): readonly [string, ...string[]] };

const starts: readonly Start[] = [
  { name: "print", words: () => [command, "-p", "Look around"] },
  { name: "program", words: () => [process.execPath, sdkStart, library, model] },
  {
    name: "terminal",
    words: () => [
      "script",
      "--quiet",
      "--return",
      "--command",
      `exec '${command}' -p 'Look around'`,
      "/dev/null",
    ],
  },
];

let server: ModelServer;
let sink: Sink;
const harmless = new Map<string, Watched>();

beforeAll(async () => {
  server = await startModelServer({ script: obedient, key, law: "none" });
  sink = await openSink();
  if (!strace) notRunHere("programs and connections of hostile repositories", "strace absent");
});
afterAll(async () => {
  await server.close();
  await sink.close();
});

describe.each(wantedStarts())("started by $name", (start) => {
  test.each(repositories)("$name: nothing of it runs, connects or changes anything", async (repository) => {
    verifies("G35", "G36");
    const baseline = harmless.get(start.name) ?? (await runIn(makePlace({ sinkUrl: sink.url }), start));
    harmless.set(start.name, baseline);
    expect(baseline, "the harmless one itself").toMatchObject({ code: 0 });

    const place = makePlace({ sinkUrl: sink.url });
    repository.build(place);
    const before = standing(place);
    const asked = server.requests.length;
    const found = await runIn(place, start, repository);

    expect(found.code, found.stderr).toBe(0);
    expect(found.stdout).toContain("looked around");
    expect(readdirSync(place.canaries), "programs of the repository that ran").toEqual([]);
    expect(found.programs?.filter(isNotOurGit), "programs").toEqual(baseline.programs?.filter(isNotOurGit));
    // What Keel asks git about a repository it asks less, never more, where the repository says something odd.
    const asksGit = baseline.programs ?? [];
    expect(found.programs?.filter((words) => !asksGit.includes(words)) ?? [], "questions to git").toEqual([]);
    expect(new Set(found.connections), "connections").toEqual(new Set(baseline.connections));
    expect(sink.connections(), "connections to the repository's own server").toBe(0);
    expect(standing(place), "files").toEqual(before);
    expect(JSON.stringify(server.requests.slice(asked).map(({ body }) => body))).not.toContain(secret);
    expect(found.stdout + found.stderr).not.toContain(secret);
    if (start.name === "print") {
      expect(found.stderr).not.toContain("\u001b");
      if (repository.says) expect(found.stderr).toMatch(repository.says);
    }
    rmSync(path.dirname(place.home), { recursive: true });
  });
});

test.each(repositories.filter(({ wantsKey }) => wantsKey))(
  "$name: even named as a trusted source it moves neither the address nor the key",
  async (repository) => {
    verifies("G36");
    const place = makePlace({ sinkUrl: sink.url });
    repository.build(place);
    const asked = server.requests.length;
    const words = [command, "-p", "Look around", "--setting-sources", "user,project,local"] as const;
    const found = await runIn(place, { name: "named", words: () => words }, repository);
    expect(found.stderr).not.toContain(key);
    expect(sink.connections()).toBe(0);
    // The server takes no other key: an answer is proof that the right one reached the right place.
    expect(found.stdout).toContain("looked around");
    expect(server.requests.length).toBeGreaterThan(asked);
    expect(existsSync(path.join(place.canaries, "js"))).toBe(false);
    rmSync(path.dirname(place.home), { recursive: true });
  },
);

test("the traps are live: what somebody trusts by naming it does run, and is seen", async () => {
  const place = makePlace({ sinkUrl: sink.url });
  const [repository] = repositories.filter(({ name }) => name === "start hook");
  repository?.build(place);
  const words = [command, "-p", "Look around", "--setting-sources", "project"] as const;
  const found = await runIn(place, { name: "named", words: () => words }, repository);
  expect(readdirSync(place.canaries)).not.toEqual([]);
  if (strace) expect(found.programs?.join("\n")).toContain("{cwd}/evil.sh");
  rmSync(path.dirname(place.home), { recursive: true });
});

const isNotOurGit = (words: string): boolean => !words.includes('"git", "--no-optional-locks"');

function wantedStarts(): readonly Start[] {
  return starts.slice(0, countOf("hostile-repositories") / repositories.length);
}

function runIn(place: Place, start: Start, repository?: HostileRepository): Promise<Watched> {
  if (start.name === "terminal" && !hasTerminal())
    notRunHere("hostile repositories on a terminal", "script of util-linux absent");
  return watch(start.words(), {
    strace,
    cwd: path.join(place.root, repository?.cwd ?? "."),
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: place.home,
      SHELL: "/bin/sh",
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: key,
      KEEL_MODEL: model,
    },
  }).then((found) => ({ ...found, programs: found.programs?.map((words) => plain(words, place)) }));
}

/** Without what differs from run to run: the folder of the test, and the addresses of the environment. */
const plain = (words: string, { home }: Place): string =>
  words
    .replaceAll(path.dirname(home), "{base}")
    .replace(/, 0x[0-9a-f]+ .*$/, "")
    .replace(/\{base\}\/home\/clone(?:\/(?:inner|inside))?/g, "{cwd}");

/** Everything but the sessions, which a run writes. */
const standing = ({ home, keelHome }: Place): Record<string, string> =>
  snapshot(
    home,
    ["projects", "run", "logs", "blobs", "stock"].map((name) => path.join(keelHome, name)),
  );
