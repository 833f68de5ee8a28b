/** The eleven tools of a desktop, as the tools of one server in this process. Each passes the same way of permission as every tool. */
import { arch, cpus, platform, release, totalmem } from "node:os";
import * as z from "zod/mini";
import type { DesktopPlatform } from "../../ports/desktop.ts";
import type { Tool, ToolOutcome } from "../../ports/tool.ts";
import { bashTool } from "../bash.ts";
import { failure, textField } from "../built-in.ts";
import { claimedPath, targetOf } from "../target.ts";
import { analyzeImage, fileTools, pictureOutcome } from "./file-tools.ts";
import { desktopServer, desktopTool, jsonOutcome, reading, refusedOutcome, whyOutside } from "./outcomes.ts";

export type DesktopToolsOptions = {
  readonly platform: DesktopPlatform;
  /** How large a file may be. */
  readonly maxFileBytes: number;
  /** How long a command may run; 10 seconds when left out. */
  readonly commandMs?: number | undefined;
};

const usualCommandMs = 10_000;
const maxOutputBytes = 1_000_000;

export const desktopTools = (options: DesktopToolsOptions): readonly Tool[] => [
  ...fileTools(options),
  runShellCommand(options.commandMs ?? usualCommandMs),
  getSystemInfo,
  ...screenTools(options.platform, options.maxFileBytes),
  analyzeImage(options.maxFileBytes),
];

const runShellCommand = (commandMs: number): Tool =>
  desktopTool({
    name: "run_shell_command",
    description: `Runs a command in the working folder for at most ${commandMs / 1_000} seconds and returns what it printed, standard output and error together.`,
    input: z.object({
      command: textField("A command line; with args, the program alone."),
      args: z.optional(z.array(z.string())),
    }),
    traits: (given) => bashTool.traits({ command: commandText(given) }),
    claims: async (given) => [{ action: "execute", target: commandText(given) }],
    check: async (given, context) => bashTool.check({ command: commandText(given) }, context),
    run: async function* (given, { workspace }, signal): AsyncGenerator<never, ToolOutcome> {
      const command = commandText(given);
      const limits = { timeoutMs: commandMs, maxBytes: maxOutputBytes };
      const running = workspace.shell.run({ text: command, cwd: workspace.cwd, ...limits }, signal);
      let next = await running.next();
      while (!next.done) next = await running.next();
      const { exitCode, timedOut, interrupted, output, omittedBytes } = next.value;
      const said = { stdout: output, stderr: "", command, exitCode, timedOut };
      const shows = timedOut
        ? `Stopped after ${commandMs / 1_000} s: ${command}`
        : interrupted
          ? `Stopped: ${command}`
          : `Exit code ${exitCode}: ${command}`;
      const outcome = jsonOutcome(omittedBytes > 0 ? { ...said, omittedBytes } : said, { shows });
      return exitCode === 0 ? outcome : { ...outcome, failed: true };
    },
  });

/** One text, which is what is decided about and what runs: each argument is one word, whatever stands in it. */
const commandText = ({ command, args }: { command: string; args?: string[] | undefined }): string =>
  args === undefined || args.length === 0 ? command : [command, ...args].map(oneWord).join(" ");

const oneWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

const getSystemInfo = desktopTool({
  name: "get_system_info",
  description: "Says on which system this runs.",
  input: z.object({}),
  traits: reading,
  claims: async () => [],
  run: async function* (): AsyncGenerator<never, ToolOutcome> {
    const { rss, heapUsed } = process.memoryUsage();
    const facts = {
      platform: platform(),
      release: release(),
      arch: arch(),
      nodeVersion: process.version,
      uptime: Math.round(process.uptime()),
      memoryUsage: { rss, heapUsed, total: totalmem() },
      cpus: cpus().length,
    };
    return jsonOutcome(facts, { shows: `${facts.platform} ${facts.release}, ${facts.arch}` });
  },
});

const screenTools = (desktop: DesktopPlatform, maxBytes: number): readonly Tool[] => [
  desktopTool({
    name: "open_in_default_app",
    description: "Opens a file of the allowed folders, or a web address, in the person's own application.",
    input: z.object({ target: textField("A path, or an address with http or https.") }),
    claims: async ({ target }, context) => {
      const use = { action: "use", target: openName } as const;
      if (isAddress(target)) return [use, { action: "fetch", target }];
      return [use, { action: "read", target: await claimedPath(context, target) }];
    },
    check: async ({ target }, context) => {
      if (isAddress(target)) return undefined;
      if (/^[a-z][a-z0-9+.-]+:/i.test(target))
        return "Only paths and addresses with http or https are opened.";
      const why = await whyOutside(context, target);
      if (why !== undefined) return why;
      const { exists } = await context.workspace.files.describe(target);
      return exists ? undefined : `There is no ${target}.`;
    },
    run: async function* ({ target }, context, signal): AsyncGenerator<never, ToolOutcome> {
      let place = target;
      if (!isAddress(target)) {
        const found = await targetOf(context, { action: "read", path: target });
        if (!found.ok) return failure(found.why);
        if (found.facts.root === undefined) return failure(`${target} lies outside of the allowed folders.`);
        place = found.facts.path;
      }
      const opened = await desktop.open(place, signal);
      if (!opened.ok) return refusedOutcome(opened);
      return jsonOutcome({ message: `Opened ${target}.` }, { shows: `Opened ${target}` });
    },
  }),
  desktopTool({
    name: "read_clipboard",
    description: "Reads the text on the clipboard.",
    input: z.object({}),
    run: async function* (_, _context, signal): AsyncGenerator<never, ToolOutcome> {
      const read = await desktop.readClipboard(signal);
      if (!read.ok) return refusedOutcome(read);
      const { text: content } = read;
      return jsonOutcome({ content, length: content.length }, { shows: `${content.length} characters` });
    },
  }),
  desktopTool({
    name: "write_clipboard",
    description: "Puts a text on the clipboard, in place of what is there.",
    input: z.object({ content: textField("The text.") }),
    check: async ({ content }) =>
      Buffer.byteLength(content) > maxBytes ? `The text is longer than ${maxBytes} bytes.` : undefined,
    run: async function* ({ content }, _context, signal): AsyncGenerator<never, ToolOutcome> {
      const written = await desktop.writeClipboard(content, signal);
      if (!written.ok) return refusedOutcome(written);
      const { length } = content;
      return jsonOutcome({ message: "It is on the clipboard.", length }, { shows: `${length} characters` });
    },
  }),
  desktopTool({
    name: "capture_screenshot",
    description: "Takes a picture of the screen; a window or a region is chosen by the person.",
    input: z.object({ mode: z.optional(z.enum(["fullscreen", "window", "region"])) }),
    run: async function* ({ mode = "fullscreen" }, _context, signal): AsyncGenerator<never, ToolOutcome> {
      const taken = await desktop.screenshot(mode, signal);
      return taken.ok
        ? pictureOutcome(taken.png, { mediaType: "image/png", about: { mode } })
        : refusedOutcome(taken);
    },
  }),
];

const openName = `mcp__${desktopServer}__open_in_default_app`;

const isAddress = (target: string): boolean => /^https?:\/\//i.test(target) && URL.canParse(target);
