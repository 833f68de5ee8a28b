// A session of the built command whose every request is kept as its bytes, and held against a pin.
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, request as forward, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import type { ModelServerOptions } from "../../keel/src/testing/model-server.ts";
import { openStage, until } from "./stage.ts";
import { type Answerer, isResult, openWire } from "./wire-client.ts";

const pins = path.join(import.meta.dirname, "../golden/requests");
const isWriting = process.env["KEEL_WRITE_GOLDEN"] === "1";

export type GoldenSession = {
  /** The address to which the requests go. */
  readonly url: string;
  /** Files by their path from the project. */
  write(files: Readonly<Record<string, string>>): void;
  /** One process that answers and ends: `keel -p`. */
  ask(prompt: string, args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<void>;
  /** One process with a host that can be asked. */
  askHost(prompt: string, more: { args: readonly string[]; answer?: Answerer }): Promise<void>;
  /** Resolves when the log of this session has the end of a turn: for replies that must not come before. */
  turnFinished(session: string): Promise<void>;
  /** All requests so far are this many, and those of the pin. */
  expectPinned(name: string, count: number): void;
};

export async function openGoldenSession(script: ModelServerOptions["script"]): Promise<GoldenSession> {
  const stage = await openStage(script);
  const recorder = await startRecorder(stage.server.url);
  const own = {
    ANTHROPIC_BASE_URL: recorder.url,
    // Whatever this machine's administrator says, and whether it has namespaces, is not part of a pin.
    KEEL_MANAGED_SETTINGS: path.join(path.dirname(stage.project), "managed/settings.json"),
    KEEL_GUARD: "off",
    TZ: "UTC",
  };
  return {
    url: recorder.url,
    write(files) {
      for (const [index, [name, text]] of Object.entries(files).entries()) {
        const file = path.join(stage.project, name);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, text);
        // Searches list the newest first.
        utimesSync(file, index, index);
      }
    },
    async ask(prompt, args = [], env = {}) {
      const ended = await stage.run(["-p", prompt, ...args], { env: { ...own, ...env } });
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
    },
    async askHost(prompt, { args, answer }) {
      const wire = openWire(stage, { args, env: own, ...(answer ? { answer } : {}) });
      wire.say(prompt);
      await wire.line("a result", isResult);
      wire.endInput();
      expect(await wire.ended, wire.err()).toMatchObject({ code: 0 });
    },
    turnFinished: (session) =>
      until("the end of a turn", () => stage.log(session).some(({ type }) => type === "turn.finished")),
    expectPinned(name, count) {
      expect(recorder.requests).toHaveLength(count);
      expect(stage.server.requests.flatMap(({ violations }) => violations)).toEqual([]);
      const seen = placeholders(rendered(bySession(recorder.requests)), path.dirname(stage.project));
      const file = path.join(pins, `${name}.txt`);
      if (isWriting) writeFileSync(file, seen);
      expect(seen).toBe(readFileSync(file, "utf8"));
    },
  };
}

/**
 * All that may differ between two runs or two machines; everything else is compared as it was sent. Ids keep their
 * order: the same one is the same number in a whole pin.
 */
function placeholders(text: string, folder: string): string {
  return text
    .replaceAll(folder, "<folder>")
    .replaceAll(/(?<=<folder>\/home\/projects\/)[^/]+/g, "<project key>") // Made of the folder's path.
    .replaceAll(/(?<=\\nDate: )\d{4}-\d\d-\d\d/g, "<date>")
    .replaceAll(/(?<=\\nSystem: )\w+(?=;)/g, "<platform>")
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, numbered("session"))
    .replaceAll(/\ba[0-9a-f]{16}\b/g, numbered("agent"));
}

function numbered(what: string): (id: string) => string {
  const ids: string[] = [];
  return (id) => {
    if (!ids.includes(id)) ids.push(id);
    return `<${what} ${ids.indexOf(id) + 1}>`;
  };
}

type RecordedRequest = {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** Passes everything on to the model server, which keeps only what the bytes meant. */
async function startRecorder(upstream: string): Promise<{ url: string; requests: RecordedRequest[] }> {
  const requests: RecordedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const { method, url = "/", headers } = incoming;
    const body = await buffer(incoming);
    if (method === "POST") requests.push({ line: `${method} ${url}`, headers, body: body.toString("utf8") });
    const passed = forward(new URL(url, upstream), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    passed.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Sessions that run at the same time are told one after the other: how their requests mix is left to chance. */
function bySession(requests: readonly RecordedRequest[]): RecordedRequest[] {
  const session = ({ body }: RecordedRequest) => /"user_id":"([^"]*)"/.exec(body)?.[1] ?? "";
  return [...Map.groupBy(requests, session).values()].flat();
}

/** Those of the connection, not of the request. */
const connectionHeaders = ["host", "connection", "content-length", "transfer-encoding"];

/**
 * For people who read a diff: a body in JSON has no line ends, so those that are put in lose nothing. Lines that stand
 * in the request before at the same place are told by their number.
 */
function rendered(requests: readonly RecordedRequest[]): string {
  let before: readonly string[] = [];
  return requests
    .map(({ line, headers, body }) => {
      expect(body).not.toContain("\n");
      const heads = Object.entries(headers).filter(([name]) => !connectionHeaders.includes(name));
      const lines = body.split(blockStart);
      const shown = newLines(lines, before);
      before = lines;
      return [line, ...heads.map(([name, value]) => `${name}: ${value}`), "", ...shown, "", ""].join("\n");
    })
    .join("\n");
}

const blockStart =
  /(?=\{"(?:role|name)":|\{"type":"(?:function|text|thinking|image|tool_use|tool_result)"|"(?:system|tools|messages)":\[)/;
/** Fewer are shown again: they take no more room than what would stand for them. */
const minFolded = 4;

function newLines(lines: readonly string[], before: readonly string[]): string[] {
  const shown: string[] = [];
  for (let index = 0; index < lines.length; ) {
    const differs = lines.findIndex((line, at) => at >= index && line !== before[at]);
    const same = (differs === -1 ? lines.length : differs) - index;
    if (same >= minFolded) shown.push(`(${same} lines as in the request before)`);
    const next = same >= minFolded ? index + same : index + Math.max(same, 1);
    if (same < minFolded) shown.push(...lines.slice(index, next));
    index = next;
  }
  return shown;
}
