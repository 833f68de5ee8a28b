/** What runs without a question, what asks every time and what never runs, with where each rule stands. */
import { visible } from "keel/view";
import { type ReactElement, useState } from "react";
import { Button } from "../kit/button.tsx";
import { useInquiry } from "../live/use-inquiry.ts";
import { faultOf, useAccess, useWorld } from "../live/world.ts";
import { InlineMarkdown } from "../markdown/markdown.tsx";
import { words } from "../words.ts";
import { OfSession } from "./of-session.tsx";

const lists = ["deny", "ask", "allow"] as const;
type RuleList = (typeof lists)[number];

export const PermissionsSettings = (): ReactElement => (
  <OfSession>{(session) => <Rules key={session} session={session} />}</OfSession>
);

function Rules({ session }: { readonly session: string }): ReactElement {
  const world = useWorld();
  const [changes, setChanges] = useState(0);
  const [rule, setRule] = useState("");
  const [list, setList] = useState<RuleList>("allow");
  const [problem, setProblem] = useState("");
  const rules = useInquiry(session, "rules", changes);
  const mayChange = useAccess() === "work";
  const change = async (how: "add" | "remove", of: RuleList, text: string): Promise<void> => {
    try {
      const permissions = [{ type: "rules" as const, change: how, list: of, rules: [text] }];
      await world.submit(session, { type: "set", patch: { permissions } });
      setProblem("");
      setRule("");
      setChanges(changes + 1);
    } catch (thrown) {
      setProblem(faultOf(thrown).message);
    }
  };
  return (
    <>
      {lists.map((one) => (
        <section key={one}>
          <h2>{words.settings.lists[one]}</h2>
          <ul className="rules">
            {rules
              ?.filter((row) => row.list === one)
              .map((row) => (
                <li key={`${row.source} ${row.rule}`}>
                  <code>{visible(row.rule)}</code>
                  <span className="quiet">{visible(row.source)}</span>
                  {mayChange && row.source === "session" && (
                    <Button look="plain" icon="trash" onClick={() => void change("remove", one, row.rule)}>
                      {words.settings.remove}
                    </Button>
                  )}
                </li>
              ))}
            {rules?.every((row) => row.list !== one) && <li className="quiet">{words.settings.noRules}</li>}
          </ul>
        </section>
      ))}
      {mayChange && (
        <form
          className="add-rule"
          onSubmit={(event) => {
            event.preventDefault();
            void change("add", list, rule.trim());
          }}
        >
          <label className="field">
            <span className="label">{words.settings.newRule}</span>
            <input
              className="input"
              placeholder="Bash(npm test:*)"
              value={rule}
              onChange={({ target }) => setRule(target.value)}
            />
          </label>
          <label className="field">
            <span className="label">{words.settings.newList}</span>
            <select
              className="input"
              value={list}
              onChange={({ target }) => setList(target.value as RuleList)}
            >
              {lists.map((one) => (
                <option key={one} value={one}>
                  {words.settings.lists[one]}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" className="button" disabled={rule.trim() === ""}>
            {words.settings.add}
          </button>
        </form>
      )}
      {problem !== "" && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <p className="hint">
        <InlineMarkdown text={words.settings.ruleFiles} />
      </p>
    </>
  );
}
