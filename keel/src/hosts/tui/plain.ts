/**
 * The same session as plain lines: for who listens to the screen, for terminals that cannot be drawn on. Everything is said
 * in words, once and in order; nothing is written over; questions are numbered choices that a line answers.
 */
import { createInterface } from "node:readline";
import { toFault } from "../../kernel/fault.ts";
import type { Answer, Ask, AskOption } from "../../protocol/ask.ts";
import { type Envelope, type EventHandlers, handle, isDurable } from "../../protocol/event/envelope.ts";
import { askTitle, askWords, keepings, type RuleFile, ruleWords } from "../../view/ask-words.ts";
import { answerIn, askForm, choiceAnswer, questionsAnswer } from "../../view/choices.ts";
import { askedText } from "../../view/display-text.ts";
import { type Field, type FieldValue, fillFields, formAnswer, sayKind, valueIn } from "../../view/forms.ts";
import { sayDuration, sayUsd } from "../../view/say.ts";
import { foldTranscript, type KeyedTranscript, noTranscript, rowsOf } from "../../view/transcript.ts";
import { withoutRow } from "../../view/without-row.ts";
import { buttonsOf } from "./dialog/buttons.ts";
import type { RowContext } from "./rows/context.ts";
import { nothingPrinted, type Printing, takeFinished } from "./rows/printing.ts";
import type { ScreenEnd, ScreenHost } from "./screen/host.ts";
import { approvedLines, inertOne } from "./text/inert.ts";
import { plainSigns } from "./text/signs.ts";
import { textOfLine } from "./text/styled.ts";
import { modernWidths } from "./text/width.ts";

export async function runPlain(host: ScreenHost): Promise<ScreenEnd> {
  return new PlainRun(host).run();
}

/** What the next line answers: none where it is for the session. */
type LineTaker = (line: string) => void;

class PlainRun {
  readonly #host: ScreenHost;
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<ScreenEnd>();
  readonly #asks: Ask[] = [];
  #transcript: KeyedTranscript = noTranscript;
  #printing: Printing = nothingPrinted;
  #waiting: LineTaker | undefined;
  #typed = "";

  constructor(host: ScreenHost) {
    this.#host = host;
  }

  async run(): Promise<ScreenEnd> {
    const { terminal, signal, welcome = [], prompt } = this.#host;
    terminal.input.setRawMode?.(false);
    const lines = createInterface({ input: terminal.input, terminal: false });
    lines.on("line", (line) => this.#onLine(line));
    lines.once("close", () => this.#ended.resolve({ kind: "left" }));
    signal?.addEventListener("abort", () => this.#ended.resolve({ kind: "stopped" }), { once: true });
    for (const { spans } of welcome) this.#say(textOfLine(spans));
    this.#say(
      "Plain lines. Type and press Enter; a backslash at the end goes on in the next line. /help lists the commands, /exit ends.",
    );
    void this.#follow(prompt).catch((thrown: unknown) => {
      this.#say(toFault(thrown).message);
      this.#ended.resolve({ kind: "closed" });
    });
    try {
      return await this.#ended.promise;
    } finally {
      this.#stop.abort();
      lines.close();
      await this.#host.handle.detach();
    }
  }

  async #follow(prompt: string | undefined): Promise<void> {
    const { handle: session } = this.#host;
    const { seq } = await session.inquire("position");
    if (prompt !== undefined) void this.#send(prompt);
    for await (const event of session.events(0, this.#stop.signal)) {
      const isOld = isDurable(event) && !event.origin && event.seq <= seq;
      this.#onEvent(event, isOld);
    }
    if (!this.#stop.signal.aborted) this.#ended.resolve({ kind: "closed" });
  }

  #onEvent(event: Envelope, isOld: boolean): void {
    this.#transcript = foldTranscript(this.#transcript, event);
    if (isOld) return this.#forgetOld(event);
    this.#print();
    handle(this.#heard, event);
  }

  readonly #heard: EventHandlers<Envelope, [], void> = {
    "ask.opened": ({ ask }) => this.#openAsk(ask),
    "ask.closed": ({ askId }) => this.#closeAsk(askId),
    "turn.started": ({ origin }) => {
      if (!origin) this.#say("Working.");
    },
    "turn.finished": ({ ms, costUsd, origin }) => {
      if (!origin) this.#say(`Ready. ${sayDuration(ms)}, ${sayUsd(costUsd)}.`);
    },
  };

