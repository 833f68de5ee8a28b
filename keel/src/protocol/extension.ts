/**
 * What the program of a plugin may bring, as types for whoever writes one, and what a panel shows. All that reaches a
 * screen is data which screens know how to draw: no code of a plugin runs in a screen or in a page.
 */
import * as z from "zod/mini";
import type { Json, JsonObject } from "../kernel/json.ts";
import { type Display, displaySchema } from "./tool.ts";

/** What the file `extension.mjs` of a plugin has as its default export. */
export type Extension = {
  readonly tools?: readonly ExtensionTool[];
  readonly commands?: readonly ExtensionCommand[];
  readonly panels?: readonly ExtensionPanel[];
};

type Given = { readonly [field: string]: Json };
/** Where the session works. */
export type ExtensionPlace = { readonly cwd: string };

/** What the model can call, as `mcp__plugin_PLUGIN__NAME`. */
export type ExtensionTool = {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly inputSchema?: JsonObject;
  readonly timeoutMs?: number;
  readonly readOnly?: boolean;
  /** The model reads a text, `text` of an object with `display`, or anything else as JSON. */
  run(input: Given, place: ExtensionPlace): unknown;
};

/** What a person can call, as `/PLUGIN:NAME`. */
export type ExtensionCommand = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** `values` are those of a panel's form; from a line of words there are none. */
  run(
    words: string,
    place: ExtensionPlace & { readonly values: Given },
  ): ExtensionSays | Promise<ExtensionSays>;
};

/** Shown to the person; a `prompt` goes to the model in their place. */
type ExtensionSays =
  | string
  | { readonly text: string; readonly display?: ShownDisplay }
  | { readonly prompt: string };

/** What stands beside a conversation in the console. */
export type ExtensionPanel = {
  readonly name: string;
  readonly title: string;
  /** Only looks: it is asked whenever somebody does. */
  show(place: ExtensionPlace): ExtensionPanelView | Promise<ExtensionPanelView>;
};

export type ShownDisplay = Exclude<Display, { kind: "agent" }>;

const short = z.string().check(z.maxLength(200));
const words = z.string().check(z.maxLength(2_000));

const fieldSchema = z.object({
  name: short,
  label: short,
  /** `text`: a line. `choice`: one of `options`. `switch`: yes or no. */
  kind: z.enum(["text", "choice", "switch"]),
  options: z.optional(z.array(short).check(z.maxLength(100))),
  value: z.optional(z.union([words, z.boolean()])),
});

const formSchema = z.object({
  /** The command of the same plugin that is called with the values. */
  command: short,
  /** What the button says. */
  submit: short,
  fields: z.array(fieldSchema).check(z.maxLength(30)),
});
export type PanelForm = z.infer<typeof formSchema>;

export const extensionPanelSchema = z.object({
  displays: z.array(displaySchema).check(z.maxLength(20)),
  forms: z.optional(z.array(formSchema).check(z.maxLength(10))),
});
export type ExtensionPanelView = z.infer<typeof extensionPanelSchema>;

/** A panel as it was just now; `problem` in words where it could not be had. */
export const shownPanelSchema = z.object({
  ...extensionPanelSchema.shape,
  problem: z.optional(z.string()),
});
export type ShownPanel = z.infer<typeof shownPanelSchema>;
