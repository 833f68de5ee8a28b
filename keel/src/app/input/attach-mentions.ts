/**
 * Attaches what a person mentions: files with their path and number of lines, folders as lists, images as images, agents
 * as a wish, other sessions as what was said in them. Only what policy lets the model read without a question; the words themselves stay as they are.
 */
import path from "node:path";
import { enclose } from "../../core/context/enclose.ts";
import { isInside } from "../../kernel/path.ts";
import type { Store } from "../../ports/store.ts";
import type { PathFacts, Workspace } from "../../ports/workspace.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import { imageType, maxImageBytes } from "../../tools/image-type.ts";
import { decodeText } from "../../tools/text-file.ts";
import type { SessionPolicy } from "../compose/session-policy.ts";
import { namedSession, sessionBlock } from "./attach-session.ts";
import { findMentions, type Mention } from "./find-mentions.ts";

export type Attached = {
  readonly blocks: readonly InputBlock[];
  /** Sentences for a person about what was left out. */
  readonly problems: readonly string[];
};

export type AttachContext = {
  readonly workspace: Workspace;
  readonly policy: SessionPolicy;
  /** The kinds of agents that there are. */
  readonly agents: readonly string[];
  /** Where other sessions are read, by whose words they may be named. */
  readonly store?: Pick<Store, "read"> | undefined;
};

const mebibyte = 1024 * 1024;
/** What is read to cut a part out of it. */
const maxFileBytes = 16 * mebibyte;
/** Of one file, and of all that one input names. */
export const maxFileCharacters = 60_000;
export const maxTotalCharacters = 240_000;
const maxLines = 2_000;
const maxNames = 200;

export async function attach(words: string, context: AttachContext): Promise<Attached> {
  const blocks: InputBlock[] = [];
  const problems: string[] = [];
  let left = maxTotalCharacters;
  for (const mention of findMentions(words)) {
    const outcome = await attachOne(mention, {
      ...context,
      maxCharacters: Math.min(left, maxFileCharacters),
    });
    if (outcome === undefined) continue;
    if ("problem" in outcome) problems.push(`@${mention.name} was not attached: ${outcome.problem}`);
    else {
      blocks.push(outcome);
      left -= outcome.type === "text" ? outcome.text.length : 0;
    }
    if (left <= 0) {
      problems.push("What else is mentioned was not attached: together it is too long.");
      break;
    }
  }
  return { blocks, problems };
}

type BoundedAttachContext = AttachContext & { readonly maxCharacters: number };

/** Undefined for what names nothing that there is. */
async function attachOne(
  mention: Mention,
  context: BoundedAttachContext,
): Promise<InputBlock | { problem: string } | undefined> {
  const { workspace, policy, agents, store, maxCharacters } = context;
  const session = namedSession(mention.name);
  if (session !== undefined && store) return sessionBlock(session, store, maxCharacters);
  const kind = mention.name.replace(/^agent-/, "");
  const facts = await describe(mention.name, workspace);
  if (!facts?.exists) return agents.includes(kind) ? askedAgent(kind) : undefined;
  const problem = await whyNotRead(facts, policy);
  if (problem !== undefined) return { problem };
  return facts.kind === "directory" ? listing(facts, context) : fileBlock(facts, mention, context);
}

async function whyNotRead(facts: PathFacts, policy: SessionPolicy): Promise<string | undefined> {
  if (facts.problem !== undefined || facts.kind === "other") return "it is no plain file.";
  const allowed = await policy.mayRead(facts.path);
  return allowed.ok ? undefined : `${allowed.because}.`;
}

/** For a host that names a file and means just that: a sentence where it would not be attached. */
export async function whyNotAttached(
  name: string,
  { workspace, policy }: Pick<AttachContext, "workspace" | "policy">,
): Promise<string | undefined> {
  // A mention in words is quoted, and knows no way to write the quote itself.
  if (name.includes('"')) return "its name has a quote in it; send its text.";
  const facts = await describe(name, workspace);
  return facts?.exists ? whyNotRead(facts, policy) : "it does not exist.";
}

async function describe(name: string, workspace: Workspace): Promise<PathFacts | undefined> {
  if (name.includes("\0")) return undefined;
  const home = workspace.commands?.home;
  const place = name.startsWith("~/") && home !== undefined ? path.join(home, name.slice(2)) : name;
  return workspace.files.describe(path.resolve(workspace.cwd, place));
}

/** The person's wish in words; who starts agents is the model. */
const askedAgent = (kind: string): InputBlock =>
  text(
    `(With @${kind} the person asks that the agent "${kind}" does this: give it the work with the Agent tool.)`,
  );

async function fileBlock(
  facts: PathFacts,
  mention: Mention,
  { workspace, maxCharacters }: BoundedAttachContext,
): Promise<InputBlock | { problem: string }> {
  const read = await workspace.files.read(facts.path, { maxBytes: maxFileBytes });
  if (!read.ok) return { problem: read.why };
  const { bytes } = read.file;
  // What was allowed is the file that the path led to then.
  if (read.file.path !== facts.path) return { problem: "it leads somewhere else meanwhile." };
  const image = imageType(bytes);
  if (image !== undefined)
    return bytes.length > maxImageBytes
      ? { problem: `an image may have ${maxImageBytes} bytes and this one has ${bytes.length}.` }
      : { type: "image", mediaType: image, data: Buffer.from(bytes).toString("base64") };
  const decoded = decodeText(bytes);
  if (!decoded) return { problem: "it is neither text nor an image." };
  return text(cutOut(decoded.text, { facts, mention, maxCharacters, workspace }));
}

function cutOut(
  whole: string,
  {
    facts,
    mention: { first, last },
    maxCharacters,
    workspace,
  }: Pick<BoundedAttachContext, "workspace" | "maxCharacters"> & { facts: PathFacts; mention: Mention },
): string {
  const lines = whole.replace(/\n$/, "").split("\n");
  const from = Math.min(first ?? 1, lines.length);
  const to = Math.min(last ?? lines.length, lines.length, from + maxLines - 1);
  const wanted = lines.slice(from - 1, to).join("\n");
  const shown = wanted.slice(0, maxCharacters);
  const isCut = shown.length < wanted.length || (first === undefined && to < lines.length);
  const note = isCut ? `\n\n(Cut here; the rest can be read with the Read tool.)` : "";
  const range = `${from}-${from + shown.split("\n").length - 1}`;
  return enclose(
    "keel-file",
    {
      path: shownPath(facts.path, workspace),
      lines: lines.length,
      shown: first === undefined && !isCut ? undefined : range,
    },
    shown + note,
  );
}

async function listing(
  facts: PathFacts,
  { workspace }: BoundedAttachContext,
): Promise<InputBlock | { problem: string }> {
  const found = await workspace.search.files(
    { directory: facts.path, rests: ["*", "*/*"], timeoutMs: 5_000 },
    new AbortController().signal,
  );
  if (!found.ok) return { problem: found.why };
  const names = found.paths.map((file) => path.relative(facts.path, file)).toSorted();
  const more = names.length > maxNames ? `\n(${names.length - maxNames} more)` : "";
  return text(
    enclose(
      "keel-folder",
      { path: shownPath(facts.path, workspace), files: names.length },
      `${names.slice(0, maxNames).join("\n")}${more}`,
    ),
  );
}

function shownPath(place: string, { cwd }: Workspace): string {
  return isInside(place, [cwd]) ? path.relative(cwd, place) || "." : place;
}