  /** What was said before this screen came is in the log; a question that is still open is asked. */
  #forgetOld(event: Envelope): void {
    for (const { id, kind } of rowsOf(this.#transcript))
      if (kind !== "agent" && kind !== "task" && kind !== "ask")
        this.#transcript = withoutRow(this.#transcript, id);
    if (event.type === "ask.opened") this.#openAsk(event.ask);
    if (event.type === "ask.closed") this.#closeAsk(event.askId);
  }

  #print(): void {
    const taken = takeFinished(this.#withoutOwnWords(), this.#printing, this.#context());
    this.#transcript = taken.transcript;
    this.#printing = taken.printing;
    for (const { spans } of taken.lines) this.#say(textOfLine(spans));
  }

  /** What the person typed stands there already, in their own hand. */
  #withoutOwnWords(): KeyedTranscript {
    return rowsOf(this.#transcript)
      .toArray()
      .filter(
        (row) =>
          row.kind === "user" &&
          row.status === "taken" &&
          row.from.kind === "person" &&
          row.from.name === undefined,
      )
      .reduce((left, { id }) => withoutRow(left, id), this.#transcript);
  }

  #context(): RowContext {
    const { env } = this.#host;
    return {
      columns: 1_000,
      profile: modernWidths,
      signs: plainSigns,
      links: false,
      marks: true,
      cwd: env["PWD"] ?? "/",
      home: env["HOME"] ?? "/",
      thinking: "hidden",
      resultRows: 40,
    };
  }

  #say(line: string): void {
    this.#host.terminal.out.write(`${line}\n`);
  }

  #onLine(line: string): void {
    if (this.#waiting) return this.#waiting(line);
    if (line.endsWith("\\")) {
      this.#typed += `${line.slice(0, -1)}\n`;
      return;
    }
    const words = this.#typed + line;
    this.#typed = "";
    if (words.trim() === "") return;
    if (/^\/(?:exit|quit)\s*$/.test(words.trim())) return this.#ended.resolve({ kind: "left" });
    void this.#send(words);
  }

