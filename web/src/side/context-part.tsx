/** What fills the next request, by kind, and what could be shed. */
import { type ContextKind, contextKinds } from "keel/protocol";
import { sayCount } from "keel/view";
import type { ReactElement } from "react";
import { Button } from "../kit/button.tsx";
import type { SessionView } from "../live/session-view.ts";
import { useInquiry } from "../live/use-inquiry.ts";
import { useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { SideSection } from "./section.tsx";

export function ContextPart({
  session,
  view,
  isReadOnly,
}: {
  readonly session: string;
  readonly view: SessionView;
  readonly isReadOnly: boolean;
}): ReactElement | null {
  const world = useWorld();
  const context = useInquiry(session, "context", view.told > 0 ? view.cache.requests : undefined);
  if (!context) return null;
  const { windowTokens, totalTokens, compactAtTokens, tokens } = context;
  const percent = windowTokens > 0 ? Math.round((totalTokens / windowTokens) * 100) : 0;
  const used = contextKinds.filter((kind) => tokens[kind] > 0);
  const sheddable = used.filter(
    (kind) => words.context.shed[kind] !== "" && tokens[kind] > windowTokens * 0.02,
  );
  return (
    <SideSection name="context" title={words.side.context} figure={`${percent} %`}>
      <Meter tokens={tokens} windowTokens={windowTokens} percent={percent} />
      <dl className="pairs">
        {used.map((kind) => (
          <div key={kind}>
            <dt>
              <span className={`dot of-${kind}`} /> {words.context.kinds[kind]}
            </dt>
            <dd className="figures">{sayCount(tokens[kind])}</dd>
          </div>
        ))}
        <div>
          <dt>{words.context.free}</dt>
          <dd className="figures">{sayCount(context.freeTokens)}</dd>
        </div>
      </dl>
      <p className="hint">
        {compactAtTokens === null ? words.context.never : words.context.at(sayCount(compactAtTokens))}
      </p>
      {sheddable.map((kind) => (
        <p key={kind} className="hint">
          {words.context.shed[kind]}
        </p>
      ))}
      {!isReadOnly && (
        <Button look="plain" onClick={() => void world.attempt(world.submit(session, { type: "compact" }))}>
          {words.context.compact}
        </Button>
      )}
    </SideSection>
  );
}

type MeterProps = {
  readonly tokens: Readonly<Record<ContextKind, number>>;
  readonly windowTokens: number;
  readonly percent: number;
};

const Meter = ({ tokens, windowTokens, percent }: MeterProps): ReactElement => (
  <div className="meter" role="img" aria-label={words.context.filled(percent)}>
    {contextKinds
      .filter((kind) => tokens[kind] > 0)
      .map((kind) => (
        <span
          key={kind}
          className={`of-${kind}`}
          style={{ width: `${Math.max(1, (tokens[kind] / Math.max(1, windowTokens)) * 100)}%` }}
        />
      ))}
  </div>
);
