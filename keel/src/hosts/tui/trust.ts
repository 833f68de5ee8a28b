/** Trust in a project that brings something that acts: shown and asked once, before anything of it counts. */
import { type TrustReport, trustProject, trustReport } from "../../app/maintenance/trust.ts";
import type { OpenOptions } from "../../app/options.ts";
import { choose } from "./choice.ts";
import type { ScreenDoor } from "./door.ts";
import { listPanel } from "./screen/panel.ts";
import { approvedLines, inertOne } from "./text/inert.ts";
import { bold, dim, type PrintLine, role, span, words } from "./text/styled.ts";

/** More is shown by `keel trust`. */
const maxShown = 12;

export async function trustFirst(
  options: OpenOptions,
  { terminal, env, stopped }: ScreenDoor,
): Promise<void> {
  // Who names their sources has chosen; who names none has nothing to trust.
  if (options.settingSources !== undefined && !options.settingSources.includes("project")) return;
  const place = { cwd: options.cwd, env: options.env, home: options.home };
  const report = await trustReport(place);
  const waiting = report.offers.filter(({ state }) => state === "waiting");
  if (waiting.length === 0) return;
  const picked = await choose({
    ports: terminal,
    env,
    lines: offerLines(report),
    panel: listPanel(
      "trust",
      "Trust this project?",
      [
        { id: "no", label: "Not now", note: "what it brings stays off; only what it forbids counts" },
        { id: "yes", label: "Trust it", note: "for what is shown above, and nothing that comes later" },
      ],
      "Enter takes it; `keel trust` shows all of it at any time",
    ),
    signal: stopped.signal,
  });
  if (picked?.id === "yes") await trustProject(place, report);
}

function offerLines({ root, offers }: TrustReport): PrintLine[] {
  const waiting = offers.filter(({ state }) => state === "waiting");
  return [
    words([bold("This project brings things that act: "), span(inertOne(root))]),
    ...waiting
      .slice(0, maxShown)
      .flatMap(({ kind, text, danger }) => [
        words([role("asking", `  ${kind} `), span(approvedLines(text).join(" "))], 4),
        ...(danger === undefined ? [] : [words([dim(`    mind that ${inertOne(danger)}`)], 4)]),
      ]),
    ...(waiting.length > maxShown ? [words([dim(`  and ${waiting.length - maxShown} more`)])] : []),
  ];
}
