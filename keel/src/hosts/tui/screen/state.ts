/** All that the screen knows, as one value that is never changed in place. */
import type { JsonObject } from "../../../kernel/json.ts";
import type { Ask } from "../../../protocol/ask.ts";
import type { SessionFacts } from "../../../protocol/inquiry.ts";
import type { PermissionMode } from "../../../protocol/settings.ts";
import type { Todo } from "../../../protocol/tool.ts";
import { type Activity, idle } from "../../../view/activity.ts";
import type { GoalTry } from "../../../view/standing.ts";
import { noTotals, type Totals } from "../../../view/totals.ts";
import { type KeyedTranscript, noTranscript, rowsOf } from "../../../view/transcript.ts";
import type { Dialog } from "../dialog/dialog.ts";
import type { CallExplanation } from "../dialog/dialog-look.ts";
import type { LiveContext } from "../foot/live.ts";
import { type Editor, emptyEditor } from "../input/editor.ts";
import { historyOf, type InputHistory } from "../input/history.ts";
import { type KeyMap, keyMapOf } from "../input/key-map.ts";
import { insertMode, type Vi } from "../input/vi.ts";
import type { Graphics } from "../pictures/picture.ts";
import { nothingPrinted, type Printing } from "../rows/printing.ts";
import { hasOwnWords } from "../rows/row.ts";
import type { Signs } from "../text/signs.ts";
import type { PrintLine } from "../text/styled.ts";
import type { Theme } from "../text/theme.ts";
import type { WidthProfile } from "../text/width.ts";
import type { Reflow, Size } from "../writer/frame.ts";
import type { Panel, PanelItem } from "./panel.ts";
import { type ScreenSettings, usualSettings } from "./settings.ts";

export type Completion = {
  readonly kind: "command" | "mention";
  /** Where in the text it begins. */
  readonly from: number;
  readonly typed: string;
  readonly items: readonly { readonly insert: string; readonly label: string; readonly note: string }[];
  readonly marked: number;
};

/** Something that a person said, to which the conversation and the files can go back. */
export type PastInput = {
  readonly id: string;
  readonly seq: number;
  readonly text: string;
  readonly at: number;
};

export type ScreenState = {
  readonly size: Size;
  readonly now: number;
  /** Which of the signs of a running thing is shown. */
  readonly turn: number;
  readonly look: {
    readonly theme: Theme;
    readonly profile: WidthProfile;
    readonly signs: Signs;
    readonly reflow: Reflow;
    /** How pictures are drawn, by the terminal's own word. */
    readonly graphics?: Graphics;
  };
  readonly settings: ScreenSettings;
  /** What can be set, once somebody wants to; null also where it cannot be written from here. */
  readonly settingsSchema: JsonObject | null;
  readonly keyMap: KeyMap;
  readonly session: {
    readonly id: string;
    readonly facts: SessionFacts | null;
    readonly model: string;
    readonly mode: PermissionMode;
    readonly cwd: string;
    readonly home: string;
    readonly branch: string | undefined;
    readonly editor?: string | undefined;
    readonly title: string | undefined;
    readonly link: "open" | "lost";
    /** What others see this screen as, once it has said something; undefined where nobody else can be there. */
    readonly name: string | undefined;
    readonly budgetUsd: number | undefined;
  };
  /** What the log had before this screen came is folded, and not printed. */
  readonly phase: "history" | "live";
  readonly transcript: KeyedTranscript;
  readonly printing: Printing;
  /** What is to be printed with the next frame. */
  readonly outbox: readonly PrintLine[];
  readonly activity: Activity;
  readonly totals: Totals;
  readonly todos: readonly Todo[];
  /** What must hold before a turn ends, empty where that is nothing, and the tries of it. */
  readonly goal: { readonly words: string; readonly tries: readonly GoalTry[] };
  readonly contextTokens: number;
  /** Characters of the reply that is written. */
  readonly written: number;
  readonly past: readonly PastInput[];
  /** The ids of what was last said here, and not by another hand. */
  readonly mine: readonly string[];
  /** The last reply, to be copied. */
  readonly reply: string;
  readonly editor: Editor;
  readonly vi: Vi;
  readonly history: InputHistory;
  readonly completion: Completion | null;
  /** The other sessions, once somebody mentions something; null until then. */
  readonly sessions: readonly PanelItem[] | null;
  /** The first of two keys. */
  readonly prefix: string;
  readonly stash: Editor | null;
  /** When something was last typed into the input. */
  readonly typedAt: number;
  /** What the same key would do a moment later. */
  readonly armed: { readonly what: "end" | "rewind"; readonly at: number } | null;
  readonly hint: { readonly text: string; readonly until: number } | null;
  readonly asks: readonly Ask[];
  readonly dialog: Dialog | null;
  /** When the question could first be read. */
  readonly dialogAt: number;
  readonly explanations: Readonly<Record<string, CallExplanation>>;
  /** The one on top is seen. */
  readonly panels: readonly Panel[];
  readonly ownStatus: string | undefined;
  /** Whether somebody looks, by the terminal's word; unknown where it says nothing. */
  readonly focus: "here" | "away" | "unknown";
  readonly isTaskPanelOpen: boolean;
  /** `open`: the last calls of each agent are seen below it. */
  readonly agents: "closed" | "open";
};

