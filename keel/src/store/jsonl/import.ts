/**
 * Takes a log from anywhere as a new session of a folder. It is read to its end and checked before anything is
 * written, and it appears under its name only when it is whole and on disk: a damaged log is refused, never repaired.
 *
 * A log from elsewhere is somebody else's word: what was allowed there is not allowed here.
 */
import { fault } from "../../kernel/fault.ts";
import { asList, isObject } from "../../kernel/json.ts";
import { type FileLayer, nodeFiles, type OpenFile } from "./files.ts";
import { copyLog } from "./fork.ts";
import { LogLocations } from "./log-locations.ts";
import { sessionId } from "./names.ts";
import { openForReading, unreadable, unwritable } from "./reasons.ts";
import { readEvents } from "./records.ts";
import { type LogSurvey, survey } from "./survey.ts";
import type { RawRecord } from "./upgrade.ts";

export type Import = {
  readonly home: string;
  /** Where the log stands now. */
  readonly file: string;
  /** The id of the new session, which nobody else has. */
  readonly session: string;
  readonly cwd: string;
  readonly now: number;
  /** The files of the home, where they are not all plain ones. */
  readonly files?: FileLayer;
};

/** Throws `not_imported`, `log_unreadable`, `log_too_new` or `log_unwritable`; nothing is then left behind. */
export async function importLog({
  home,
  file: given,
  session,
  cwd,
  now,
  files = nodeFiles(),
}: Import): Promise<{ events: number; leftOut: LeftOut }> {
  // The person named this path, so a link in it is meant; what it leads to must be a plain file.
  const from = await files.realPath(given).catch((thrown: unknown) => {
    throw unreadable(given, thrown);
  });
  await using file = await openForReading(files, from, given);
  const found = await survey(file, { path: given, tornEnd: "told" });
  const { origin, unfinishedFrom } = await check(file, found, given);
  const rights = new RightsFilter();
  try {
    const { log: path, durable } = await new LogLocations(home, files).newLog(sessionId(session), { cwd });
    await durable;
    await copyLog({
      files,
      from: { session: origin, file, survey: found },
      to: { session: sessionId(session), path, cwd },
      upTo: Number.POSITIVE_INFINITY,
      now,
      change: (record, seq) => rights.change(record, seq > unfinishedFrom ? "unfinished" : "finished"),
    });
  } catch (thrown) {
    throw unwritable(home, thrown);
  }
  return { events: found.entries.length, leftOut: rights.leftOut() };
}

type CheckedLog = {
  /** The session that the log was written by. */
  readonly origin: string;
  /** Where a turn began that has no end; infinite when every turn has one. */
  readonly unfinishedFrom: number;
};

async function check(
  file: OpenFile,
  { scan, entries, damage }: LogSurvey,
  path: string,
): Promise<CheckedLog> {
  const origin = scan.header?.session ?? "";
  let first: string | undefined;
  let unfinishedFrom = Number.POSITIVE_INFINITY;
  for await (const events of readEvents({ file, entries, session: origin, damage }))
    for (const { type, seq } of events) {
      first ??= type;
      if (type === "turn.started") unfinishedFrom = seq;
      if (type === "turn.finished") unfinishedFrom = Number.POSITIVE_INFINITY;
    }
  const damaged = damage.notices().find(({ level }) => level === "warning");
  if (damaged) throw fault("not_imported", { path, reason: reasonIn(damaged.text) });
  if (first !== "session.opened")
    throw fault("not_imported", { path, reason: "it does not begin with a session." });
  return { origin, unfinishedFrom };
}

/** The notice is the same sentence with the path before and what became of the rest behind. */
const reasonIn = (text: string): string =>
  `it is damaged: ${/ is damaged: (.*?)\. Everything else was read/s.exec(text)?.[1] ?? text}.`;

