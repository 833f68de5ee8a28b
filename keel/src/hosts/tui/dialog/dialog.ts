/**
 * A question to the person, as a reducer: keys in, an answer out. Nothing is answered by a key that was pressed before
 * the question could be read: that is the screen's matter, which gives a dialog its keys only then.
 */
import { isObject, type Json } from "../../../kernel/json.ts";
import type { Answer, Ask } from "../../../protocol/ask.ts";
import { keepings, type RuleFile } from "../../../view/ask-words.ts";
import { type AskForm, askForm, choiceAnswer, questionsAnswer } from "../../../view/choices.ts";
import { formAnswer } from "../../../view/forms.ts";
import { type Editor, edit, emptyEditor } from "../input/editor.ts";
import { type Button, buttonsOf, editedField } from "./buttons.ts";
import { type FieldsState, fieldsKey, fieldsOfForm } from "./fields.ts";
import { type QuestionsState, questionsKey, startQuestions } from "./questions.ts";
import { type DialogKey, typed } from "./typing.ts";

export type Dialog = {
  readonly ask: Ask;
  readonly form: AskForm;
  readonly buttons: readonly Button[];
  /** Which button is marked. */
  readonly marked: number;
  /** How many rows of the body are above what is seen. */
  readonly scroll: number;
  readonly step: DialogStep;
};

export type DialogStep =
  | { readonly kind: "choose" }
  | { readonly kind: "keep"; readonly button: Extract<Button, { kind: "remember" }>; readonly marked: number }
  | { readonly kind: "words"; readonly editor: Editor }
  | {
      readonly kind: "edit";
      readonly editor: Editor;
      readonly field: string | null;
      readonly problem: string;
    }
  | { readonly kind: "questions"; readonly state: QuestionsState }
  | { readonly kind: "fields"; readonly state: FieldsState };

/** What becomes of a key. `keep`: where the rule of the answer stays. */
export type DialogOutcome =
  | { readonly kind: "open"; readonly dialog: Dialog }
  | { readonly kind: "answered"; readonly answer: Answer; readonly keep?: RuleFile | undefined };

export function openDialog(ask: Ask): Dialog {
  const form = askForm(ask);
  const step: DialogStep =
    form.kind === "questions" && form.questions.length > 0
      ? { kind: "questions", state: startQuestions(form.questions) }
      : { kind: "choose" };
  return {
    ask,
    form,
    buttons: buttonsOf(ask, isFillable(form) ? "fields" : "choices"),
    marked: 0,
    scroll: 0,
    step,
  };
}

const isFillable = (form: AskForm): boolean => form.kind === "fields" && form.fields.ok;

export const refusing: Answer = { verdict: "deny" };

export function dialogKey(dialog: Dialog, key: DialogKey): DialogOutcome {
  const { step } = dialog;
  switch (step.kind) {
    case "choose":
      return chooseKey(dialog, key);
    case "keep":
      return keepKey(dialog, step, key);
    case "words":
      return wordsKey(dialog, step, key);
    case "edit":
      return editKey(dialog, step, key);
    case "questions": {
      const next = questionsKey(step.state, key);
      if (next.kind === "done") return { kind: "answered", answer: questionsAnswer(next.answers) };
      if (next.kind === "cancelled") return { kind: "answered", answer: refusing };
      const scroll = next.state.at === step.state.at ? dialog.scroll : 0;
      return open({ ...dialog, scroll, step: { kind: "questions", state: next.state } });
    }
    case "fields": {
      const next = fieldsKey(step.state, key);
      if (next.kind === "done")
        return { kind: "answered", answer: formAnswer({ kind: "filled", values: next.values }) };
      if (next.kind === "cancelled") return open({ ...dialog, step: { kind: "choose" } });
      return open({ ...dialog, step: { kind: "fields", state: next.state } });
    }
  }
}

/** What is pasted goes where something is written. */
export function dialogPaste(dialog: Dialog, text: string): Dialog {
  const { step } = dialog;
  if (step.kind === "words" || step.kind === "edit")
    return { ...dialog, step: { ...step, editor: edit(step.editor, { type: "insert", text }) } };
  if (step.kind === "questions") {
    const next = questionsKey(step.state, { action: undefined, name: "paste", text });
    return next.kind === "open" ? { ...dialog, step: { kind: "questions", state: next.state } } : dialog;
  }
  if (step.kind === "fields") {
    const next = fieldsKey(step.state, { action: undefined, name: "paste", text });
    return next.kind === "open" ? { ...dialog, step: { kind: "fields", state: next.state } } : dialog;
  }
  return dialog;
}

/** Whether letters are written and not pressed. */
export const isWriting = ({ step }: Dialog): boolean =>
  step.kind === "words" ||
  step.kind === "edit" ||
  (step.kind === "questions" && step.state.isWriting) ||
  (step.kind === "fields" && step.state.isWriting);

