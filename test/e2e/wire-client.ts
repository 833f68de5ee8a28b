// A small client of the executable's wire, of our own: sends lines, answers what it is asked, and keeps what it hears.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { command, type Stage, until } from "./stage.ts";

export type Line = Record<string, unknown> & { type: string; subtype?: string };
export type Asked = { subtype: string } & Record<string, unknown>;
/** The answer, an error to throw, or a promise that never settles for a host that is silent. */
export type Answerer = (request: Asked) => unknown;

export const wireArguments = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];

export type WireClient = {
  readonly child: ChildProcessWithoutNullStreams;
  /** Every line so far; a line that is no object in JSON has failed the test by then. */
  readonly lines: Line[];
  err(): string;
  raw(bytes: string | Uint8Array): void;
  send(line: Record<string, unknown>): void;
  say(text: string, more?: Record<string, unknown>): void;
  /** Resolves with the answer, or rejects with its error. */
  request(request: Asked): Promise<unknown>;
  /** The first line that fits, once it is there. */
  line(what: string, fits: (line: Line) => boolean): Promise<Line>;
  results(): Line[];
  endInput(): void;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

export function openWire(
  stage: Pick<Stage, "project" | "env">,
  {
    args = [],
    env = {},
    answer = () => {
      throw new Error("nobody answers here");
    },
  }: { args?: readonly string[]; env?: Record<string, string>; answer?: Answerer } = {},
): WireClient {
  const child = spawn(command, [...wireArguments, ...args], {
    cwd: stage.project,
    env: { PATH: process.env["PATH"], ...stage.env, CLAUDE_CODE_SDK_READS_SESSION_STATE: "1", ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.on("error", () => undefined); // It may end without reading what we send.
  const lines: Line[] = [];
  const waiting = new Map<string, PromiseWithResolvers<unknown>>();
  const send = (line: Record<string, unknown>): void => void child.stdin.write(`${JSON.stringify(line)}\n`);

  async function reply(id: string, request: Asked): Promise<void> {
    try {
      const response = await answer(request);
      send({ type: "control_response", response: { subtype: "success", request_id: id, response } });
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown.message : String(thrown);
      send({ type: "control_response", response: { subtype: "error", request_id: id, error } });
    }
  }

  function take(line: Line): void {
    lines.push(line);
    if (line.type === "control_request") void reply(String(line["request_id"]), line["request"] as Asked);
    if (line.type !== "control_response") return;
    const response = line["response"] as {
      subtype: string;
      request_id: string;
      response?: unknown;
      error?: string;
    };
    const settled = waiting.get(response.request_id);
    if (response.subtype === "success") settled?.resolve(response.response);
    else settled?.reject(new Error(response.error));
  }

  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) take(JSON.parse(part));
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  let requests = 0;
  return {
    child,
    lines,
    err: () => stderr,
    raw: (bytes) => void child.stdin.write(bytes),
    send,
    say: (text, more = {}) =>
      send({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, ...more }),
    request(request) {
      requests += 1;
      const id = `r${requests}`;
      const settled = Promise.withResolvers<unknown>();
      waiting.set(id, settled);
      send({ type: "control_request", request_id: id, request });
      return settled.promise;
    },
    async line(what, fits) {
      await until(what, () => lines.some(fits));
      return lines.find(fits) as Line;
    },
    results: () => lines.filter(({ type }) => type === "result"),
    endInput: () => void child.stdin.end(),
    ended: new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal }))),
  };
}

/** The states that an SDK is told, in order. */
export const statesIn = (lines: readonly Line[]): unknown[] =>
  lines.filter(({ subtype }) => subtype === "session_state_changed").map(({ state }) => state);

export const isResult = ({ type }: Line): boolean => type === "result";
