/** What a question is about: the command, the change or the words, and why it is asked, by what the policy found. */
import type { Ask, VerdictFacts } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useState } from "react";
import { DisplayView } from "../displays/display-view.tsx";
import { words } from "../words.ts";

export function AskAbout({ ask, cwd }: { readonly ask: Ask; readonly cwd: string }): ReactElement {
  const { body, reason, facts } = ask;
  return (
    <div className="about">
      {body.kind === "terminal" ? (
        <pre className="command">{visible(body.command)}</pre>
      ) : body.kind === "text" ? (
        body.text.trim() !== "" && <pre className="command">{visible(body.text)}</pre>
      ) : (
        <DisplayView display={body} />
      )}
      {body.kind === "diff" && <p className="quiet">{visible(shortPath(body.path, cwd))}</p>}
      {reason !== undefined && <p className="why">{visible(reason)}</p>}
      {facts && <Why facts={facts} cwd={cwd} />}
    </div>
  );
}

const shortPath = (path: string, cwd: string): string =>
  cwd !== "" && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;

/** One sentence for each thing that was looked at. */
function Why({ facts, cwd }: { readonly facts: VerdictFacts; readonly cwd: string }): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  const { rule, claims, paths = [], expanded = [], hook, mode, trust } = facts;
  const lines = [
    words.why.mode(mode),
    ...(rule ? [words.why.rule(visible(rule.text), rule.list, rule.source)] : []),
    ...(hook ? [words.why.hook(hook.verdict, visible(hook.reason))] : []),
    ...claims.map((claim) => words.why.claim(claim.action, visible(shortPath(claim.target, cwd)), claim)),
    ...paths.map((found) => words.why.path(visible(shortPath(found.path, cwd)), found)),
    ...(expanded.length > 0 ? [words.why.expanded(expanded.map(visible).join(", "))] : []),
    ...(trust === "untrusted" ? [words.why.untrusted] : []),
  ];
  return (
    <div className="facts">
      <button type="button" className="unfold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? words.why.hide : words.why.show}
      </button>
      {isOpen && (
        <ul>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