export function initialState(given: {
  readonly size: Size;
  readonly now: number;
  readonly look: ScreenState["look"];
  readonly settings?: ScreenSettings;
  readonly session: Pick<ScreenState["session"], "id" | "cwd" | "home">;
  readonly history?: readonly string[];
  readonly budgetUsd?: number | undefined;
}): ScreenState {
  const settings = given.settings ?? usualSettings;
  return {
    size: given.size,
    now: given.now,
    turn: 0,
    look: given.look,
    settings,
    keyMap: keyMapOf(settings.keys).map,
    session: {
      facts: null,
      model: "",
      mode: "default",
      branch: undefined,
      title: undefined,
      link: "open",
      name: undefined,
      budgetUsd: given.budgetUsd,
      ...given.session,
    },
    phase: "history",
    transcript: noTranscript,
    printing: nothingPrinted,
    outbox: [],
    activity: idle,
    totals: noTotals,
    todos: [],
    goal: { words: "", tries: [] },
    contextTokens: 0,
    written: 0,
    past: [],
    mine: [],
    reply: "",
    editor: emptyEditor,
    vi: insertMode,
    history: historyOf(given.history ?? []),
    completion: null,
    sessions: null,
    prefix: "",
    stash: null,
    typedAt: Number.NEGATIVE_INFINITY,
    armed: null,
    hint: null,
    asks: [],
    dialog: null,
    dialogAt: 0,
    explanations: {},
    panels: [],
    ownStatus: undefined,
    focus: "unknown",
    settingsSchema: null,
    isTaskPanelOpen: false,
    agents: "closed",
  };
}

/** Rows of a result that are printed. */
const resultRows = 12;

export function rowContext(state: ScreenState): LiveContext {
  const { size, look, session, settings, now, turn, agents, mine } = state;
  return {
    own: { inputs: mine, name: session.name },
    columns: size.columns,
    profile: look.profile,
    signs: look.signs,
    links: look.theme.links,
    marks: look.theme.depth === "none",
    cwd: session.cwd,
    home: session.home,
    thinking: settings.thinking,
    resultRows,
    now,
    turn,
    agents,
  };
}

/** What waits for its turn, in its order; what goes along with the next words does not wait by itself. */
export const waitingInputs = ({ transcript }: ScreenState) =>
  rowsOf(transcript)
    .toArray()
    .filter((row) => row.kind === "user")
    .filter((row) => row.status === "waiting" && hasOwnWords(row));

export const runningWork = ({ transcript }: ScreenState) =>
  rowsOf(transcript)
    .toArray()
    .filter((row) => row.kind === "agent" || row.kind === "task")
    .filter((row) => row.status === "running");

export const isBusy = ({ activity }: ScreenState): boolean => activity.state !== "idle";
