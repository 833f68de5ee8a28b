import { describe, expect, test } from "vitest";
import { namesOf, rankNames } from "../../../kernel/fuzzy.ts";
import { historyOf, newer, older, remembered, searchHistory } from "./history.ts";
import { actionFor, beginsKeys, keyMapOf, keyRows, sayKey, sayKeys } from "./key-map.ts";

describe("names that fit what is typed", () => {
  const files = namesOf([
    "README.md",
    "src/login.ts",
    "src/login.test.ts",
    "src/session/open-session.ts",
    "test/session.test.ts",
    "docs/logging.md",
    "web/src/panels/log-in-button.tsx",
  ]);
  test.each([
    ["login", "src/login.ts"],
    ["readme", "README.md"],
    ["opses", "src/session/open-session.ts"],
    ["sestest", "test/session.test.ts"],
    ["src/l", "src/login.ts"],
    ["panbut", "web/src/panels/log-in-button.tsx"],
  ])("%s: %s", (typed, first) => expect(rankNames(files, typed, 5)[0]).toBe(first));

  test("are none where a letter is missing, and all where nothing is typed", () => {
    expect(rankNames(files, "qqq", 5)).toEqual([]);
    expect(rankNames(files, "", 2)).toEqual(["README.md", "src/login.ts"]);
  });

  test("are found among 100,000", () => {
    const many = Array.from(
      { length: 100_000 },
      (_, at) => `packages/p${at % 100}/src/part-${at}/file-${at}.ts`,
    );
    const found = rankNames(namesOf([...many, "packages/p7/src/the-needle.ts"]), "needle", 10);
    expect(found).toEqual(["packages/p7/src/the-needle.ts"]);
    expect(rankNames(namesOf(many), "file-99999", 3)[0]).toBe("packages/p99/src/part-99999/file-99999.ts");
  });
});

describe("what was typed before", () => {
  const history = historyOf(["one", "two words", "three"]);

  test("is gone back to and forth, and the draft comes last", () => {
    const first = older(history, "draft");
    expect(first?.text).toBe("three");
    const second = first && older(first.history, "three");
    expect(second?.text).toBe("two words");
    const forth = second && newer(second.history);
    expect(forth?.text).toBe("three");
    expect(forth && newer(forth.history)?.text).toBe("draft");
    expect(older(historyOf([]), "x")).toBeUndefined();
    expect(newer(history)).toBeUndefined();
  });

  test("has each once in a row, and is searched from the newest", () => {
    expect(remembered(history, "three").entries).toHaveLength(3);
    expect(remembered(history, "  ").entries).toHaveLength(3);
    expect(remembered(history, "four").entries.at(-1)).toBe("four");
    expect(searchHistory(history, "T", 5)).toEqual(["three", "two words"]);
  });
});

describe("the key map", () => {
  test("has every key once in each place, and says every action", () => {
    const { map } = keyMapOf();
    expect(actionFor(map, "input", "enter")).toBe("submit");
    expect(actionFor(map, "panel", "enter")).toBe("choose");
    expect(actionFor(map, "input", "ctrl+b")).toBe("background");
    expect(actionFor(map, "panel", "ctrl+o")).toBe("transcript");
    expect(beginsKeys(map, "input", "ctrl+x")).toBe(true);
    const taken = keyRows.flatMap(({ keys, in: place }) => keys.map((key) => `${place ?? "input"} ${key}`));
    expect(taken.filter((key, at) => taken.indexOf(key) !== at)).toEqual([]);
    for (const { action } of keyRows) expect(sayKeys(map, action), action).not.toBe("");
  });

  test("is changed by settings, which take a key from what had it, and name what there is not", () => {
    const { map, problems } = keyMapOf({ undo: "ctrl+z", suspend: [], fly: "f9" });
    expect(actionFor(map, "input", "ctrl+z")).toBe("undo");
    expect(sayKeys(map, "suspend")).toBe("");
    expect(problems).toEqual(['terminal.keys: there is no action called "fly".']);
  });

  test("is said as people write keys", () => {
    expect(["ctrl+a", "alt+enter", "ctrl+x ctrl+u", "?", " "].map(sayKey)).toEqual([
      "Ctrl-A",
      "Alt-Enter",
      "Ctrl-X Ctrl-U",
      "?",
      "Space",
    ]);
  });
});