export type LeftOut = {
  /** Rules that would have allowed something, each once. */
  readonly rules: readonly string[];
  /** Folders beside its own that the session had, each once. */
  readonly folders: readonly string[];
  /** Answers in an unfinished turn that allowed a call, and refuse it now. */
  readonly answers: number;
  /** Times that a rule which denies or asks was taken away; here it stays. */
  readonly lifted: number;
};

/**
 * What an imported log may say about rights: whatever makes the session stricter stays, the rest is left out and counted.
 * Its remembered rules, folders and leaves of commands and skills go; an allowing answer in a turn that would go on
 * becomes a refusal; rules that deny or ask stay, and nothing takes them away.
 */
class RightsFilter {
  readonly #rules = new Set<string>();
  readonly #folders = new Set<string>();
  /** What options of questions offer to remember, by question and option. */
  readonly #offered = new Map<string, string>();
  #answers = 0;
  #lifted = 0;

  leftOut(): LeftOut {
    return {
      rules: [...this.#rules],
      folders: [...this.#folders],
      answers: this.#answers,
      lifted: this.#lifted,
    };
  }

  change(record: RawRecord, turn: "finished" | "unfinished"): RawRecord {
    const { type, ask, answer, patch, input } = record;
    if (type === "ask.opened" && isObject(ask)) return { ...record, ask: this.#askWithout(ask) };
    if (type === "ask.closed" && isObject(answer))
      return { ...record, answer: this.#answerWithout(answer, { askId: record["askId"], turn }) };
    // Rules that a host added, and those of a command or a skill.
    if (type === "settings.changed" && isObject(patch) && patch["permissions"] !== undefined)
      return { ...record, patch: { ...patch, permissions: this.#stricter(patch["permissions"]) } };
    if (type === "input.accepted" && isObject(input))
      return { ...record, input: { ...input, allow: this.#drop(input["allow"]) } };
    return type === "tool.finished" ? { ...record, allow: this.#drop(record["allow"]) } : record;
  }

  #askWithout(ask: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    if (!Array.isArray(ask["options"])) return ask;
    const options = ask["options"].map((option: unknown) => {
      if (!isObject(option)) return option;
      if (typeof option["rule"] === "string")
        this.#offered.set(`${ask["id"]} ${option["id"]}`, option["rule"]);
      return { ...option, rule: undefined };
    });
    return { ...ask, options };
  }

  #answerWithout(
    answer: Readonly<Record<string, unknown>>,
    { askId, turn }: { askId: unknown; turn: "finished" | "unfinished" },
  ): Readonly<Record<string, unknown>> {
    const picked = this.#offered.get(`${askId} ${answer["option"]}`);
    if (picked !== undefined) this.#rules.add(picked);
    const without = { ...answer, rules: this.#drop(answer["rules"]) };
    if (turn === "finished" || answer["verdict"] !== "allow") return without;
    this.#answers += 1;
    return { verdict: "deny", reason: "What was allowed elsewhere is not allowed here." };
  }

  /** Only ever more that is denied or asked about. */
  #stricter(changes: unknown): unknown {
    if (!Array.isArray(changes)) return undefined;
    const kept = changes.flatMap((change: unknown) => {
      if (!isObject(change)) return [];
      const { type, list, change: how, rules } = change;
      if (type === "rules" && (list === "deny" || list === "ask")) {
        if (how !== "add") this.#lifted += 1;
        return how === "remove" ? [] : [{ type, list, rules, change: "add" }];
      }
      // What was taken away from what is allowed is not there in the first place.
      if (how !== "remove") for (const folder of textsIn(change["folders"])) this.#folders.add(folder);
      if (how !== "remove") this.#drop(rules);
      return [];
    });
    return kept.length === 0 ? undefined : kept;
  }

  #drop(rules: unknown): undefined {
    for (const rule of textsIn(rules)) this.#rules.add(rule);
  }
}

const textsIn = (value: unknown): string[] => asList(value).filter((each) => typeof each === "string");
