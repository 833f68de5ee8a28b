/** What a question is drawn by, and what is drawn of it. Types only. */
import type { InquiryAnswer } from "../../../protocol/inquiry.ts";
import type { LiveContext } from "../foot/live.ts";
import type { TextLine } from "../text/styled.ts";
import type { FootPlace } from "../writer/frame.ts";

export type CallExplanation = InquiryAnswer<"explain">;

export type DialogLook = LiveContext & {
  /** How many rows there are for it. */
  readonly most: number;
  /** Which question of how many. */
  readonly place: number;
  readonly count: number;
  readonly explanation: CallExplanation | undefined;
  /** False as long as somebody types: keys go to the input still. */
  readonly hasKeys: boolean;
};

export type DrawnPanel = {
  readonly lines: TextLine[];
  readonly cursor: FootPlace | null;
  /** Where not all of it is seen: how many rows are, and how far down one can go. */
  readonly page?: { readonly rows: number; readonly last: number };
};
