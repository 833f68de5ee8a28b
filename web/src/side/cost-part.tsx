/** What the session cost, by model, and how the provider's cache served it. */
import { readRatio, sayCost, sayCount, sayUsd, visible } from "keel/view";
import type { ReactElement } from "react";
import type { SessionView } from "../live/session-view.ts";
import { words } from "../words.ts";
import { SideSection } from "./section.tsx";

const mostBreaks = 3;

export function CostPart({ view }: { readonly view: SessionView }): ReactElement | null {
  const { totals, cache } = view;
  const models = Object.entries(totals.models);
  if (models.length === 0) return null;
  const ratio = readRatio(cache);
  return (
    <SideSection name="cost" title={words.side.cost} figure={sayCost(totals)} startsOpen={false}>
      {models.map(([name, { usage, costUsd, replies }]) => (
        <dl key={name} className="pairs">
          <div className="whole">
            <dt>{visible(name)}</dt>
            <dd className="figures">{sayUsd(costUsd)}</dd>
          </div>
          <div>
            <dt>{words.cost.replies}</dt>
            <dd className="figures">{sayCount(replies)}</dd>
          </div>
          <div>
            <dt>{words.cost.input}</dt>
            <dd className="figures">{sayCount(usage.inputTokens)}</dd>
          </div>
          <div>
            <dt>{words.cost.cacheRead}</dt>
            <dd className="figures">{sayCount(usage.cacheReadTokens)}</dd>
          </div>
          <div>
            <dt>{words.cost.cacheWrite}</dt>
            <dd className="figures">{sayCount(usage.cacheWriteTokens)}</dd>
          </div>
          <div>
            <dt>{words.cost.output}</dt>
            <dd className="figures">{sayCount(usage.outputTokens)}</dd>
          </div>
        </dl>
      ))}
      {ratio !== undefined && <p className="hint">{words.cost.cacheShare(Math.round(ratio * 100))}</p>}
      {cache.breaks.slice(-mostBreaks).map(({ request, keptTokens, readTokens, cause }) => (
        <p key={request} className="hint">
          {words.cost.broke(request, sayCount(keptTokens - readTokens), cause.kind)}
        </p>
      ))}
    </SideSection>
  );
}
