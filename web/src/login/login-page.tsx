/** For a browser that is not let in: how it comes in. */
import "../overview/overview.css";
import "./login.css";
import type { ReactElement } from "react";
import { words } from "../words.ts";

export const LoginPage = (): ReactElement => (
  <main className="login" id="main">
    <h1>{words.login.title}</h1>
    <p>{words.login.here}</p>
    <pre className="plain">keel console</pre>
    <p>
      {words.login.elsewhere} <a href="/pair">{words.login.pair}</a>
    </p>
  </main>
);
