/** A command word by word, as the policy reads it: what each word is, and what the whole could do. */
import type { Ask, InquiryAnswer } from "keel/protocol";
import { isGrave, sayCommand, sayWord, visible } from "keel/view";
import { type ReactElement, useEffect, useState } from "react";
import { useWorld } from "../live/world.ts";

export type ExplainedCommands = InquiryAnswer<"explain">["commands"];

/** Undefined until the session has said it, and for what is no command. */
export function useExplained(session: string, { body, tool, input }: Ask): ExplainedCommands | undefined {
  const { client } = useWorld();
  const [commands, setCommands] = useState<ExplainedCommands>();
  const isCommand = body.kind === "terminal" && tool !== undefined;
  const given = JSON.stringify(input ?? {});
  useEffect(() => {
    if (!isCommand) return;
    let isWanted = true;
    client
      .attach(session)
      .inquire("explain", { tool, input: JSON.parse(given) })
      .then(
        ({ commands: found }) => isWanted && setCommands(found),
        // Then it is only shown.
        () => undefined,
      );
    return () => {
      isWanted = false;
    };
  }, [client, session, isCommand, tool, given]);
  return commands;
}

/** What should be seen before anything is pressed, of all commands together. */
export function gravestOf(commands: ExplainedCommands): readonly string[] {
  const grave = commands.filter(
    ({ destructive, writesOutside, network, hides }) => destructive || writesOutside || network || hides,
  );
  const said = grave.flatMap((command) =>
    sayCommand({ ...command, readOnly: true, runs: [], pipedFrom: [] }).slice(0, -1),
  );
  return [...new Set(said)];
}

export const ExplainedCommand = ({ commands }: { readonly commands: ExplainedCommands }): ReactElement => (
  <ol className="explained">
    {commands.map((command, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they stand as they are
      <li key={index}>
        <dl>
          {command.words.map((word, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two may be the same
            <div key={place} className={`word is-${word.role}${isGrave(word) ? " is-grave" : ""}`}>
              <dt>
                <code>{visible(word.text)}</code>
              </dt>
              <dd>{sayWord(word)}</dd>
            </div>
          ))}
        </dl>
        <p>{sayCommand(command).join(" ")}</p>
      </li>
    ))}
  </ol>
);
