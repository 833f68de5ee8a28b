/** The models that Keel knows, with what they take and cost. */
import { sayCount, visible } from "keel/view";
import type { ReactElement } from "react";
import { useInquiry } from "../live/use-inquiry.ts";
import { words } from "../words.ts";
import { OfSession } from "./of-session.tsx";

export const ModelsSettings = (): ReactElement => (
  <OfSession>{(session) => <Models session={session} />}</OfSession>
);

function Models({ session }: { readonly session: string }): ReactElement {
  const models = useInquiry(session, "models");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys
    <section className="wide" tabIndex={0} aria-label={words.settings.pages.models}>
      <table className="models">
        <thead>
          <tr>
            <th scope="col">{words.settings.model}</th>
            <th scope="col" className="not-narrow">
              {words.settings.provider}
            </th>
            <th scope="col" className="figures">
              {words.settings.window}
            </th>
            <th scope="col" className="figures">
              {words.settings.priceIn}
            </th>
            <th scope="col" className="figures">
              {words.settings.priceOut}
            </th>
          </tr>
        </thead>
        <tbody>
          {models?.map(({ id, name, provider, windowTokens, prices }) => (
            <tr key={id}>
              <th scope="row">
                {visible(name)}{" "}
                <span className="quiet">
                  {visible(id)}
                  <span className="only-narrow"> · {visible(provider)}</span>
                </span>
              </th>
              <td className="not-narrow">{visible(provider)}</td>
              <td className="figures">{sayCount(windowTokens)}</td>
              <td className="figures">{prices ? `$${prices.input}` : words.settings.noPrice}</td>
              <td className="figures">{prices ? `$${prices.output}` : words.settings.noPrice}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
