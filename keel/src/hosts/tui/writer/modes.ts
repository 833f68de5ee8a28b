/** What the terminal is told when the screen comes and when it goes: each mode with its way back, in one table. */

type TerminalMode = { readonly on: string; readonly off: string };

const csi = "\u001b[";

const modes: readonly TerminalMode[] = [
  // What is pasted is marked as such.
  { on: `${csi}?2004h`, off: `${csi}?2004l` },
  // Whether anybody looks.
  { on: `${csi}?1004h`, off: `${csi}?1004l` },
  // Keys that are told apart: Shift-Enter, a lone Escape.
  { on: `${csi}>1u`, off: `${csi}<u` },
];

const titleModes: TerminalMode = { on: `${csi}22;2t`, off: `${csi}23;2t` };

export const enterModes = (title: boolean): string =>
  [...modes, ...(title ? [titleModes] : [])].map(({ on }) => on).join("");

/** Also ends what a cut frame may have left open. */
export const leaveModes = (title: boolean): string =>
  [
    `${csi}?2026l${csi}0m${csi}?25h`,
    ...[...modes, ...(title ? [titleModes] : [])].toReversed().map(({ off }) => off),
  ].join("");

/** Control signs end a title: they are no part of it. */
export const setTitle = (words: string): string =>
  `\u001b]2;${[...words]
    .filter((sign) => sign >= " " && sign !== "\u007f" && !(sign >= "\u0080" && sign <= "\u009f"))
    .join("")
    .slice(0, 200)}\u001b\\`;

export const bell = "\u0007";

/** As terminals that show notices of programs understand it. */
export const desktopNotice = (words: string): string =>
  `\u001b]9;${words.replace(/[^\x20-\x7e]/g, "").slice(0, 200)}\u001b\\${bell}`;

/** Into the clipboard of the person, wherever the program runs. */
export const copyToClipboard = (text: string): string =>
  `\u001b]52;c;${Buffer.from(text, "utf8").toString("base64")}\u001b\\`;
