/** Opens the screen of a session for the person at the terminal: this process's streams, signals and crashes as it needs them. */
import { usage } from "../../../app/flags/arguments.ts";
import type { KeelClient } from "../../../client/connect.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { Context } from "../context.ts";
import { openOptions, type SessionValues } from "../print/print.ts";
import { exitCodeOf } from "../signals.ts";

type ScreenArguments = { readonly values: SessionValues; readonly positionals: readonly string[] };

export async function openScreen(
  { values, positionals }: ScreenArguments,
  context: Context,
): Promise<number> {
  if (positionals.length > 1) throw usage("Give the first prompt in quotes, as one word.");
  // From here on nothing that is typed is echoed, and nothing of it is lost: it is read when the screen is there.
  rawMode(context, true);
  try {
    const options = await openOptions(values, "go on", context);
    // A name without an id is meant as: let me choose.
    const pick = values["resume"] === "" || values["resume"] === true;
    const wishes = { prompt: positionals[0], pick };
    const { startScreen } = await import("../../tui/main.ts");
    const code = await withDoor(context, (door) => startScreen(options, door, wishes));
    return code < 0 ? await rehearseOnScreen(context) : code;
  } finally {
    rawMode(context, false);
  }
}

/** A session of a server, wherever that is. */
export type FarSession = {
  readonly client: KeelClient;
  readonly id: string;
  /** How one comes back to it. */
  readonly again: string;
};

/** A session of a server, on the screen. */
export async function attachOnScreen(
  { client, id, again, home }: FarSession & { readonly home: string },
  context: Context,
): Promise<number> {
  const { screenOn } = await import("../../tui/main.ts");
  return await withDoor(context, (door) => screenOn({ client, id, again }, { ...door, home }));
}

/** The rehearsal on the screen, with a few words of what can be tried. Its folder is gone afterwards, unless somebody wants it. */
export async function rehearseOnScreen(
  context: Context,
  { keep }: { readonly keep: boolean } = { keep: false },
): Promise<number> {
  const { openStage } = await import("../commands/rehearsal-stage.ts");
  const { startScreen } = await import("../../tui/main.ts");
  const { tour } = await import("../../tui/tour.ts");
  await using stage = await openStage();
  if (keep) stage.keep();
  const options = {
    ...stage.options(context),
    version: context.version,
    permissionMode: "acceptEdits" as const,
    asks: "answered" as const,
    checkpoints: "on" as const,
  };
  return await withDoor(context, (door) =>
    startScreen(
      options,
      { ...door, env: { ...door.env, ...options.env }, cwd: options.cwd },
      {
        welcome: tour(stage),
        draft: stage.prompt,
        rehearsal: (id) => [
          "",
          "That was a rehearsal. For a real model, in a folder of yours: ANTHROPIC_API_KEY=… keel",
          ...(keep
            ? [
                `Folder: ${stage.project}`,
                `To read it again: KEEL_HOME=${stage.home} keel sessions show ${id}`,
              ]
            : ["The folder is gone again; `keel rehearse --keep` leaves it, and the log, for a look."]),
        ],
      },
    ),
  );
}

async function withDoor(
  context: Context,
  work: (door: ReturnType<typeof doorOf>) => Promise<number>,
): Promise<number> {
  const stopped = new AbortController();
  let code: number = exitCodes.outputClosed;
  const release = context.signals.take((signal) => {
    code = exitCodeOf(signal);
    stopped.abort();
  });
  const away = (): void => stopped.abort();
  void context.out.closed.then(away);
  context.input.once("end", away);
  context.input.once("error", away);
  try {
    return await work(doorOf(context, { signal: stopped.signal, code: () => code }));
  } finally {
    release();
    context.input.off("end", away);
    context.input.off("error", away);
  }
}

/** This process as a screen sees it. */
const doorOf = (context: Context, stopped: { readonly signal: AbortSignal; code(): number }) => ({
  version: context.version,
  env: context.env,
  cwd: context.cwd,
  terminal: {
    input: context.input,
    out: context.out,
    size: () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }),
    // Node asks when it hears the signal, which may be waiting behind what we do.
    lookAtSize: () => (process.stdout as { _refreshSize?(): void })._refreshSize?.(),
    onResize(listener: () => void): () => void {
      process.stdout.on("resize", listener);
      return () => process.stdout.off("resize", listener);
    },
  },
  say: (line: string) => context.out.line(line),
  stopped,
  guard: (restore: () => void) => guard(context, restore),
});

/** Whatever ends the process gives the terminal back first; what nobody caught is then told as ever. */
function guard({ crashes }: Context, restore: () => void): () => void {
  const release = crashes.take((thrown) => {
    restore();
    release();
    setImmediate(() => {
      throw thrown;
    });
  });
  process.on("exit", restore);
  return () => {
    release();
    process.off("exit", restore);
  };
}

function rawMode({ input }: Context, raw: boolean): void {
  if ("setRawMode" in input && typeof input.setRawMode === "function") input.setRawMode(raw);
}
