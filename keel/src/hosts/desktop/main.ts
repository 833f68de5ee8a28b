/** `keel desktop`: the runtime behind a desktop shell. Reads lines, writes lines; standard error is for diagnostics. */
import { openHome } from "../../app/home.ts";
import { inputLines, type LineContext, serveLines } from "../../app/lines/line-host.ts";
import { type OpenOptions, openOptionsOf } from "../../app/options.ts";
import type { SessionOptions } from "../../protocol/options.ts";
import { ConversationList } from "./conversation-list.ts";
import { Desktop } from "./desktop.ts";

export type DesktopStart = {
  readonly session: SessionOptions;
  /** The folder to work in, absolute. */
  readonly cwd: string;
  readonly asks: "answered" | "refused";
  /** Seconds that a message may take, and that a question waits. */
  readonly messageSeconds: number;
  readonly askSeconds: number;
  /** Bytes that a file may have. */
  readonly maxFileBytes: number;
};

/** As many rounds with the model as one message may have, where nobody says otherwise. */
const usualTurns = 10;

/** Returns the exit code. */
export async function run(start: DesktopStart, context: LineContext): Promise<number> {
  const { session, cwd, asks } = start;
  const lines = inputLines(context);
  const options = openOptionsOf(
    { permissionMode: "default", maxTurns: usualTurns, ...session },
    {
      version: context.version,
      env: context.env,
      cwd,
      // Whoever asked for it is gone: what an unclean end left does not go on by itself.
      unfinished: "lost",
      asks,
    },
  );
  const home = openHome(options);
  const desktop = new Desktop({
    version: context.version,
    home,
    conversations: new ConversationList(home, cwd),
    options: async () => ({ ...options, ownTools: await toolsOf(start, context) }),
    model: options.model,
    out: context.out,
    log: (words) => context.err.line(words),
    asks,
    askMs: start.askSeconds * 1_000,
    messageMs: start.messageSeconds * 1_000,
  });
  return serveLines(desktop, lines, context);
}

/** Loaded with the first session: a shell waits for `ready`, and not for what only a model uses. */
async function toolsOf(
  { cwd, maxFileBytes }: DesktopStart,
  { env }: LineContext,
): Promise<OpenOptions["ownTools"]> {
  const [{ desktopTools }, { desktopPlatform }] = await Promise.all([
    import("../../tools/desktop/desktop-tools.ts"),
    import("../../workspace/desktop/platform.ts"),
  ]);
  return desktopTools({ maxFileBytes, platform: desktopPlatform({ env, cwd }) });
}
