/** A page that has nothing to show but a sentence, and the ways on from there. */
import type { ReactElement, ReactNode } from "react";
import { Link } from "../kit/link.tsx";
import { words } from "../words.ts";
import { RailButton } from "./rail-button.tsx";

type StatePageProps = { readonly children: ReactNode; readonly onRail: () => void };

export const StatePage = ({ children, onRail }: StatePageProps): ReactElement => (
  <main className="overview" id="main">
    <header className="head">
      <RailButton onOpen={onRail} />
      <h1>{words.product}</h1>
    </header>
    <div className="state">
      <p>{children}</p>
      <Link to={{ page: "overview" }} className="button">
        {words.overview.title}
      </Link>
    </div>
  </main>
);
