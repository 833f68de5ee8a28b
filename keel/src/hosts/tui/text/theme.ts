/**
 * From roles to colours. Sixteen colours by role suit every theme of a terminal; where the terminal has more, only what
 * marks words in a diff uses them. Bold and dim come before colour, so that a screen without any says the same.
 */
import type { Style, TextLine, TextRole, TextSpan } from "./styled.ts";

export type ColourDepth = "none" | "16" | "256" | "true";
export type Background = "dark" | "light";

export type Theme = {
  readonly depth: ColourDepth;
  readonly background: Background;
  /** Whether addresses are given to the terminal to open. */
  readonly links: boolean;
};

/** Of SGR, by role. */
const sixteen: Readonly<Record<Exclude<TextRole, `sgr:${string}`>, string>> = {
  running: "36",
  asking: "33",
  failed: "31",
  done: "32",
  added: "32",
  removed: "31",
  "added-word": "32;7",
  "removed-word": "31;7",
  code: "36",
  keyword: "35",
  string: "32",
  comment: "2",
  number: "34",
  link: "34",
};

const more: Readonly<
  Record<"256" | "true", Record<Background, Readonly<Partial<Record<TextRole, string>>>>>
> = {
  "256": {
    dark: { "added-word": "48;5;22;38;5;157", "removed-word": "48;5;52;38;5;217" },
    light: { "added-word": "48;5;157;38;5;22", "removed-word": "48;5;224;38;5;88" },
  },
  true: {
    dark: {
      "added-word": "48;2;22;68;40;38;2;170;240;190",
      "removed-word": "48;2;92;28;32;38;2;255;200;200",
    },
    light: {
      "added-word": "48;2;190;238;200;38;2;10;70;30",
      "removed-word": "48;2;255;212;212;38;2;120;10;16",
    },
  },
};

/** Without a colour a role that says something by it alone is said otherwise. */
const withoutColour: Readonly<Partial<Record<TextRole, string>>> = {
  "added-word": "1;4",
  "removed-word": "1;4",
  comment: "2",
};

const reset = "\u001b[0m";

/** A line as bytes for the terminal: styles begin and end in it, whatever stood before. */
export function paint(line: TextLine, theme: Theme): string {
  let text = "";
  let now = "";
  let link: string | undefined;
  for (const part of line) {
    if (part.text === "") continue;
    const wanted = sgrOf(part, theme);
    if (wanted !== now) text += wanted === "" ? reset : `${now === "" ? "" : reset}\u001b[${wanted}m`;
    now = wanted;
    const address = theme.links ? part.style?.link : undefined;
    if (address !== link) text += linkTo(address);
    link = address;
    text += part.text;
  }
  if (link !== undefined) text += linkTo(undefined);
  return now === "" ? text : text + reset;
}

const linkTo = (address: string | undefined): string => `\u001b]8;;${address ?? ""}\u001b\\`;

function sgrOf({ style }: TextSpan, theme: Theme): string {
  if (!style) return "";
  const parts = [
    ...(style.bold ? ["1"] : []),
    ...(style.dim ? ["2"] : []),
    ...(style.italic ? ["3"] : []),
    ...(style.underline ? ["4"] : []),
    ...(style.inverse ? ["7"] : []),
    ...(style.strike ? ["9"] : []),
    ...colourOf(style, theme),
  ];
  return parts.join(";");
}

function colourOf({ role, dim }: Style, { depth, background }: Theme): string[] {
  if (role === undefined) return [];
  if (depth === "none") {
    const said = withoutColour[role];
    return said === undefined || (said === "2" && dim) ? [] : [said];
  }
  if (role.startsWith("sgr:")) return [role.slice(4)];
  const special = depth === "16" ? undefined : more[depth][background][role];
  return [special ?? sixteen[role as keyof typeof sixteen]];
}

/** What the environment says of the terminal's colours. `NO_COLOR` counts when it is not empty. */
export function depthFor(env: Readonly<Record<string, string | undefined>>): ColourDepth {
  if (env["NO_COLOR"]) return "none";
  const term = env["TERM"] ?? "";
  if (term === "" || term === "dumb") return "none";
  if (/^(?:truecolor|24bit)$/.test(env["COLORTERM"] ?? "") || /-direct$/.test(term)) return "true";
  return /256/.test(term) || env["COLORTERM"] ? "256" : "16";
}

/** The answer to the question for the background (`rgb:ffff/ffff/ffff`), or what `COLORFGBG` says. */
export function backgroundOf(answer: string): Background | undefined {
  const [, red = "", green = "", blue = ""] =
    /^rgba?:([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)/i.exec(answer) ?? [];
  if (red !== "") {
    const part = (hex: string): number => Number.parseInt(hex, 16) / (16 ** hex.length - 1);
    return 0.299 * part(red) + 0.587 * part(green) + 0.114 * part(blue) > 0.5 ? "light" : "dark";
  }
  const ground = /(?:^|;)(\d+)$/.exec(answer)?.[1];
  if (ground === undefined) return undefined;
  return Number(ground) === 7 || Number(ground) === 15 ? "light" : "dark";
}