  async #send(words: string): Promise<void> {
    const own = words.startsWith("!") ? "shell" : words.startsWith("#") ? "note" : undefined;
    const text = own ? words.slice(1).trim() : words;
    try {
      await this.#host.handle.submit({
        type: "input",
        content: [{ type: "text", text }],
        ...(own ? { words: own } : { when: this.#host.settings.whileRunning === "steer" ? "now" : "after" }),
      });
    } catch (thrown) {
      this.#say(toFault(thrown).message);
    }
  }

  #openAsk(ask: Ask): void {
    if (this.#asks.some(({ id }) => id === ask.id)) return;
    this.#asks.push(ask);
    if (this.#asks.length === 1) void this.#ask(ask);
  }

  #closeAsk(id: string): void {
    const at = this.#asks.findIndex((ask) => ask.id === id);
    if (at < 0) return;
    this.#asks.splice(at, 1);
    if (at > 0) return;
    this.#waiting = undefined;
    const [next] = this.#asks;
    if (next) void this.#ask(next);
  }

  async #ask(ask: Ask): Promise<void> {
    const count = this.#asks.length > 1 ? ` (1 of ${this.#asks.length})` : "";
    const from = ask.origin ? `, for the agent ${inertOne(ask.origin.description ?? ask.origin.kind)}` : "";
    this.#say(`Question${count}${from}: ${askTitle(ask)}`);
    for (const line of approvedLines(askedText(ask.body))) this.#say(`  ${line}`);
    if (ask.reason !== undefined) this.#say(`Why: ${inertOne(ask.reason)}`);
    const answered = await this.#answerTo(ask);
    if (!answered || this.#asks[0]?.id !== ask.id) return;
    if (answered.keep && answered.rule !== undefined && this.#host.sessions.keepRule)
      this.#say(
        await this.#host.sessions
          .keepRule(answered.rule, answered.keep)
          .catch((thrown: unknown) => toFault(thrown).message),
      );
    await this.#host.handle
      .submit({ type: "answer", askId: ask.id, answer: answered.answer, by: "host" })
      .catch((thrown: unknown) => this.#say(toFault(thrown).message));
  }

  async #answerTo(
    ask: Ask,
  ): Promise<{ answer: Answer; keep?: RuleFile | undefined; rule?: string | undefined } | undefined> {
    const form = askForm(ask);
    if (form.kind === "questions") {
      const answers: Record<string, string | string[]> = {};
      for (const question of form.questions) {
        this.#say(inertOne(question.question));
        for (const [index, { label, description }] of question.options.entries())
          this.#say(`  ${index + 1}. ${inertOne(label)}: ${inertOne(description)}`);
        this.#say(
          `Type ${question.multiSelect ? "numbers" : "a number"}, or your own answer; nothing for no answer.`,
        );
        const said = answerIn(await this.#line(), question);
        if (said !== undefined) answers[question.question] = said;
      }
      return { answer: questionsAnswer(answers) };
    }
    const choices = choicesOf(ask);
    for (const [index, { says }] of choices.entries()) this.#say(`  ${index + 1}. ${says}`);
    this.#say("Type a number. Anything else says no; words after the number of a no go to the model.");
    const line = (await this.#line()).trim();
    const [, number = "", words = ""] = /^(\d+)\s*(.*)$/.exec(line) ?? [];
    const chosen = choices[Number(number) - 1];
    if (!chosen?.option) return { answer: { verdict: "deny" } };
    const { option, keep } = chosen;
    if (form.kind === "fields" && option.verdict === "allow") {
      if (!form.fields.ok) return { answer: formAnswer({ kind: "impossible", why: form.fields.error }) };
      return { answer: await this.#fill(form.fields.value) };
    }
    const said = option.verdict === "deny" && words !== "" ? { words } : {};
    return { answer: choiceAnswer({ option, ...said }), keep, rule: option.rule };
  }

  async #fill(fields: readonly Field[]): Promise<Answer> {
    const values: Record<string, FieldValue | undefined> = {};
    for (const field of fields) {
      const choices = "choices" in field.kind ? field.kind.choices : [];
      this.#say(
        `${inertOne(field.title)} (${sayKind(field.kind)}; ${field.isNeeded ? "needed" : "nothing leaves it out"})`,
      );
      for (const [index, { label }] of choices.entries()) this.#say(`  ${index + 1}. ${inertOne(label)}`);
      const line = await this.#line();
      const read = line.trim() === "" ? undefined : valueIn(line, field.kind);
      if (read && !read.ok) this.#say(read.error);
      values[field.name] = read?.ok ? read.value : undefined;
    }
    const filled = fillFields(fields, values);
    if (filled.ok) return formAnswer({ kind: "filled", values: filled.value });
    for (const [name, why] of Object.entries(filled.error)) this.#say(`${inertOne(name)}: ${why}`);
    return formAnswer({ kind: "cancelled" });
  }

  #line(): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting = (line) => {
        this.#waiting = undefined;
        resolve(line);
      };
    });
  }
}

type PlainChoice = {
  readonly says: string;
  readonly option: AskOption | undefined;
  readonly keep: RuleFile | undefined;
};

/** What can be picked, each with where its rule stays. */
function choicesOf(ask: Ask): PlainChoice[] {
  return buttonsOf(ask).flatMap((button): PlainChoice[] => {
    if (button.kind === "edit") return [];
    if (button.kind !== "remember")
      return [{ says: button.label.replace(/ …$/, ""), option: button.option, keep: undefined }];
    const label = askWords.allow(ruleWords(button.option.rule ?? ""));
    return keepings.map(({ keep, label: where }) => ({
      says: `${label} ${where}`,
      option: button.option,
      keep,
    }));
  });
}
