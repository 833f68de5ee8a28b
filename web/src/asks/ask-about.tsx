/** What a question is about: the command, the change or the words, and why it is asked, by what the policy found. */
import type { Ask, VerdictFacts } from "keel/protocol";
import { readable, visible } from "keel/view";
import { type ReactElement, useState } from "react";
import { DisplayView } from "../displays/display-view.tsx";
import { words } from "../words.ts";
import { ExplainedCommand, type ExplainedCommands, gravestOf, useExplained } from "./explained-command.tsx";

type AskAboutProps = { readonly ask: Ask; readonly session: string; readonly cwd: string };

export function AskAbout({ ask, session, cwd }: AskAboutProps): ReactElement {
  const { body, reason, facts } = ask;
  const commands = useExplained(session, ask);
  const said = [
    ...(reason === undefined ? [] : [sentence(reason)]),
    ...(commands ? gravestOf(commands) : []),
  ];
  return (
    <div className="about">
      {body.kind === "diff" && <p className="path">{visible(shortPath(body.path, cwd))}</p>}
      {body.kind === "terminal" ? (
        <pre className="command">{visible(body.command)}</pre>
      ) : body.kind === "text" ? (
        body.text.trim() !== "" &&
        // What a server asks for is a sentence; what a tool would do may be anything.
        (ask.kind === "elicitation" ? (
          <p>{readable(body.text)}</p>
        ) : (
          <pre className="command">{visible(body.text)}</pre>
        ))
      ) : (
        <DisplayView display={body} />
      )}
      {said.length > 0 && <p className="why">{visible(said.join(" "))}</p>}
      {(facts || commands) && <Why facts={facts} commands={commands} cwd={cwd} />}
    </div>
  );
}

/** As it is said to a person who reads it alone. */
const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?…]$/.test(words) ? "" : "."}`;

const shortPath = (path: string, cwd: string): string =>
  cwd !== "" && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;

type WhyProps = {
  readonly facts: VerdictFacts | undefined;
  readonly commands: ExplainedCommands | undefined;
  readonly cwd: string;
};

/** The words of a command, then one sentence for each thing that was looked at. */
function Why({ facts, commands = [], cwd }: WhyProps): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="facts">
      <button type="button" className="unfold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? words.why.hide : commands.length > 0 ? words.why.wordByWord : words.why.show}
      </button>
      {isOpen && commands.length > 0 && <ExplainedCommand commands={commands} />}
      {isOpen && facts && (
        <ul>
          {factLines(facts, cwd, commands.length > 0).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function factLines(facts: VerdictFacts, cwd: string, isExplained: boolean): readonly string[] {
  const { rule, claims, paths = [], expanded = [], hook, mode, trust } = facts;
  return [
    words.why.mode(mode),
    ...(rule ? [words.why.rule(visible(rule.text), rule.list, rule.source)] : []),
    ...(hook ? [words.why.hook(hook.verdict, visible(hook.reason))] : []),
    ...claims
      // A command that is explained says more than that it would be run.
      .filter(({ action }) => !(isExplained && action === "execute"))
      .map((claim) => words.why.claim(claim.action, visible(shortPath(claim.target, cwd)), claim)),
    ...paths
      // Every word of a command is looked up; one that is no file says nothing more.
      .filter(({ missing }) => !(isExplained && missing === true))
      .map((found) => words.why.path(visible(shortPath(found.path, cwd)), found)),
    ...(expanded.length > 0 ? [words.why.expanded(expanded.map(visible).join(", "))] : []),
    ...(trust === "untrusted" ? [words.why.untrusted] : []),
  ];
}