const open = (dialog: Dialog): DialogOutcome => ({ kind: "open", dialog });

function chooseKey(dialog: Dialog, { action, name }: DialogKey): DialogOutcome {
  const { buttons } = dialog;
  const by = (step: number): DialogOutcome =>
    open({ ...dialog, marked: (dialog.marked + step + buttons.length) % Math.max(1, buttons.length) });
  const pressed = buttons.find(({ key }) => key === name.toLowerCase());
  if (pressed) return press({ ...dialog, marked: buttons.indexOf(pressed) }, pressed);
  switch (action) {
    case "previous-choice":
      return by(-1);
    case "next-choice":
      return by(1);
    case "choose": {
      const button = buttons[dialog.marked];
      return button ? press(dialog, button) : { kind: "answered", answer: refusing };
    }
    case "cancel":
      return { kind: "answered", answer: refuse(dialog, "") };
    default:
      return open(dialog);
  }
}

function press(dialog: Dialog, button: Button): DialogOutcome {
  const { form, ask } = dialog;
  switch (button.kind) {
    case "pick":
      if (form.kind === "fields" && form.fields.ok)
        return open({ ...dialog, step: { kind: "fields", state: fieldsOfForm(form.fields.value) } });
      if (form.kind === "fields" && !form.fields.ok)
        return { kind: "answered", answer: formAnswer({ kind: "impossible", why: form.fields.error }) };
      return { kind: "answered", answer: choiceAnswer({ option: button.option }) };
    case "remember":
      return open({ ...dialog, step: { kind: "keep", button, marked: 0 } });
    case "refuse":
      return open({ ...dialog, step: { kind: "words", editor: emptyEditor } });
    case "edit": {
      const { name, text } = editedField(ask);
      const editor = edit(emptyEditor, { type: "set", text });
      return open({ ...dialog, step: { kind: "edit", editor, field: name, problem: "" } });
    }
  }
}

function keepKey(dialog: Dialog, step: Extract<DialogStep, { kind: "keep" }>, key: DialogKey): DialogOutcome {
  const { option } = step.button;
  const answered = (keep: RuleFile | undefined): DialogOutcome => ({
    kind: "answered",
    answer: choiceAnswer({ option }),
    keep,
  });
  const pressed = keepings.find(({ key: one }) => one === key.name.toLowerCase());
  if (pressed) return answered(pressed.keep);
  const by = (count: number): DialogOutcome =>
    open({ ...dialog, step: { ...step, marked: (step.marked + count + keepings.length) % keepings.length } });
  switch (key.action) {
    case "previous-choice":
      return by(-1);
    case "next-choice":
      return by(1);
    case "choose":
      return answered(keepings[step.marked]?.keep);
    case "cancel":
      return open({ ...dialog, step: { kind: "choose" } });
    default:
      return open(dialog);
  }
}

function wordsKey(
  dialog: Dialog,
  step: Extract<DialogStep, { kind: "words" }>,
  key: DialogKey,
): DialogOutcome {
  if (key.name === "enter") return { kind: "answered", answer: refuse(dialog, step.editor.text) };
  if (key.name === "escape") return open({ ...dialog, step: { kind: "choose" } });
  return open({ ...dialog, step: { ...step, editor: typed(step.editor, key) } });
}

function editKey(dialog: Dialog, step: Extract<DialogStep, { kind: "edit" }>, key: DialogKey): DialogOutcome {
  if (key.name === "escape") return open({ ...dialog, step: { kind: "choose" } });
  if (key.name !== "enter") return open({ ...dialog, step: { ...step, editor: typed(step.editor, key) } });
  const input = inputFrom(dialog.ask, step);
  if (input === undefined) return open({ ...dialog, step: { ...step, problem: "That is not JSON." } });
  const option = dialog.buttons.find((button) => button.kind === "edit")?.option;
  const answer: Answer = { verdict: "allow", ...(option ? { option: option.id } : {}), input };
  return { kind: "answered", answer };
}

function inputFrom(ask: Ask, { editor, field }: Extract<DialogStep, { kind: "edit" }>): Json | undefined {
  if (field !== null) return { ...(isObject(ask.input) ? ask.input : {}), [field]: editor.text };
  try {
    return JSON.parse(editor.text);
  } catch {
    return undefined;
  }
}

function refuse({ buttons }: Dialog, said: string): Answer {
  const words = said.trim();
  const option = buttons.find((button) => button.kind === "refuse")?.option;
  if (!option) return words === "" ? refusing : { verdict: "deny", reason: `The user said no: ${words}` };
  return choiceAnswer({ option, ...(words === "" ? {} : { words }) });
}
