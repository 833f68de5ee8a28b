/** Chat groups: what was said in them, what became of it, and the way to their people and to their agent. */
import type { ChatGroup, GroupChannel, GroupStatus, KnownChat } from "../protocol/group.ts";

export type GroupMessage = {
  /** Counts up in the order in which messages were taken in. */
  readonly seq: number;
  /** Whose it is, by the channel's word. */
  readonly from: string;
  readonly at: number;
  readonly text: string;
};

/** Messages that the agent is told at once, as one input. It is open until its turn has ended. */
export type ToldBatch = {
  /** The id of the input: told twice, it is the same. */
  readonly input: string;
  /** The messages after `from`, up to and with `to`. */
  readonly from: number;
  readonly to: number;
  /** Which try it is; the first is 1. */
  readonly tries: number;
};

export type Outgoing = { readonly id: string; readonly text: string };

/** What was said, by whomever: `from` is undefined for the agent. */
export type SaidLine = {
  readonly at: number;
  readonly from: string | undefined;
  readonly text: string;
  /** Of the agent's: whether the channel has taken it. */
  readonly isSent: boolean;
};

/** The groups of a home. Everything is on disk when it resolves. */
export interface GroupRegister {
  list(): Promise<readonly ChatGroup[]>;
  find(id: string): Promise<ChatGroup | undefined>;
  /** The group of a chat. */
  at(channel: GroupChannel, chat: string): Promise<ChatGroup | undefined>;
  /** False where one has this id, or this chat of this channel, or is the main one as this is. */
  add(group: ChatGroup): Promise<boolean>;
  /** With all that was said in it. False where there was none. */
  remove(id: string): Promise<boolean>;
  /** The last of what was said, the newest last. */
  said(id: string, last: number): Promise<readonly SaidLine[]>;
  status(id: string): Promise<GroupStatus>;
  /** Something was said in a chat, whether or not it is a group's. */
  saw(chat: KnownChat): Promise<void>;
  /** Chats that channels have heard of, the newest first. */
  chats(): Promise<readonly KnownChat[]>;
  /** How far a channel was read, in its own words. */
  mark(channel: string): Promise<string | undefined>;
  keepMark(channel: string, mark: string): Promise<void>;
}

/** Everything is on disk when it resolves. */
export interface GroupBook {
  /** False where this message of the channel is known: channels tell some twice. */
  take(group: string, message: Omit<GroupMessage, "seq"> & { readonly id: string }): Promise<boolean>;
  messages(group: string, after: number, upTo?: number): Promise<readonly GroupMessage[]>;
  /** The last message that was told to the agent. It only goes up. */
  heard(group: string): Promise<number>;
  /** The batch is open, and its messages are heard: one step. */
  open(group: string, batch: ToldBatch): Promise<void>;
  /** Those that are open, in their order. */
  batches(group: string): Promise<readonly ToldBatch[]>;
  /** It has ended; `next` is its next try, in the same step. */
  settle(group: string, input: string, next?: ToldBatch): Promise<void>;
  /** To be sent, after all that is. Nothing where this id is known. */
  queue(group: string, outgoing: Outgoing, at: number): Promise<void>;
  /** What is still to be sent, in its order. */
  unsent(group: string): Promise<readonly Outgoing[]>;
  sent(group: string, id: string): Promise<void>;
}

/** `later`: the channel wants a pause. `never`: no try would succeed. */
export type SendOutcome =
  | { readonly kind: "sent" }
  | { readonly kind: "later"; readonly afterMs: number }
  | { readonly kind: "never"; readonly why: string };

export interface ChatChannel {
  /** The longest text that it takes, in UTF-16 units. */
  readonly limit: number;
  /** Throws where nobody can say whether it was sent: then it is sent again. */
  send(chat: string, text: string): Promise<SendOutcome>;
  /** Shows for a few seconds that somebody writes. */
  typing?(chat: string): Promise<void>;
}

/** What somebody said in a chat of a channel. */
export type ChannelMessage = {
  /** The channel's own number: told twice, it is the same message. */
  readonly id: string;
  readonly chat: string;
  readonly chatName: string;
  readonly from: string;
  readonly at: number;
  readonly text: string;
  /** The agent was named by the channel's own means, or something that it said was answered. */
  readonly isMention: boolean;
};

export type ChannelEars = {
  /** Resolves when it is on disk: until then the channel has to be able to tell it again, where it can. */
  heard(message: ChannelMessage): Promise<void>;
  /** How far this channel was read, in its own words. */
  mark(): Promise<string | undefined>;
  keepMark(mark: string): Promise<void>;
};

/** A channel of a chat service. */
export interface LiveChannel extends ChatChannel {
  /** Until the signal fires, through every failure of the service. Throws where it cannot listen at all. */
  listen(ears: ChannelEars, signal: AbortSignal): Promise<void>;
  /** This chat is a group's: services where one has to come in are entered. */
  attend?(chat: string): void;
}

/**
 * `taken`: the input is the agent's, before any that is said after it. `text` is the whole text of one result, `at` its
 * number within the input; null changes the session and says nothing.
 */
export type AgentSays =
  | { readonly kind: "taken" }
  | { readonly kind: "result"; readonly at: number; readonly text: string | null }
  | { readonly kind: "end"; readonly how: "done" | "failed"; readonly why: string };

/** What an agent is told. */
export type AgentInput = {
  /** Told twice, it is one input. */
  readonly id: string;
  readonly text: string;
  /** In a turn of its own, after what is at work; else it may join that. */
  readonly isAlone?: boolean | undefined;
  /** Of another session than the group's. */
  readonly session?: string | undefined;
};

/** The agent of a group. Told an input again, it says again what it said, and does nothing twice. */
export interface GroupAgent {
  say(input: AgentInput, signal: AbortSignal): AsyncIterable<AgentSays>;
}
