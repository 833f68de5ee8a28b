/** The few signs that we draw ourselves, with plain forms for terminals and readers that have no others. */

export type Signs = {
  /** At the left of what a person said. */
  readonly rule: string;
  readonly call: string;
  /** One after the other while something runs. */
  readonly turning: readonly string[];
  readonly done: string;
  readonly failed: string;
  readonly stopped: string;
  readonly warning: string;
  readonly bullet: string;
  readonly ellipsis: string;
  readonly minus: string;
  readonly dot: string;
  readonly line: string;
  readonly pointer: string;
  readonly prompt: string;
  readonly bar: string;
  readonly barEmpty: string;
  readonly ticked: string;
  readonly unticked: string;
  readonly enter: string;
  readonly nested: string;
  readonly up: string;
  readonly down: string;
};

export const fullSigns: Signs = {
  rule: "▍",
  call: "›",
  turning: ["◐", "◓", "◑", "◒"],
  done: "✓",
  failed: "✗",
  stopped: "◼",
  warning: "!",
  bullet: "•",
  ellipsis: "…",
  minus: "−",
  dot: "·",
  line: "─",
  pointer: "›",
  prompt: ">",
  bar: "█",
  barEmpty: "░",
  ticked: "✓",
  unticked: "○",
  enter: "⏎",
  nested: "└",
  up: "↑",
  down: "↓",
};

export const plainSigns: Signs = {
  rule: "|",
  call: ">",
  turning: ["*", "+"],
  done: "ok",
  failed: "x",
  stopped: "-",
  warning: "!",
  bullet: "-",
  ellipsis: "...",
  minus: "-",
  dot: "-",
  line: "-",
  pointer: ">",
  prompt: ">",
  bar: "#",
  barEmpty: ".",
  ticked: "x",
  unticked: "o",
  enter: "Enter",
  nested: "`-",
  up: "up",
  down: "down",
};

/** By the locale: one that names no UTF-8 gets the plain forms. */
export function signsFor(env: Readonly<Record<string, string | undefined>>): Signs {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  if (locale === undefined) return env["TERM"] === "linux" ? plainSigns : fullSigns;
  return /utf-?8/i.test(locale) ? fullSigns : plainSigns;
}
