/** The last rows: what the session is doing, and the facts of it in one line. */
import type { Activity } from "../../../view/activity.ts";
import { sayCount, sayDuration, sayUsd } from "../../../view/say.ts";
import type { Totals } from "../../../view/totals.ts";
import { inertOne } from "../text/inert.ts";
import type { Signs } from "../text/signs.ts";
import { clip, dim, lineWidth, role, span, type TextLine, type TextSpan } from "../text/styled.ts";
import type { WidthProfile } from "../text/width.ts";

export type StatusFacts = {
  readonly model: string;
  readonly mode: string;
  readonly branch: string | undefined;
  /** The editor that is connected. */
  readonly editor: string | undefined;
  /** Of the window, from 0 to 1. */
  readonly context: number | undefined;
  readonly totals: Pick<Totals, "costUsd" | "lostRequests" | "unpricedTokens">;
  readonly budgetUsd: number | undefined;
  readonly tasks: number;
  readonly queued: number;
  /** What a command of the person's own said, in place of all this. */
  readonly own: string | undefined;
  /** How the way to the session stands. */
  readonly link: "open" | "lost";
  readonly vi: "insert" | "normal" | undefined;
};

type StatusLook = { readonly signs: Signs; readonly columns: number; readonly profile: WidthProfile };

export function statusLine(facts: StatusFacts, { signs, columns, profile }: StatusLook): TextLine {
  const lost = facts.link === "lost" ? [role("failed", "connection lost, trying again")] : [];
  const own = facts.own === undefined ? undefined : inertOne(facts.own);
  const vi = facts.vi === "normal" ? [dim("NORMAL")] : [];
  const lineOf = (parts: readonly TextSpan[]): TextLine =>
    [...lost, ...vi, ...parts].flatMap((part, index) =>
      index === 0 ? [part] : [dim(` ${signs.dot} `), part],
    );
  if (own !== undefined) return clip(lineOf([dim(own)]), columns - 2, { profile, signs });
  // What waits and what runs is told before the branch and what is usual.
  let parts = ownParts(facts);
  for (const name of givingWay) {
    if (lineWidth(lineOf(parts.map(({ said }) => said)), profile) <= columns - 2) break;
    parts = parts.filter((part) => part.name !== name);
  }
  return clip(lineOf(parts.map(({ said }) => said)), columns - 2, { profile, signs });
}

type StatusPart = {
  readonly name: "model" | "mode" | "usual-mode" | "branch" | "editor" | "context" | "cost" | "work";
  readonly said: TextSpan;
};

/** Where there is little room, in this order. */
const givingWay: readonly StatusPart["name"][] = ["branch", "usual-mode", "editor", "context"];

function ownParts(facts: StatusFacts): StatusPart[] {
  const { model, mode, branch, editor, context, totals, budgetUsd, tasks, queued } = facts;
  const least = totals.lostRequests > 0 || totals.unpricedTokens > 0 ? "at least " : "";
  const cost = `${least}${sayUsd(totals.costUsd)}${budgetUsd === undefined ? "" : ` of $${budgetUsd}`}`;
  const part = (name: StatusPart["name"], said: TextSpan): StatusPart[] => [{ name, said }];
  return [
    ...part("model", dim(inertOne(model))),
    ...(mode === "default" ? part("usual-mode", dim(mode)) : part("mode", modeSpan(inertOne(mode)))),
    ...(branch === undefined ? [] : part("branch", dim(inertOne(branch)))),
    ...(editor === undefined ? [] : part("editor", dim(inertOne(editor)))),
    ...(context === undefined ? [] : part("context", contextSpan(context))),
    ...part("cost", dim(cost)),
    ...(tasks === 0 ? [] : part("work", dim(tasks === 1 ? "1 task" : `${tasks} tasks`))),
    ...(queued === 0 ? [] : part("work", dim(queued === 1 ? "1 queued" : `${queued} queued`))),
  ];
}

/** A mode in which less is asked is seen: it changes what may happen unasked. */
const modeSpan = (mode: string): TextSpan =>
  mode === "bypassPermissions" || mode === "dontAsk" ? role("asking", mode) : span(mode);

const contextSpan = (share: number): TextSpan => {
  const said = `${Math.round(share * 100)} %`;
  return share >= 0.8 ? role("asking", said) : dim(said);
};

export type DoingFacts = {
  readonly activity: Activity;
  readonly now: number;
  readonly turn: number;
  /** Of the reply that is written, roughly. */
  readonly tokens: number;
  /** What is being done by the list of what is to do. */
  readonly todo: string | undefined;
  readonly interrupt: string;
};

/** Nothing while nothing goes on. */
export function doingLine(
  { activity, now, turn, tokens, todo, interrupt }: DoingFacts,
  look: StatusLook,
): TextLine | undefined {
  const { signs, columns, profile } = look;
  if (activity.state === "idle") return undefined;
  if (activity.state === "asking") return undefined;
  const facts = [
    sayDuration(Math.max(0, Math.floor((now - activity.since) / 1_000) * 1_000))
      .replace(".0 s", " s")
      .replace("0 ms", "0 s"),
    ...(tokens > 0 ? [`${sayCount(tokens)} tokens`] : []),
    `${interrupt} interrupts`,
  ];
  const sign = signs.turning[turn % signs.turning.length] ?? "";
  return clip(
    [
      role("running", `${sign} `),
      span(sayDoing(activity, now, todo)),
      dim(`  ${facts.join(` ${signs.dot} `)}`),
    ],
    columns - 2,
    { profile, signs },
  );
}

function sayDoing({ doing }: Activity, now: number, todo: string | undefined): string {
  switch (doing.kind) {
    case "asking-model":
      return "Waiting for the model";
    case "writing":
      return todo ?? "Writing";
    case "compacting":
      return "Shortening the conversation";
    case "running-tools": {
      const names = [...new Set(doing.calls.map(({ tool }) => inertOne(tool)))];
      const said = names.length > 3 ? `${doing.calls.length} calls` : names.join(", ");
      return todo ?? `Running ${said}`;
    }
    case "retrying": {
      const seconds = Math.max(0, Math.ceil((doing.until - now) / 1_000));
      return `Trying again in ${seconds} s (${doing.attempt} of ${doing.mostAttempts}): ${inertOne(doing.why)}`;
    }
    default:
      return todo ?? "Working";
  }
}
