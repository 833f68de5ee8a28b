/** What was said and has no receipt yet: it is shown where it was typed until it stands in the conversation. */
import type { InputBlock } from "keel/protocol";
import { readable, visible } from "keel/view";
import { type ReactElement, useEffect, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Sign } from "../kit/sign.tsx";
import { useValue } from "../live/observable.ts";
import { useWorld } from "../live/world.ts";
import { words } from "../words.ts";

/** What is taken at once is never shown as waiting. */
const patienceMs = 600;

type UnsentProps = { readonly session: string; readonly onEdit: (text: string) => void };

export function Unsent({ session, onEdit }: UnsentProps): ReactElement | null {
  const world = useWorld();
  const refusals = useValue(world.refusals);
  const waiting = useValue(world.unsent).filter((input) => input.session === session);
  const hasAny = waiting.length > 0;
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!hasAny) return setLate(false);
    const timer = setTimeout(() => setLate(true), patienceMs);
    return () => clearTimeout(timer);
  }, [hasAny]);
  if (!isLate || !hasAny) return null;
  return (
    <ul className="unsent" aria-label={words.unsent.label}>
      {waiting.map(({ id, command }) => {
        const text = textOf(command.content);
        const why = refusals.get(id);
        return (
          <li key={id} className="said is-waiting">
            <p className="words">{text === "" ? words.unsent.pictures : readable(text)}</p>
            <p className="waits">
              <Sign kind={why === undefined ? "waiting" : "failed"} />
              <span>{why === undefined ? words.unsent.waits : words.dropped(visible(why))}</span>
              {why !== undefined && (
                <>
                  <Button
                    look="plain"
                    icon="edit"
                    onClick={() => {
                      onEdit(text);
                      void world.dropUnsent(id);
                    }}
                  >
                    {words.edit}
                  </Button>
                  <Button look="plain" icon="trash" onClick={() => void world.dropUnsent(id)}>
                    {words.drop}
                  </Button>
                </>
              )}
            </p>
          </li>
        );
      })}
    </ul>
  );
}

const textOf = (content: readonly InputBlock[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
