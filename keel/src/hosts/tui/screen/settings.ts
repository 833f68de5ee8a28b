/** How a person wants their screen: the settings under `terminal`, read once. */
import { isObject } from "../../../kernel/json.ts";

export type ScreenSettings = {
  readonly keys: Readonly<Record<string, string | readonly string[]>>;
  readonly editing: "readline" | "vi";
  /** What Enter means while a turn runs. */
  readonly whileRunning: "steer" | "queue";
  readonly wrap: "words" | "terminal";
  readonly thinking: "shown" | "hidden";
  readonly notify: "bell" | "desktop" | "off";
  readonly title: boolean;
  /** For who listens: plain lines, nothing drawn anew. */
  readonly plain: boolean;
  readonly statusLine: string | undefined;
};

export const usualSettings: ScreenSettings = {
  keys: {},
  editing: "readline",
  whileRunning: "steer",
  wrap: "words",
  thinking: "hidden",
  notify: "bell",
  title: true,
  plain: false,
  statusLine: undefined,
};

/** Of settings that were checked against their schema: what is not there is as usual. */
export function screenSettings(effective: unknown): ScreenSettings {
  const given: Record<string, unknown> =
    isObject(effective) && isObject(effective["terminal"]) ? effective["terminal"] : {};
  const one = <const T extends string>(name: string, allowed: readonly T[], otherwise: T): T =>
    allowed.find((value) => value === given[name]) ?? otherwise;
  const status = isObject(given["statusLine"]) ? given["statusLine"]["command"] : undefined;
  const keys = isObject(given["keys"]) ? given["keys"] : {};
  return {
    keys: Object.fromEntries(Object.entries(keys).flatMap(([name, value]) => keysIn(name, value))),
    editing: one("editing", ["readline", "vi"], usualSettings.editing),
    whileRunning: one("whileRunning", ["steer", "queue"], usualSettings.whileRunning),
    wrap: one("wrap", ["words", "terminal"], usualSettings.wrap),
    thinking: one("thinking", ["shown", "hidden"], usualSettings.thinking),
    notify: one("notify", ["bell", "desktop", "off"], usualSettings.notify),
    title: given["title"] !== false,
    plain: given["plain"] === true,
    statusLine: typeof status === "string" && status.trim() !== "" ? status : undefined,
  };
}

function keysIn(name: string, value: unknown): [string, string | string[]][] {
  if (typeof value === "string") return [[name, value]];
  if (!Array.isArray(value)) return [];
  return [[name, value.filter((one) => typeof one === "string")]];
}
