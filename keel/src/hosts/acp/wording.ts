/** What differs between the versions of the protocol, for those who do their work without knowing which it is. */

import type { Ask } from "../../protocol/ask.ts";
import type { InquiryAnswer } from "../../protocol/inquiry.ts";
import type { RpcError } from "../../transport/json-rpc.ts";
import type { Telling } from "./dialect.ts";
import type { Choices } from "./options.ts";
import type { AskPlace } from "./permission.ts";

/** What a session does right now. `stopReason`: why it stopped, where it has just stopped. */
export type WorkState =
  | { readonly state: "running" }
  | { readonly state: "requires_action" }
  | {
      readonly state: "idle";
      readonly stopReason?: StopReason | "error" | undefined;
      readonly error?: RpcError | undefined;
    };

export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

/** Each `object` is an update of the session, but for the request that asks a person. */
export type Wording = {
  updates(telling: Telling): object[];
  commands(commands: InquiryAnswer<"commands">): object;
  /** What was chosen, when a choice was made. */
  choices(choices: Choices, changed: "mode" | "other"): object[];
  /** Undefined where the version has no words for it. */
  state(now: WorkState): object | undefined;
  /** Undefined for what picking an option cannot answer. */
  permission(ask: Ask, place: AskPlace): object | undefined;
  /** What a person said is told back: only then it is known where it stands. */
  readonly echoes: boolean;
};
