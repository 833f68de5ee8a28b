/** `keel rehearse`: a whole session for people who have no key yet. The model is a script; everything else is real. */

import { existsSync } from "node:fs";
import path from "node:path";
import { openHome } from "../../../app/home.ts";
import type { OpenSession } from "../../../app/open-session.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { isObject } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { textOf, toolUses } from "../../../protocol/message.ts";
import type { Display } from "../../../protocol/tool.ts";
import { displayText } from "../../../view/display-text.ts";
import { sayUsd } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import type { NewPrinter } from "../print/converse.ts";
import { converse } from "../print/converse.ts";
import { answerAsks, hasPerson } from "../terminal/answer-asks.ts";
import { askPerson } from "../terminal/ask-person.ts";
import { terminalAsker } from "../terminal/terminal.ts";
import { openStage, type Stage } from "./rehearsal-stage.ts";

type RehearseValues = { readonly keep: boolean; readonly console: boolean; readonly "no-open": boolean };

export const rehearse: CommandRun<RehearseValues> = async ({ values }, context) => {
  const { keep } = values;
  if (values.console) {
    const { rehearseInConsole } = await import("./rehearse-console.ts");
    return rehearseInConsole(context, { keep, opens: !values["no-open"] });
  }
  const { out, version } = context;
  if (out.isTerminal && hasPerson(context)) {
    const { rehearseOnScreen } = await import("../terminal/screen.ts");
    return rehearseOnScreen(context, { keep });
  }
  await using stage = await openStage();
  if (keep) stage.keep();
  out.write(opening(stage));
  const options = stage.options(context);
  const home = openHome(options);
  const session = await home.open({ ...options, version, permissionMode: "acceptEdits" });
  const code = await converse(session, {
    prompt: stage.prompt,
    newPrinter: narrator,
    context,
    level: "warning",
    steps: "hidden",
    answer: (asked) =>
      hasPerson(context) ? askPerson(asked, { ask: terminalAsker(context) }) : answerOnce(asked, context),
  });
  if (code !== exitCodes.ended) return code;
  const keel = ownName(context.env);
  const events = await Array.fromAsync(home.sessions.read(session.id), ({ type }) => type);
  out.write(closing(session, keep ? sayPlace(session, stage, keel) : sayLog(events, keel), keel));
  return code;
};

/** Without a terminal the rehearsal, which is its own host, plays the person too, and says so. */
function answerOnce(session: OpenSession, { out }: Context): () => void {
  return answerAsks(session, async (ask) => {
    const option = ask.options.find(({ id }) => id === "once");
    const what = ask.body.kind === "terminal" ? ` ${visible(ask.body.command)}` : "";
    const answer = option?.label ?? "No";
    out.line(`  ? ${ask.title}${what}`);
    out.line(`    There is no terminal, so the rehearsal answers "${answer}" itself.`);
    await session.submit({
      type: "answer",
      askId: ask.id,
      answer: { verdict: option?.verdict ?? "deny", option: option?.id },
    });
  });
}

const opening = ({
  project,
  prompt,
}: Stage): string => `This is a rehearsal. The model is a script that Keel serves to itself over HTTP: no key, no network, no cost.
Everything else is real: the session, the tools, the permission, the log. It happens in ${project}

> ${prompt}

`;

/** The facts of the session in their order, several of a kind in a row told once. */
function sayLog(events: readonly string[], keel: string): string {
  const kinds = events.filter((type, index) => type !== events[index - 1]);
  return `Its log had ${events.length} events, each on disk before what it tells of went on:
  ${kinds.join(", ")}
The folder is gone again; \`${keel} rehearse --keep\` leaves it, and the log, for a look.`;
}

const sayPlace = (session: OpenSession, { project, home }: Stage, keel: string): string =>
  `Folder: ${project}
Log: ${session.location ?? "none"}
To read it again: KEEL_HOME=${home} ${keel} sessions show ${session.id}`;

function closing(session: OpenSession, kept: string, keel: string): string {
  const { costUsd, unpricedTokens, usage } = session.bill();
  const tokens = usage.inputTokens + usage.outputTokens;
  const price = unpricedTokens > 0 ? "; a script has no price" : "";
  return `
Cost: ${sayUsd(costUsd)} for ${tokens} tokens${price}.
${kept}

That was a rehearsal. For a real model, in a folder of yours:
  ANTHROPIC_API_KEY=… ${keel} -p "What does this project do?"
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ${keel} -p --model NAME "…"     with a model server of your own
\`${keel} doctor\` says what Keel finds and would use; \`${keel} --help\` shows the rest.
`;
}

/** What a person would type: npm puts the command on the path of its own scripts only. */
function ownName(env: Context["env"]): string {
  const places = env["npm_lifecycle_event"] === undefined ? (env["PATH"] ?? "").split(path.delimiter) : [];
  const isOnPath = places.some((place) => place !== "" && existsSync(path.join(place, "keel")));
  return isOnPath ? "keel" : path.join(path.dirname(process.argv[1] ?? ""), "keel");
}

/** Tells a session step by step, for a person who sees one for the first time. */
const narrator: NewPrinter = async (_session, { out }) => {
  const inputs = new Map<string, unknown>();
  const say = (words: string, margin: string): void => {
    for (const line of visible(words).split("\n")) out.line(`${margin}${line}`.trimEnd());
  };
  return {
    event(event) {
      if (event.origin) return;
      if (event.type === "model.finished") {
        for (const use of toolUses(event.content)) inputs.set(use.id, use.input);
        const words = textOf(event.content).trim();
        if (words !== "") say(words, "");
      }
      if (event.type === "tool.started")
        say(`· ${event.tool}: ${target(event.input ?? inputs.get(event.callId))}`, "  ");
      if (event.type === "tool.finished") say(shown(event.display, event.failed), "    ");
    },
    finish: () => undefined,
  };
};

function target(input: unknown): string {
  const known = isObject(input) ? (input["command"] ?? input["file_path"]) : undefined;
  return typeof known === "string" ? known : "";
}

function shown(display: Display, failed: boolean): string {
  const { text } = displayText(display);
  if (display.kind === "terminal") return `${text.trim()}\n(exit code ${display.exitCode ?? "none"})`;
  return failed || !proseKinds.has(display.kind) ? text : firstLine(text);
}

/** Of words that went well, the first line is enough. */
const proseKinds: ReadonlySet<Display["kind"]> = new Set(["text", "markdown", "agent"]);

const firstLine = (words: string): string => words.split("\n")[0] ?? "";
