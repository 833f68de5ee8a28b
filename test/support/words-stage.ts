// A project, a home and a scripted model for tests of what a conversation is told: everything real but the model's mind.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { OpenSession } from "../../keel/src/app/open-session.ts";
import type { OpenOptions } from "../../keel/src/app/options.ts";
import type { Receipt } from "../../keel/src/protocol/command.ts";
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import { type InputBlock, text } from "../../keel/src/protocol/message.ts";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { requestLaw } from "../../keel/src/testing/request-law.ts";
import { openSession } from "./open-session.ts";

export type Tree = Readonly<Record<string, string | Uint8Array>>;

export type WordsStage = {
  readonly folder: string;
  readonly cwd: string;
  /** `~` of the person; Keel's own files are in `.keel` of it. */
  readonly userHome: string;
  readonly env: OpenOptions["env"];
  readonly session: OpenSession;
  readonly events: Envelope[];
  /** Sends words as a person does, and waits until nothing is left to do. */
  say(words: string | InputBlock[]): Promise<Receipt>;
  /** The texts of the user messages of a request, the newest when left out. */
  sent(index?: number): string;
  /** The body of a request, whole. */
  body(index?: number): Record<string, unknown>;
  requests(): number;
  /** Another session that talks to the same model. */
  watch(session: OpenSession): void;
};

export async function wordsStage({
  files = {},
  home = {},
  script = { replies: [], otherwise: reply("ok") },
  options = {},
  managed,
}: {
  files?: Tree;
  home?: Tree;
  script?: Parameters<typeof startModelServer>[0]["script"];
  options?: Partial<OpenOptions>;
  /** A file of the home that is the administrator's. */
  managed?: string;
} = {}): Promise<WordsStage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-words-")));
  const cwd = path.join(folder, "project");
  const userHome = path.join(folder, "home");
  for (const place of [cwd, userHome]) mkdirSync(place);
  writeTree(cwd, { ".git/HEAD": "ref: refs/heads/topic\n", ...files });
  writeTree(userHome, home);
  const law = requestLaw();
  const server = await startModelServer({ script, law });
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = {
    PATH: process.env["PATH"],
    HOME: userHome,
    KEEL_HOME: path.join(userHome, ".keel"),
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "test-key",
    KEEL_GUARD: "off",
    ...(managed === undefined ? {} : { KEEL_MANAGED_SETTINGS: path.join(userHome, managed) }),
  };
  const session = await openSession({ version: "0.0.0", cwd, env, model: "claude-sonnet-4-5", ...options });
  onTestFinished(() => session.close("ended"));
  const events: Envelope[] = [];
  session.onEvent((event) => events.push(event));
  const watch = (watched: OpenSession): void => void watched.onEvent((event) => law.hear(event));
  watch(session);
  const body = (index = -1): Record<string, unknown> =>
    JSON.parse(JSON.stringify(server.requests.at(index)?.body ?? {}));
  return {
    folder,
    cwd,
    userHome,
    env,
    session,
    events,
    body,
    watch,
    async say(words) {
      const content = typeof words === "string" ? [text(words)] : words;
      const receipt = await session.submit({ type: "input", content });
      await session.idle();
      return receipt;
    },
    sent: (index) => userTexts(body(index)),
    requests: () => server.requests.length,
  };
}

export function writeTree(root: string, tree: Tree): void {
  for (const [name, content] of Object.entries(tree)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

function userTexts(body: Record<string, unknown>): string {
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  return messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => (typeof content === "string" ? [content] : content.flatMap(textsOf)))
    .join("\n");
}

function textsOf(block: { type: string; text?: string; content?: unknown }): string[] {
  if (block.type === "text") return [block.text ?? ""];
  if (typeof block.content === "string") return [block.content];
  return Array.isArray(block.content) ? block.content.flatMap(textsOf) : [];
}
