/**
 * The desktop through the platform's own programs. They are found on the absolute folders of PATH, never in the folder
 * that is worked in. What is opened and what holds the clipboard is the desktop's from then on, and is not ended with us.
 */
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isInside } from "../../kernel/path.ts";
import type { DesktopPlatform, DesktopRefusal, ScreenPart } from "../../ports/desktop.ts";
import { type DesktopProgram, desktopKind, desktopPrograms } from "./programs.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type DesktopPlace = {
  readonly env: Environment;
  readonly cwd: string;
  /** That of the process when left out. */
  readonly platform?: NodeJS.Platform | undefined;
};

/** A clipboard that does not answer is held by a program that hangs. */
const clipboardMs = 5_000;
const screenMs = 10_000;
/** A person chooses. */
const choiceMs = 30_000;
/** After this long a program that opens something is taken to be at work. */
const openMs = 1_500;
const maxClipboardBytes = 10 * 1024 * 1024;
const maxPictureBytes = 64 * 1024 * 1024;

type DesktopRun = { readonly ok: true; readonly output: Buffer } | DesktopRefusal;
type ProgramWish = {
  readonly what: string;
  readonly ms: number;
  readonly file?: string | undefined;
  readonly target?: string | undefined;
  readonly input?: string | undefined;
  /** Taken to be at work when its time is up. */
  readonly goesOn?: boolean | undefined;
};

export function desktopPlatform({ env, cwd, platform = process.platform }: DesktopPlace): DesktopPlatform {
  const kind = desktopKind(platform, env);
  const row = kind && desktopPrograms[kind];
  const run = async (
    programs: readonly DesktopProgram[] | undefined,
    wanted: ProgramWish,
    signal: AbortSignal,
  ): Promise<DesktopRun> => {
    if (!programs)
      return refused(
        "no_display",
        `There is no screen here (no DISPLAY and no WAYLAND_DISPLAY): ${wanted.what} is not possible.`,
      );
    const found = programs.flatMap((one) => {
      const place = findProgram(one.program, { env, cwd });
      return place === undefined ? [] : [{ ...one, place }];
    })[0];
    if (!found)
      return refused(
        "no_program",
        programs.length === 0
          ? `On this desktop ${wanted.what} is not possible.`
          : `No program for it is installed: ${wanted.what} needs ${programs.map(({ program }) => program).join(" or ")}.`,
      );
    return runProgram(found, wanted, { env, signal });
  };
  return {
    async readClipboard(signal) {
      const ran = await run(row?.read, { what: "reading the clipboard", ms: clipboardMs }, signal);
      return ran.ok ? { ok: true, text: ran.output.toString("utf8") } : ran;
    },
    async writeClipboard(input, signal) {
      const ran = await run(row?.write, { what: "writing to the clipboard", ms: clipboardMs, input }, signal);
      return ran.ok ? { ok: true } : ran;
    },
    async screenshot(part, signal) {
      const folder = await mkdtemp(path.join(tmpdir(), "keel-screen-"));
      try {
        const file = path.join(folder, "screen.png");
        const ran = await run(
          row?.screen[part],
          { what: sayPart[part], ms: part === "fullscreen" ? screenMs : choiceMs, file },
          signal,
        );
        if (!ran.ok) return ran;
        const { size } = await stat(file);
        if (size > maxPictureBytes) return refused("failed", "The picture is too large.");
        return { ok: true, png: await readFile(file) };
      } catch {
        return refused("failed", "No picture was made; perhaps nothing was chosen.");
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    async open(target, signal) {
      const ran = await run(row?.open, { what: "opening it", ms: openMs, target, goesOn: true }, signal);
      return ran.ok ? { ok: true } : ran;
    },
  };
}

const sayPart: Readonly<Record<ScreenPart, string>> = {
  fullscreen: "a picture of the screen",
  window: "a picture of a window",
  region: "a picture of a part of the screen",
};

const refused = (kind: DesktopRefusal["kind"], why: string): DesktopRefusal => ({ ok: false, kind, why });

/** Its path; undefined when it is not installed. */
function findProgram(name: string, { env, cwd }: { env: Environment; cwd: string }): string | undefined {
  const folders = (env["PATH"] ?? "").split(path.delimiter);
  for (const folder of folders) {
    if (!path.isAbsolute(folder) || isInside(folder, [cwd])) continue;
    const place = path.join(folder, name);
    try {
      accessSync(place, constants.X_OK);
      return place;
    } catch {
      // The next one.
    }
  }
  return undefined;
}

function runProgram(
  { place, program, args }: DesktopProgram & { readonly place: string },
  { ms, file = "", target = "", input, goesOn = false }: ProgramWish,
  { env, signal }: { env: Environment; signal: AbortSignal },
): Promise<DesktopRun> {
  const given = args.map((arg) => arg.replace("{file}", () => file).replace("{target}", () => target));
  const reads = input === undefined && file === "" && !goesOn;
  return new Promise((resolve) => {
    // What takes over the clipboard, or is opened, keeps no pipe of ours and lives on.
    const child = spawn(place, given, {
      env,
      detached: !reads && file === "",
      stdio: [input === undefined ? "ignore" : "pipe", reads ? "pipe" : "ignore", "ignore"],
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (ran: DesktopRun): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve(ran);
    };
    const give = (ran: DesktopRun): void => {
      child.kill("SIGKILL");
      end(ran);
    };
    const stop = (): void => give(refused("stopped", "It was stopped."));
    const timer = setTimeout(() => {
      if (!goesOn) return give(refused("timed_out", `${program} did not answer within ${ms / 1_000} s.`));
      child.unref();
      end({ ok: true, output: Buffer.alloc(0) });
    }, ms);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    child.once("error", () => end(refused("failed", `${program} could not be started.`)));
    child.stdout?.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxClipboardBytes) give(refused("failed", "The clipboard holds more than 10 MB."));
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
    child.once(reads ? "close" : "exit", (code) =>
      code === 0
        ? end({ ok: true, output: Buffer.concat(chunks) })
        : end(refused("failed", `${program} failed (exit code ${code ?? "none"}).`)),
    );
  });
}
