// A process that changes one settings file over and over, for tests that run several of them or kill one. Each change
// adds one to its own variable and to the common one. Says `saved` for each that is on disk, then `done`.
import { writeSync } from "node:fs";
import path from "node:path";
import { settingsLock } from "../../keel/src/app/maintenance/settings-lock.ts";
import { editJsonc } from "../../keel/src/config/settings/jsonc.ts";
import { saveChange } from "../../keel/src/config/settings/save.ts";
import { countsIn } from "./counts.ts";

const [home = "", name = "", count = "0"] = process.argv.slice(2);
const lock = settingsLock({ run: path.join(home, "run") });
const saving = { file: path.join(home, "settings.json"), owner: "person", lock } as const;

for (let saved = 0; saved < Number(count); saved += 1) {
  await saveChange(saving, async (text) => {
    const counts = await countsIn(text);
    const own = await editJsonc(text, ["env", name], String((counts[name] ?? 0) + 1));
    return own.ok ? editJsonc(own.value, ["env", "ALL"], String((counts["ALL"] ?? 0) + 1)) : own;
  });
  writeSync(1, "saved\n");
}
writeSync(1, "done\n");
