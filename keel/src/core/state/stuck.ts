/**
 * Whether a turn goes round in circles: the same calls with the same results, two of them in turn, or nothing but
 * failures. Judged by whole replies, so that calls which ran at the same time count as one try. Pure.
 */
import { canonicalJson } from "../../kernel/json.ts";
import { fingerprint } from "../../kernel/text.ts";
import type { ToolCall } from "./call-state.ts";

/** The newest tries of a turn, oldest first: a mark of what was called and what came of it. */
export type Habit = {
  readonly marks: readonly string[];
  /** How often the newest came in a row. */
  readonly same: number;
  /** Tries in a row of which every call failed. */
  readonly failures: number;
  /** Whether the model was told in this turn. */
  readonly told: "no" | "yes";
};

export const noHabit: Habit = { marks: [], same: 0, failures: 0, told: "no" };
/** From here it is watched anew: what goes on after it was named goes on in spite of it. */
export const toldHabit: Habit = { ...noHabit, told: "yes" };

export type Circle = "same" | "to-and-fro" | "failures";

/** A person would have stopped earlier; a build that is looked at three times is no circle. */
const maxSame = 5;
/** One who was told and still looks, with success, may be waiting for something. Who fails the same way is not. */
const maxSameWhenTold = 50;
/** Each of the two, and again: four times to and four times fro. */
const maxToAndFro = 8;
/** Wrong paths and failed tests belong to the work; this many in a row, with nothing that went well, do not. */
const maxFailures = 10;

export function habitAfter(habit: Habit, batch: readonly ToolCall[]): Habit {
  if (batch.length === 0) return habit;
  const mark = fingerprint(batch.map(markOf).sort().join("\n"));
  const isFailure = batch.every(({ result }) => result?.failed === true);
  return {
    ...habit,
    marks: [...habit.marks, mark].slice(-maxToAndFro),
    same: mark === habit.marks.at(-1) ? habit.same + 1 : 1,
    failures: isFailure ? habit.failures + 1 : 0,
  };
}

export function circleIn({ marks, same, failures, told }: Habit): Circle | undefined {
  if (same >= (told === "yes" && failures === 0 ? maxSameWhenTold : maxSame)) return "same";
  if (isToAndFro(marks)) return "to-and-fro";
  return failures >= maxFailures ? "failures" : undefined;
}

function isToAndFro(marks: readonly string[]): boolean {
  if (marks.length < maxToAndFro || marks[0] === marks[1]) return false;
  return marks.every((mark, index) => mark === marks[index % 2]);
}

/** Only the input, which a model may write in any order, is worth the time to put it in one: results are long. */
const markOf = ({ use, input, result }: ToolCall): string =>
  [
    canonicalJson([use.name, input ?? use.input, result?.failed ?? false]),
    ...(result?.content ?? []).map((block) => (block.type === "text" ? block.text : JSON.stringify(block))),
  ].join("\n");
