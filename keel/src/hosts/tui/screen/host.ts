/** What a screen is opened on: a session by its handle, and what only its own side can do. Types only. */

import type { JsonObject } from "../../../kernel/json.ts";
import type { Durable } from "../../../protocol/event/durable.ts";
import type { SessionHandle } from "../../../protocol/handle.ts";
import type { RuleList } from "../../../protocol/settings.ts";
import type { RuleFile } from "../../../view/ask-words.ts";
import type { PrintLine } from "../text/styled.ts";
import type { TerminalPorts } from "../writer/terminal.ts";
import type { PanelItem, PanelScope } from "./panel.ts";
import type { ScreenSettings } from "./settings.ts";

export type ScreenEnvironment = Readonly<Record<string, string | undefined>>;

/** What only the process at the terminal can do, wherever the session is. Each may fail; then it says why. */
export type OwnSide = {
  /** The text as a person left it in their editor; undefined where they left it alone. */
  editText(text: string): Promise<string | undefined>;
  clipboardImage(): Promise<PastedImage | undefined>;
  readImage(path: string): Promise<PastedImage | undefined>;
  readHistory(cwd: string): Promise<readonly string[]>;
  addHistory(cwd: string, text: string): Promise<void>;
  branchOf(cwd: string): Promise<string | undefined>;
  /** Runs a command of the person's own with facts as JSON, for its first line. */
  statusLine(command: string, facts: object): Promise<string | undefined>;
  /** Stops the process; settles when it goes on. */
  suspend(): Promise<void>;
  /** By which an input is known again when it comes back. */
  newId(): string;
  writeExport(name: string, text: string): Promise<string>;
};

export type PastedImage = { readonly name: string; readonly mediaType: string; readonly data: string };

/** The other sessions: of the home, or of the server. */
export type SessionsSide = {
  list(): Promise<readonly PanelItem[]>;
  /** Durable events of a log, from its start. */
  read(id: string): AsyncIterable<Durable>;
  /** A rule in a settings file of the session's side; undefined where that cannot be done from here. */
  keepRule?(rule: string, to: RuleFile): Promise<string>;
  /** Takes a rule out of a settings file and out of the session; undefined where that cannot be done from here. */
  dropRule?(rule: string, list: RuleList, from: RuleFile): Promise<string>;
  /** The person's own settings, where they can be written from here. */
  readonly settings?: SettingsSide;
  /** What earlier conversations said, where it can be asked from here. */
  readonly memory?: MemorySide;
};

/** Its first answer may take a while: what logs have said since is taken in before it. */
export type MemorySide = {
  /** The best first. `session`: the one on the screen. */
  search(words: string, scope: PanelScope): Promise<readonly MemoryPassage[]>;
  /** A sentence about what it holds. */
  holds(): Promise<string>;
  /** The whole message that a piece is of. A sentence about what came of it. */
  forget(piece: number): Promise<string>;
};

export type MemoryPassage = {
  readonly id: number;
  readonly at: number;
  readonly text: string;
  /** With what was said right before and after it. */
  readonly passage: string;
  readonly who: string;
};

export type SettingsSide = {
  /** What there is to set, as JSON Schema. */
  schema(): Promise<JsonObject>;
  /** A sentence about where it was written. Without a text the setting is taken out. */
  write(name: string, text: string | undefined): Promise<string>;
  /** As they are in force now. */
  read(): Promise<unknown>;
};

export type ScreenHost = {
  readonly handle: SessionHandle;
  readonly terminal: TerminalPorts;
  readonly own: OwnSide;
  readonly sessions: SessionsSide;
  readonly settings: ScreenSettings;
  readonly env: ScreenEnvironment;
  /** What the session may cost. */
  readonly budgetUsd?: number | undefined;
  readonly version: string;
  /** How the way to the session stands, where there is a way. */
  onLink?(listener: (link: "open" | "lost") => void): () => void;
  /** Printed before anything else. */
  readonly welcome?: readonly PrintLine[] | undefined;
  /** What is in the input at the start. */
  readonly draft?: string | undefined;
  /** Sent at once. */
  readonly prompt?: string | undefined;
  /** Ends the screen. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the terminal's way back; whatever ends the process walks it. */
  guard?(restore: () => void): () => void;
  readonly clock: { now(): number };
};

/** How a screen ended. */
export type ScreenEnd =
  /** The person is done; the session may go on. */
  | { readonly kind: "left" }
  | { readonly kind: "switch"; readonly session: string }
  /** The session was closed by somebody else. */
  | { readonly kind: "closed" }
  /** A signal, or the terminal went away. */
  | { readonly kind: "stopped" };
