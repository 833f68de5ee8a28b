// A host application for tests: starts `keel runner` or `keel desktop`, sends lines, and holds every line that comes
// back to its schema.
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { responseSchemas } from "../../keel/src/hosts/desktop/responses.ts";
import { eventSchemas } from "../../keel/src/hosts/runner/events.ts";
import { command, type Stage } from "./stage.ts";

export type Line = { readonly type: string } & Record<string, unknown>;

export type Host = {
  readonly child: ChildProcess;
  /** Every line so far, each valid against its schema. */
  readonly lines: Line[];
  send(input: object): void;
  write(bytes: string | Uint8Array): void;
  end(): void;
  /** The next line of this type after the ones that were awaited before. */
  next(type: string, fits?: (line: Line) => boolean): Promise<Line>;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  /** Bytes that were no line of JSON. */
  readonly stray: string[];
  /** What came on standard error. */
  errors(): string;
};

export function startHost(
  stage: Pick<Stage, "project" | "env">,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Host {
  return startLines(stage, { words: ["runner", ...flags], env, schemas: eventSchemas });
}

export function startDesktop(
  stage: Pick<Stage, "project" | "env">,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Host {
  return startLines(stage, { words: ["desktop", ...flags], env, schemas: responseSchemas });
}

type Schemas = ReadonlyMap<
  string,
  { safeParse(line: unknown): { success: boolean; error?: { issues: unknown } } }
>;

function startLines(
  stage: Pick<Stage, "project" | "env">,
  { words, env, schemas }: { words: readonly string[]; env: Record<string, string>; schemas: Schemas },
): Host {
  const child = spawn(command, words, {
    cwd: stage.project,
    env: { PATH: process.env["PATH"], ...stage.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: Line[] = [];
  const stray: string[] = [];
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString("latin1")).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) take(Buffer.from(part, "latin1").toString("utf8"));
  });
  const take = (text: string): void => {
    try {
      const line = JSON.parse(text);
      const checked = schemas.get(line.type)?.safeParse(line);
      if (!checked?.success)
        stray.push(`${text.slice(0, 500)}: ${JSON.stringify(checked?.error?.issues ?? "no such event")}`);
      lines.push(line);
    } catch {
      stray.push(text);
    }
  };
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  child.stdin?.on("error", () => undefined);
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on("close", (code, signal) => {
      if (rest !== "") stray.push(rest);
      resolve({ code, signal });
    });
  });
  const seen = new Map<string, number>();
  return {
    child,
    lines,
    stray,
    exited,
    errors: () => errors,
    send: (input) => void child.stdin?.write(`${JSON.stringify(input)}\n`),
    write: (bytes) => void child.stdin?.write(bytes),
    end: () => void child.stdin?.end(),
    async next(type, fits = () => true) {
      const deadline = performance.now() + 30_000;
      for (;;) {
        const from = seen.get(type) ?? 0;
        const at = lines.findIndex((line, index) => index >= from && line.type === type && fits(line));
        const found = lines[at];
        if (found) {
          seen.set(type, at + 1);
          return found;
        }
        if (performance.now() > deadline)
          throw new Error(`waited in vain for ${type}; the last lines: ${JSON.stringify(lines.slice(-5))}`);
        await pause(5);
      }
    },
  };
}
