/** What can be chosen for the word that is being typed. The field keeps the focus. */
import { visible } from "keel/view";
import type { ReactElement } from "react";
import { words } from "../words.ts";

export type Suggestion = { readonly name: string; readonly about: string };

type CompletionListProps = {
  readonly id: string;
  readonly suggestions: readonly Suggestion[];
  readonly at: number;
  readonly onPick: (suggestion: Suggestion) => void;
};

export const CompletionList = ({ id, suggestions, at, onPick }: CompletionListProps): ReactElement => (
  <div id={id} className="menu completion" role="listbox" aria-label={words.composer.suggestions}>
    {suggestions.map((suggestion, index) => (
      // The field has the keys; here only pointers come.
      // biome-ignore lint/a11y/useKeyWithClickEvents: see above
      // biome-ignore lint/a11y/useFocusableInteractive: see above
      <div
        key={suggestion.name}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === at}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => onPick(suggestion)}
      >
        <code>{visible(suggestion.name)}</code>
        <span className="more one-line">{visible(suggestion.about)}</span>
      </div>
    ))}
  </div>
);
