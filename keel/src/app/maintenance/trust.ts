/** Trust in a project: what it would enable, who has it, and giving and taking it. Only a person gives it. */
import { pathsOf } from "../../config/settings/paths.ts";
import { offersOf, type ProjectOffer } from "../../config/settings/project-offer.ts";
import { findProject, realOf } from "../../config/settings/project-root.ts";
import {
  changeTrust,
  readTrust,
  type TrustBook,
  withoutRoot,
  withRoot,
} from "../../config/settings/trust.ts";
import { fault } from "../../kernel/fault.ts";
import { dangerOf } from "../../policy/danger.ts";
import { parseRule } from "../../policy/rules.ts";
import { nodeCommandPlace } from "../../workspace/git/command-place.ts";
import { readSettings } from "../compose/settings.ts";
import { nodeClock } from "../node-ports.ts";
import type { SettingsLocation } from "./settings-files.ts";
import { settingsLock } from "./settings-lock.ts";

export type TrustReport = {
  readonly root: string;
  readonly state: "trusted" | "untrusted";
  /** Everything that acts, or lets something act. */
  readonly offers: readonly TrustOffer[];
  /** What no project may set, trusted or not. */
  readonly forbidden: readonly string[];
};

export type TrustOffer = ProjectOffer & {
  /** `waiting`: not enabled, because nobody has seen it yet. */
  readonly state: "enabled" | "waiting";
  /** What a rule lets through beyond what it seems to say. */
  readonly danger?: string | undefined;
};

export type TrustedRootRow = { readonly root: string; readonly at: number };

export async function trustReport(place: SettingsLocation): Promise<TrustReport> {
  const { trust, entries } = await readSettings(place);
  const { book } = await readTrust(pathsOf(place).trust);
  const shown = new Set(book.get(trust.root)?.shown);
  const offers = await offersOf(trust, entries);
  return {
    root: trust.root,
    state: book.has(trust.root) ? "trusted" : "untrusted",
    offers: offers.map((offer) => {
      const rule = offer.kind === "rule" ? parseRule(offer.text) : undefined;
      const danger = rule && dangerOf(rule);
      const state = shown.has(offer.mark) ? "enabled" : "waiting";
      return { ...offer, state, ...(danger === undefined ? {} : { danger }) };
    }),
    forbidden: [
      ...entries.flatMap(({ file, state }) =>
        state.kind === "left-out" && state.isForbidden ? [`${file}: ${state.why}`] : [],
      ),
      ...(await plantedIn(trust.root)),
    ],
  };
}

/** What makes a folder a repository to git that no clone has made: its settings name programs that nobody has shown. */
async function plantedIn(root: string): Promise<string[]> {
  const found = await nodeCommandPlace({ project: root, env: {} }).repository(root);
  return found.kind === "planted"
    ? [
        `${found.mark}: git takes the folder for a repository by it, so git is not run here without a question`,
      ]
    : [];
}

/** Trusts what the report shows and nothing that came since. Throws `settings_unwritable`. */
export async function trustProject(place: SettingsLocation, { root, offers }: TrustReport): Promise<void> {
  const shown = offers.map(({ mark }) => mark);
  await change(place, (book) => withRoot(book, root, { at: nodeClock().now(), shown }));
}

/** Also a root that is not there any more, by its path. Throws `usage` when it was not trusted. */
export async function untrustProject(place: SettingsLocation, given: string | undefined): Promise<string> {
  const { book } = await readTrust(pathsOf(place).trust);
  const candidates = given === undefined ? [] : [given, realOf(given)];
  const root = candidates.find((one) => book.has(one)) ?? findProject(given ?? place.cwd).root;
  if (!book.has(root)) throw fault("usage", { reason: `${root} is not trusted.` });
  await change(place, (now) => withoutRoot(now, root));
  return root;
}

export async function trustedRoots(place: SettingsLocation): Promise<TrustedRootRow[]> {
  const { book, fault: damaged } = await readTrust(pathsOf(place).trust);
  if (damaged) throw damaged;
  return [...book].map(([root, { at }]) => ({ root, at }));
}

async function change(place: SettingsLocation, to: (book: TrustBook) => TrustBook): Promise<void> {
  const paths = pathsOf(place);
  const before = new Set((await readTrust(paths.trust)).book.keys());
  await changeTrust({ file: paths.trust, lock: settingsLock(paths) }, to);
  const after = new Set((await readTrust(paths.trust)).book.keys());
  const { auditChange } = await import("../audit/audit.ts");
  await auditChange(place, {
    what: "trust.changed",
    by: "person",
    changed: { removed: [...before.difference(after)], trusted: [...after.difference(before)] },
  });
}
