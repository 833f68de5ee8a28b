// Two machines without two machines: each a home, a person's folder and a clone of its own, and a model for both.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type Home, openHome } from "../../keel/src/app/home.ts";
import { allSecrets } from "../../keel/src/app/maintenance/keys.ts";
import type { Arrival } from "../../keel/src/app/moves/arrive.ts";
import type { MovePorts } from "../../keel/src/app/moves/move-ports.ts";
import { type MoveReport, moveToFile } from "../../keel/src/app/moves/move-to-file.ts";
import { takeFile } from "../../keel/src/app/moves/take-file.ts";
import type { OpenSession } from "../../keel/src/app/open-session.ts";
import { openOptionsOf } from "../../keel/src/app/options.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { text } from "../../keel/src/protocol/message.ts";
import { nodeFiles } from "../../keel/src/store/jsonl/files.ts";
import { checkLog } from "../../keel/src/store/jsonl/moved-log.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../../keel/src/testing/model-server.ts";

export type Machine = {
  readonly name: string;
  readonly folder: string;
  readonly project: string;
  readonly env: Record<string, string>;
  readonly home: Home;
};

export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-teleport-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function newModel(script: ModelServerOptions["script"]): Promise<ModelServer> {
  const model = await startModelServer({ script });
  onTestFinished(() => model.close());
  return model;
}

export function machine(folder: string, name: string, model?: Pick<ModelServer, "url">): Machine {
  const own = path.join(folder, name);
  mkdirSync(own, { recursive: true });
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: own,
    KEEL_HOME: path.join(own, ".keel"),
    ANTHROPIC_BASE_URL: model?.url ?? "http://127.0.0.1:9",
    ANTHROPIC_API_KEY: "a-key-that-nobody-has",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    IS_SANDBOX: "1",
  };
  const project = path.join(own, `work-of-${name}`);
  const home = openHome({ cwd: own, env });
  return { name, folder: own, project, env, home };
}

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

export const put = (folder: string, name: string, content: string | Buffer): void => {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), content);
};

/** A repository with two commits. */
export function newRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--initial-branch=main");
  put(folder, "a.txt", "one\n");
  put(folder, "src/b.txt", "two\n");
  put(folder, ".gitignore", "built/\n");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "first");
  put(folder, "a.txt", "one\nmore\n");
  git(folder, "commit", "-q", "-am", "second");
}

/** All files that git does not ignore, as they are: with modes, links and what is not committed. */
export function treeHash(folder: string): string {
  const index = path.join(newFolder(), "index");
  const run = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], GIT_INDEX_FILE: index, GIT_CONFIG_GLOBAL: "/dev/null" },
    }).trim();
  run("add", "-A");
  return run("write-tree");
}

export async function open(at: Machine, session?: string): Promise<OpenSession> {
  const given = { permissionMode: "default" as const, model: "claude-haiku-4-5" };
  const cwd =
    session === undefined ? at.project : ((await at.home.sessions.find(session))?.cwd ?? at.project);
  return at.home.open(
    openOptionsOf(session === undefined ? given : { ...given, resume: session }, {
      version: "0",
      env: at.env,
      cwd,
      asks: "answered",
      checkpoints: "on",
    }),
  );
}

/** One that nobody has said anything in yet: no model is asked. */
export async function newSession(at: Machine): Promise<string> {
  const opened = await open(at);
  await opened.close("ended");
  return opened.id;
}

/** One turn; what is asked is allowed. */
export async function say(at: Machine, session: string | undefined, words: string): Promise<string> {
  const opened = await open(at, session);
  opened.onEvent((event) => {
    if (event.type === "ask.opened")
      void opened.submit({ type: "answer", askId: event.ask.id, answer: { verdict: "allow" } });
  });
  await opened.submit({ type: "input", content: [text(words)] });
  await opened.idle();
  await opened.close("ended");
  return opened.id;
}

export const portsOf = (at: Machine, step?: MovePorts["step"]): MovePorts =>
  at.home.movePorts({
    env: at.env,
    host: at.name,
    secrets: allSecrets({ env: at.env, cwd: at.folder }),
    step,
  });

export const toFile = (
  at: Machine,
  session: string,
  file: string,
  files: "new" | "all" | "none" = "new",
): Promise<MoveReport> => moveToFile({ session, file, files }, portsOf(at));

export const fromFile = (at: Machine, file: string, folder?: string): Promise<Arrival> =>
  takeFile({ file, folder, fallback: at.project }, portsOf(at));

export const logOf = (at: Machine, session: string): Promise<Durable[]> =>
  Array.fromAsync(at.home.sessions.read(session));

/** Whether the session is at work here, as its log says. */
export async function owns(at: Machine, session: string): Promise<boolean> {
  const file = openHome({ cwd: at.folder, env: at.env }).sessions.location(session);
  return file !== undefined && (await checkLog(nodeFiles(), file, session)).moved === undefined;
}

export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
