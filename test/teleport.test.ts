// A session that goes to another machine by a file, and back: it is at one place at any time, and nothing of it is lost.
import { copyFileSync, existsSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { moveToServer } from "../keel/src/app/moves/move-to-server.ts";
import { connect } from "../keel/src/client/connect.ts";
import type { FarMoves } from "../keel/src/client/far-moves.ts";
import { fold } from "../keel/src/core/fold.ts";
import { emptyState, type SessionState } from "../keel/src/core/state/state.ts";
import { text } from "../keel/src/protocol/message.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { webServer } from "./handle/stage.ts";
import { countOf } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";
import {
  filesBelow,
  fromFile,
  git,
  logOf,
  type Machine,
  machine,
  newFolder,
  newModel,
  newRepository,
  newSession,
  open,
  owns,
  portsOf,
  put,
  say,
  toFile,
  treeHash,
} from "./teleport/stage.ts";

const stateOf = async (...at: Parameters<typeof logOf>) => (await logOf(...at)).reduce(fold, emptyState);

describe("a session in a file", () => {
  test("goes on elsewhere with its files, committed or not, and comes back with what was done there", async () => {
    verifies("S4.40");
    const model = await newModel((_, { assistantTurns }) => reply(`Answer ${assistantTurns}.`));
    const folder = newFolder();
    const [here, there] = [machine(folder, "here", model), machine(folder, "there", model)];
    newRepository(here.project);
    git(here.project, "checkout", "-q", "-b", "feature");
    put(here.project, "a.txt", "changed\n");
    put(here.project, "staged.txt", "staged\n");
    git(here.project, "add", "staged.txt");
    put(here.project, "deep/untracked.bin", Buffer.from([0, 255, 1, 254]));
    symlinkSync("a.txt", path.join(here.project, "link"));
    put(here.project, "built/ignored.txt", "ignored\n");
    const session = await say(here, undefined, "Hello");
    const file = path.join(folder, "s.keel");
    const before = treeHash(here.project);

    await toFile(here, session, file);
    await expect(open(here, session)).rejects.toMatchObject({
      code: "session_moved",
      message: expect.stringContaining(file),
    });
    await expect(here.home.sessions.label(session, { title: "x" })).rejects.toMatchObject({
      code: "session_moved",
    });
    const arrival = await fromFile(there, file);
    expect(arrival).toMatchObject({ session, state: "new", cwd: there.project });
    expect(existsSync(file)).toBe(false);
    expect(treeHash(there.project)).toBe(before);
    expect(git(there.project, "status", "--porcelain")).toBe(git(here.project, "status", "--porcelain"));
    expect(git(there.project, "symbolic-ref", "--short", "HEAD")).toBe("feature");
    expect(readlinkSync(path.join(there.project, "link"))).toBe("a.txt");
    expect(existsSync(path.join(there.project, "built"))).toBe(false);
    expect([await owns(here, session), await owns(there, session)]).toEqual([false, true]);

    await say(there, session, "Still here?");
    const told = JSON.stringify(model.requests.at(-1)?.body);
    expect(told).toContain("goes on on another machine");
    expect(told).toContain(there.project);
    put(there.project, "a.txt", "changed there\n");
    git(there.project, "commit", "-qam", "third");
    put(there.project, "new.txt", "new\n");
    await toFile(there, session, file);
    const back = await fromFile(here, file);
    expect(back.cwd).toBe(here.project);
    expect(treeHash(here.project)).toBe(treeHash(there.project));
    expect(git(here.project, "rev-parse", "feature")).toBe(git(there.project, "rev-parse", "feature"));
    expect(existsSync(path.join(here.project, "built/ignored.txt"))).toBe(true);
    await say(here, session, "And back");
    expect((await stateOf(here, session)).turns).toBe(3);
    expect([await owns(here, session), await owns(there, session)]).toEqual([true, false]);
  });
});

test("thirty moves to and fro with edits and commits in between leave the same log and the same files", async () => {
  verifies("S4.40");
  const folder = newFolder();
  const machines = [machine(folder, "one"), machine(folder, "two")] as const;
  newRepository(machines[0].project);
  const session = await newSession(machines[0]);
  const file = path.join(folder, "s.keel");
  const count = countOf("teleport-moves");
  for (let round = 0; round < count; round++) {
    const [from, to] = round % 2 === 0 ? machines : [machines[1], machines[0]];
    put(from.project, `src/round-${round % 4}.txt`, `${round}\n`);
    if (round % 3 === 0) git(from.project, "add", "-A");
    if (round % 5 === 0) git(from.project, "commit", "-qam", `round ${round}`);
    if (round % 7 === 6) rmSync(path.join(from.project, "a.txt"), { force: true });
    await from.home.sessions.label(session, { title: `Round ${round}` });
    const [state, tree, status] = [
      await stateOf(from, session),
      treeHash(from.project),
      git(from.project, "status", "--porcelain"),
    ];
    await toFile(from, session, file);
    await fromFile(to, file);
    const { moved, opened, worklist, seq, ...rest } = await stateOf(to, session);
    expect({ ...rest, seq: seq - 2 }).toEqual({ ...without(state), seq: state.seq });
    expect([moved, opened?.cwd, worklist.arrival?.from.cwd]).toEqual([null, to.project, from.project]);
    expect([treeHash(to.project), git(to.project, "status", "--porcelain")]).toEqual([tree, status]);
    expect(git(to.project, "rev-parse", "HEAD")).toBe(git(from.project, "rev-parse", "HEAD"));
    expect([await owns(from, session), await owns(to, session)]).toEqual([false, true]);
  }
}, 600_000);

const without = ({ moved: _, opened: __, worklist: ___, ...rest }: SessionState) => rest;

test("no key and no token goes along, wherever they stand", async () => {
  verifies("S4.40");
  const folder = newFolder();
  const here = machine(folder, "here");
  newRepository(here.project);
  const canaries: string[] = [];
  const canary = (): string => {
    canaries.push(`canary-${canaries.length}-${"k".repeat(20)}`);
    return canaries.at(-1) ?? "";
  };
  const { project, env, folder: own } = here;
  const inHome = (name: string, content: string) => put(own, path.join(".keel", name), content);
  inHome("auth.json", JSON.stringify({ anthropic: { key: canary() } }));
  inHome(
    "settings.json",
    JSON.stringify({ env: { SOME_TOKEN: canary() }, permissions: { allow: [`Bash(${canary()})`] } }),
  );
  inHome("trust.json", JSON.stringify({ roots: [canary()] }));
  inHome("server/secret", canary());
  inHome("bridge/secrets.json", JSON.stringify({ "https://x": canary() }));
  put(own, ".claude/settings.json", JSON.stringify({ env: { OTHER_TOKEN: canary() } }));
  put(own, ".netrc", `machine x password ${canary()}`);
  put(own, ".ssh/id_ed25519", `-----BEGIN OPENSSH PRIVATE KEY-----\n${canary()}`);
  env["ANTHROPIC_API_KEY"] = canary();
  env["OPENAI_API_KEY"] = canary();
  env["GITHUB_TOKEN"] = canary();
  git(project, "remote", "add", "origin", `https://someone:${canary()}@git.invalid/x.git`);
  git(project, "config", "http.extraHeader", `Authorization: Bearer ${canary()}`);
  git(project, "config", "credential.helper", `!echo ${canary()}`);
  put(project, ".git/hooks/pre-commit", `# ${canary()}`);
  put(project, ".env", `TOKEN=${canary()}`);
  put(project, "deep/.env.local", `TOKEN=${canary()}`);
  put(project, "server.pem", canary());
  put(project, "key.txt", `-----BEGIN PRIVATE KEY-----\n${canary()}`);
  put(project, ".npmrc", `//registry/:_authToken=${canary()}`);
  put(project, ".keel/settings.local.json", JSON.stringify({ env: { X: canary() } }));
  put(project, ".claude/settings.local.json", JSON.stringify({ env: { X: canary() } }));
  put(project, ".keel/settings.json", JSON.stringify({ permissions: { allow: [canary()] } }));
  put(project, ".mcp.json", JSON.stringify({ mcpServers: { x: { env: { T: canary() } } } }));
  put(project, "notes.txt", `the key is ${env["GITHUB_TOKEN"]}`);
  put(project, "staged.env", `T=${canary()}`);
  git(project, "add", "staged.env");
  put(project, "built/out.txt", canary());
  put(project, ".git/info/attributes", `# ${canary()}`);
  put(own, ".config/gh/hosts.yml", `oauth_token: ${canary()}`);
  put(project, ".git-credentials", `https://x:${canary()}@y`);
  put(own, ".keel/moves/note", canary());
  expect(canaries.length).toBeGreaterThanOrEqual(30);
  put(project, "plain.txt", "this goes along\n");
  const session = await newSession(here);
  const file = path.join(folder, "s.keel");
  const { left } = await toFile(here, session, file);
  expect(left.length).toBeGreaterThanOrEqual(10);
  const there = machine(folder, "there");
  copyFileSync(file, `${file}.kept`);
  await fromFile(there, file);
  expect(existsSync(path.join(there.project, "plain.txt"))).toBe(true);
  // What is packed by git is seen where it is unpacked: every object that came along.
  const objects = git(there.project, "cat-file", "--batch-all-objects", "--batch");
  const parcel = readFileSync(`${file}.kept`, "latin1");
  const found = canaries.filter(
    (one) =>
      parcel.includes(one) ||
      objects.includes(one) ||
      filesBelow(there.folder).some((each) => readFileSync(each, "latin1").includes(one)),
  );
  expect(found).toEqual([]);
});

test("a question that nobody has answered goes along, and is answered there; what was allowed is not", async () => {
  verifies("S4.40");
  const folder = newFolder();
  const model = await newModel((_, { assistantTurns }) =>
    assistantTurns === 0
      ? reply(toolUse("Bash", { command: "echo asked > asked.txt" }, "call-1"))
      : reply("Done."),
  );
  const [here, there] = [machine(folder, "here", model), machine(folder, "there", model)];
  newRepository(here.project);
  const asking = await open(here);
  const asked = Promise.withResolvers<void>();
  asking.onEvent((event) => {
    if (event.type === "ask.opened") asked.resolve();
  });
  await asking.submit({
    type: "set",
    patch: {
      permissions: [
        { type: "rules", change: "add", list: "allow", rules: ["Read"] },
        { type: "rules", change: "add", list: "deny", rules: ["WebFetch"] },
      ],
    },
  });
  await asking.submit({ type: "input", content: [text("Ask me")] });
  await asked.promise;
  expect(await asking.leave()).toBe(true);
  const file = path.join(folder, "s.keel");
  await toFile(here, asking.id, file);
  await fromFile(there, file);
  const state = await stateOf(there, asking.id);
  expect(state.learnt).toMatchObject({ allow: [], deny: ["WebFetch"] });
  const goingOn = await open(there, asking.id);
  const [ask] = goingOn.openAsks();
  expect(ask?.callId).toBe("call-1");
  const running = goingOn.run();
  await goingOn.submit({ type: "answer", askId: ask?.id ?? "", answer: { verdict: "allow" } });
  await running;
  await goingOn.idle();
  await goingOn.close("ended");
  expect(readFileSync(path.join(there.project, "asked.txt"), "utf8")).toBe("asked\n");
  expect(existsSync(path.join(here.project, "asked.txt"))).toBe(false);
});

test("what was changed before the move can be taken back after it, on the files of the other machine", async () => {
  const folder = newFolder();
  const model = await newModel((_, { assistantTurns }) =>
    assistantTurns === 0 ? reply(toolUse("Bash", { command: "echo two > a.txt" })) : reply("Done."),
  );
  const [here, there] = [machine(folder, "here", model), machine(folder, "there", model)];
  newRepository(here.project);
  const session = await say(here, undefined, "Change it");
  const before = (await logOf(here, session)).find((event) => event.type === "input.accepted");
  const file = path.join(folder, "s.keel");
  await toFile(here, session, file);
  await fromFile(there, file);
  expect(readFileSync(path.join(there.project, "a.txt"), "utf8")).toBe("two\n");
  const opened = await open(there, session);
  const receipt = await opened.submit({ type: "rewind", checkpoint: before?.input.id ?? "" });
  await opened.close("ended");
  expect(receipt).toMatchObject({ files: [{ path: path.join(there.project, "a.txt") }] });
  expect(readFileSync(path.join(there.project, "a.txt"), "utf8")).toBe("one\nmore\n");
  expect(readFileSync(path.join(here.project, "a.txt"), "utf8")).toBe("two\n");
});

describe("to a server", () => {
  test("over loopback, and back; what it cannot take stays here", async () => {
    verifies("S4.40", "P26");
    const folder = newFolder();
    const [here, there] = [machine(folder, "here"), machine(folder, "there")];
    newRepository(here.project);
    put(here.project, "new.txt", "new\n");
    const session = await newSession(here);
    const serverOf = async ({ home, env, project }: Machine) => {
      const { url, secret } = await webServer({ home, env, cwd: project, model: { url: "" } as never });
      const client = connect({ url, secret });
      onTestFinished(() => client.close());
      return client.moves;
    };
    const target = {
      kind: "server" as const,
      name: "https://there",
      folder: there.project,
      moves: await serverOf(there),
    };
    newRepository(there.project);
    put(there.project, "new.txt", "theirs\n");
    const move = () => moveToServer({ session, files: "new", target }, portsOf(here));
    await expect(move()).rejects.toMatchObject({
      code: "not_moved",
      message: expect.stringContaining("changes of its own: new.txt"),
    });
    expect([await owns(here, session), await owns(there, session)]).toEqual([true, false]);
    // Only when it is taken: it is void there, and then undone here.
    rmSync(path.join(there.project, "new.txt"));
    const late = {
      ...target.moves,
      take: async (question: Parameters<FarMoves["take"]>[0]) => {
        put(there.project, "new.txt", "late\n");
        return target.moves.take(question);
      },
    };
    await expect(
      moveToServer({ session, files: "new", target: { ...target, moves: late } }, portsOf(here)),
    ).rejects.toMatchObject({ code: "not_moved" });
    expect((await logOf(here, session)).slice(-2)).toMatchObject([
      { type: "session.moved" },
      { type: "session.arrived", undone: true },
    ]);
    expect([await owns(here, session), await owns(there, session)]).toEqual([true, false]);
    rmSync(path.join(there.project, "new.txt"));
    expect(await move()).toMatchObject({ session, cwd: there.project });
    expect([await owns(here, session), await owns(there, session)]).toEqual([false, true]);
    expect(treeHash(there.project)).toBe(treeHash(here.project));
    await expect(open(here, session)).rejects.toMatchObject({
      code: "session_moved",
      message: expect.stringContaining("https://there"),
    });
    const back = { kind: "server" as const, name: "https://here", moves: await serverOf(here) };
    expect(await moveToServer({ session, files: "new", target: back }, portsOf(there))).toMatchObject({
      cwd: here.project,
    });
    expect([await owns(here, session), await owns(there, session)]).toEqual([true, false]);
  });
});
