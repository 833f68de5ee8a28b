/** What the screen wants done: the reducers say it, `run.ts` does it, and what comes of it is a message again. */
import type { JsonObject } from "../../../kernel/json.ts";
import type { Command, Receipt } from "../../../protocol/command.ts";
import type { InquiryAnswer, InquiryName, InquiryQuestion } from "../../../protocol/inquiry.ts";
import type { RuleList } from "../../../protocol/settings.ts";
import type { RuleFile } from "../../../view/ask-words.ts";
import type { PrintLine } from "../text/styled.ts";
import type { PanelItem, PanelScope } from "./panel.ts";
import type { ScreenSettings } from "./settings.ts";

/** A question to the session, and what its answer is for. */
export type InquireEffect = {
  [Name in InquiryName]: {
    readonly type: "inquire";
    readonly name: Name;
    readonly question: InquiryQuestion<Name>;
    readonly tag: string;
  };
}[InquiryName];

export type Effect =
  /** `tag`: what its receipt is for; none where nobody waits for it. */
  | { readonly type: "submit"; readonly command: Command; readonly tag?: string }
  | InquireEffect
  /** Where a rule stays is the session's side to know. */
  | { readonly type: "keep-rule"; readonly askId: string; readonly rule: string; readonly to: RuleFile }
  /** Out of the session, and out of the settings file that it stands in. */
  | {
      readonly type: "drop-rule";
      readonly list: RuleList;
      readonly rule: string;
      readonly source: string;
    }
  /** Into the person's own settings; without a text it is taken out of them. */
  | { readonly type: "set-setting"; readonly name: string; readonly text?: string | undefined }
  /** What there is to set. */
  | { readonly type: "settings-schema" }
  | { readonly type: "end" }
  | { readonly type: "suspend" }
  | { readonly type: "clear-screen" }
  | { readonly type: "edit-outside"; readonly text: string }
  | { readonly type: "clipboard" }
  /** `said`: what is told of it, where it is no reply. */
  | { readonly type: "copy"; readonly text: string; readonly said?: string }
  | { readonly type: "attach-path"; readonly path: string; readonly typed: string }
  | { readonly type: "remember-input"; readonly text: string }
  /** Sessions of this home, or of the server. */
  | { readonly type: "list-sessions"; readonly for?: "mention" }
  | { readonly type: "preview-session"; readonly id: string }
  | { readonly type: "switch-session"; readonly id: string }
  /** The diffs of what was changed since an event of the log. */
  | { readonly type: "read-changes"; readonly since: number }
  /** What memory says of these words; without any, what it told this session and what it holds. */
  | { readonly type: "search-memory"; readonly words: string; readonly scope: PanelScope }
  | { readonly type: "forget-memory"; readonly piece: number }
  /** The log from its start, as lines. */
  | { readonly type: "read-transcript" }
  | { readonly type: "export"; readonly format: "md" | "html" | "jsonl" };

export type InquiryGot = {
  [Name in InquiryName]: { readonly name: Name; readonly answer: InquiryAnswer<Name> };
}[InquiryName];

/** What came of an effect. */
export type Got =
  | { readonly what: "receipt"; readonly tag: string; readonly receipt: Receipt }
  | ({ readonly what: "inquiry"; readonly tag: string } & InquiryGot)
  | { readonly what: "edited"; readonly text: string }
  | { readonly what: "image"; readonly name: string; readonly mediaType: string; readonly data: string }
  | { readonly what: "sessions"; readonly items: readonly PanelItem[] }
  /** Those that can be mentioned. */
  | { readonly what: "other-sessions"; readonly items: readonly PanelItem[] }
  | { readonly what: "preview"; readonly id: string; readonly lines: readonly PrintLine[] }
  | { readonly what: "changes"; readonly lines: readonly PrintLine[] }
  | { readonly what: "transcript"; readonly lines: readonly PrintLine[] }
  /** For what it was asked. */
  | {
      readonly what: "memory";
      readonly words: string;
      readonly scope: PanelScope;
      readonly items: readonly PanelItem[];
    }
  | { readonly what: "forgotten"; readonly text: string }
  | { readonly what: "said"; readonly text: string }
  | { readonly what: "schema"; readonly schema: JsonObject | null }
  | { readonly what: "rules-changed"; readonly text: string }
  /** A setting was written: what the screen goes by now. */
  | { readonly what: "settings"; readonly settings: ScreenSettings; readonly text: string }
  | { readonly what: "status"; readonly text: string }
  | { readonly what: "around"; readonly branch: string | undefined; readonly editor: string | undefined }
  | { readonly what: "failed"; readonly tag: string; readonly text: string };
