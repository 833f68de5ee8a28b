// `keel teleport` as a person types it: into a file and out of it, to another machine by a program in place of ssh, and
// from under a server that has the session open.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readServerState } from "../../keel/src/app/sessions/home-server.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { fakeSsh, install } from "../ssh/fake-ssh.ts";
import { verifies } from "../support/verifies.ts";
import { newRepository, put, treeHash } from "../teleport/stage.ts";
import { clientOf, openServeStage } from "./serve-stage.ts";
import { command } from "./stage.ts";

test("goes to a file, is taken in elsewhere, goes on by ssh, and is let go of by a server that has it", async () => {
  verifies("S4.40", "S4.39");
  const stage = await openServeStage((_, { assistantTurns }) => reply(`Answer ${assistantTurns}.`));
  newRepository(stage.project);
  put(stage.project, "new.txt", "new\n");
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-teleport-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const other = (name: string) => {
    const own = path.join(folder, name);
    mkdirSync(own);
    return { HOME: own, KEEL_HOME: path.join(own, ".keel") };
  };
  // A server has it, with nothing at work.
  const client = await clientOf(await stage.detach());
  const session = (await client.open({ cwd: stage.project })).id;
  const file = path.join(folder, "work.keel");
  const wrong = await stage.run(["teleport", session, "nowhere"]);
  expect(wrong).toMatchObject({ code: 64 });
  expect(wrong.stderr).toContain("A machine is named with a colon, nowhere:FOLDER");
  const out = await stage.run(["teleport", session, file, "--json"]);
  expect(out).toMatchObject({ code: 0 });
  expect(JSON.parse(out.stdout)).toMatchObject({ session, to: file });
  const gone = await stage.run(["-p", "--resume", session, "Hello"]);
  expect(gone.code).toBe(75);
  expect(gone.stderr).toContain(`went to ${file}`);
  const left = await stage.run(["sessions", "list"]);
  expect(left.stdout).toMatch(new RegExp(`^${session} .*\\[moved to .*work\\.keel\\]$`, "m"));
  await expect(client.session(session)).rejects.toMatchObject({ code: "session_moved" });

  const second = other("second");
  mkdirSync(path.join(folder, "second/work"));
  const taken = await stage.run(["teleport", file, "--json"], {
    env: second,
    cwd: path.join(folder, "second/work"),
  });
  expect(taken).toMatchObject({ code: 0 });
  expect(JSON.parse(taken.stdout)).toMatchObject({ session, state: "new" });
  expect(treeHash(path.join(folder, "second/work"))).toBe(treeHash(stage.project));

  const list = { env: second, cwd: path.join(folder, "second/work") };
  expect((await stage.run(["sessions", "list"], list)).stdout).toMatch(new RegExp(`^${session} (?!.*moved)`));

  const third = other("third");
  install(command, path.join(folder, "bin"));
  const there = { ...stage.env, ...third, PATH: `${path.join(folder, "bin")}:${process.env["PATH"]}` };
  const ssh = fakeSsh(path.join(folder, "fake"), { env: there });
  onTestFinished(async () => {
    const pid = (await readServerState(third.KEEL_HOME))?.pid;
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  });
  const by = await stage.run(["teleport", session, "me@there:project"], {
    env: { ...second, KEEL_SSH_COMMAND: ssh.program, ...ssh.env },
  });
  expect(by).toMatchObject({ code: 0 });
  expect(by.stderr).toContain("It goes on at me@there");
  expect(by.stderr).toContain("stayed here");
  expect(ssh.opened()[0]?.given).toContain("me@there");
  expect(treeHash(path.join(folder, "third/project"))).toBe(treeHash(stage.project));
  const went = await stage.run(["-p", "--resume", session, "Go on"], {
    env: { ...third, KEEL_MODEL: "claude-haiku-4-5" },
    cwd: path.join(folder, "third/project"),
  });
  expect(went.stdout + went.stderr).toMatch(/Answer 0|server of this home has/);
}, 120_000);
