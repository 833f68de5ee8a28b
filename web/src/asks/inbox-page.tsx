/** Every open question on a page of its own. */
import "../overview/overview.css";
import { visible } from "keel/view";
import type { ReactElement } from "react";
import { Link } from "../kit/link.tsx";
import { useWorld } from "../live/world.ts";
import { RailButton } from "../overview/rail-button.tsx";
import { words } from "../words.ts";
import { answerAsk } from "./answer-ask.ts";
import { AskCard } from "./ask-card.tsx";
import { AskingElsewhere, useAskingElsewhere, useInbox } from "./inbox.tsx";

/** A page of its own: on a phone it is what people come for. */
export function InboxPage({ onRail }: { readonly onRail: () => void }): ReactElement {
  const world = useWorld();
  const waiting = useInbox();
  const elsewhere = useAskingElsewhere();
  return (
    <main className="overview" id="main">
      <header className="head">
        <RailButton onOpen={onRail} />
        <h1>{words.inbox.title}</h1>
      </header>
      {waiting.length + elsewhere.length === 0 ? (
        <p className="state quiet">{words.inbox.none}</p>
      ) : (
        <div className="inbox">
          {waiting.map((one) => (
            <article key={`${one.worker} ${one.ask.id}`}>
              <h2>
                <Link to={{ page: "worker", workspace: one.workspace, worker: one.worker }}>
                  {visible(one.title)}
                </Link>
              </h2>
              <AskCard
                ask={one.ask}
                session={one.session}
                cwd={one.cwd}
                isReadOnly={false}
                onAnswer={(answer, keep) => answerAsk(world, one, answer, keep)}
              />
            </article>
          ))}
          {elsewhere.map((one) => (
            <AskingElsewhere key={one.worker} {...one} />
          ))}
        </div>
      )}
    </main>
  );
}
