/** Questions with answers to pick from, one after the other; each may be answered in own words too. */
import type { Answers, Question } from "../../../protocol/question.ts";
import { type Editor, emptyEditor } from "../input/editor.ts";
import { type DialogKey, typed } from "./typing.ts";

export type QuestionsState = {
  readonly questions: readonly Question[];
  readonly at: number;
  /** Which option is marked; the one behind the last is own words. */
  readonly marked: number;
  /** Of a question that takes several. */
  readonly picked: ReadonlySet<number>;
  readonly editor: Editor;
  readonly isWriting: boolean;
  readonly answers: Answers;
};

export const startQuestions = (questions: readonly Question[]): QuestionsState => ({
  questions,
  at: 0,
  marked: 0,
  picked: new Set(),
  editor: emptyEditor,
  isWriting: false,
  answers: {},
});

type QuestionsNext =
  | { readonly kind: "open"; readonly state: QuestionsState }
  | { readonly kind: "done"; readonly answers: Answers }
  | { readonly kind: "cancelled" };

const open = (state: QuestionsState): QuestionsNext => ({ kind: "open", state });

export function questionsKey(state: QuestionsState, key: DialogKey): QuestionsNext {
  const question = state.questions[state.at];
  if (!question) return { kind: "done", answers: state.answers };
  if (state.isWriting) return writingKey(state, question, key);
  const count = question.options.length + 1;
  const digit = /^[1-9]$/.test(key.name) ? Number(key.name) - 1 : undefined;
  if (digit !== undefined && digit < question.options.length) {
    const marked = { ...state, marked: digit };
    return question.multiSelect ? open(toggled(marked)) : answer(marked, question);
  }
  switch (key.action) {
    case "previous-choice":
      return open({ ...state, marked: (state.marked - 1 + count) % count });
    case "next-choice":
      return open({ ...state, marked: (state.marked + 1) % count });
    case "toggle":
      return question.multiSelect && state.marked < count - 1 ? open(toggled(state)) : open(state);
    case "choose":
      return state.marked === count - 1 ? open({ ...state, isWriting: true }) : answer(state, question);
    case "cancel":
      // What was answered so far is told; nothing at all is a no.
      return Object.keys(state.answers).length > 0
        ? { kind: "done", answers: state.answers }
        : { kind: "cancelled" };
    default:
      // Letters that mean nothing here begin own words.
      return key.text.trim() === "" && key.name !== "paste"
        ? open(state)
        : open({ ...state, marked: count - 1, isWriting: true, editor: typed(state.editor, key) });
  }
}

function writingKey(state: QuestionsState, question: Question, key: DialogKey): QuestionsNext {
  if (key.name === "escape") return open({ ...state, isWriting: false, editor: emptyEditor });
  if (key.name !== "enter") return open({ ...state, editor: typed(state.editor, key) });
  const said = state.editor.text.trim();
  return said === "" ? open({ ...state, isWriting: false }) : answered(state, question, said);
}

function toggled(state: QuestionsState): QuestionsState {
  const picked = new Set(state.picked);
  if (!picked.delete(state.marked)) picked.add(state.marked);
  return { ...state, picked };
}

function answer(state: QuestionsState, question: Question): QuestionsNext {
  const label = question.options[state.marked]?.label ?? "";
  if (!question.multiSelect) return answered(state, question, label);
  const chosen = state.picked.size > 0 ? [...state.picked].sort((a, b) => a - b) : [state.marked];
  return answered(
    state,
    question,
    chosen.flatMap((index) => question.options[index]?.label ?? []),
  );
}

function answered(state: QuestionsState, { question }: Question, said: string | string[]): QuestionsNext {
  const answers = { ...state.answers, [question]: said };
  const at = state.at + 1;
  return at >= state.questions.length
    ? { kind: "done", answers }
    : open({ ...startQuestions(state.questions), at, answers });
}
