// Two sets of questions over three long projects that nobody has: 24 that say in other words what was said, and 150 that use
// its words. Each has the line that answers it, by its number; nobody judges. And the same once more with other texts, which
// nothing was ever tuned by.
import { heldOutMaterial, type Material } from "./memory-sets-held-out.ts";

export type Project = { readonly cwd: string; readonly lines: readonly string[] };
export type SetQuestion = { readonly asked: string; readonly project: number; readonly line: number };

const pairs: Material["pairs"] = [
  [
    "The ferry is cancelled whenever wind exceeds forty knots.",
    "In what weather do boats stay in the harbour?",
  ],
  [
    "We pay our suppliers thirty days after the invoice arrives.",
    "How long do vendors wait for their money?",
  ],
  [
    "The laptop overheats when two monitors are attached.",
    "Why does my computer get so hot with extra screens?",
  ],
  ["Maria is on maternity leave until October.", "When does the colleague who had a baby come back to work?"],
  ["Backups are written to tape every Sunday night.", "How often do we make safety copies of our data?"],
  ["The staircase was repainted in dark green.", "What colour are the steps now?"],
  [
    "Customers complain that checkout takes too many clicks.",
    "Why are shoppers unhappy about buying things?",
  ],
  ["The orchard was hit by frost and lost half its blossoms.", "What damaged the fruit trees?"],
  [
    "Her flight lands in Lisbon shortly before midnight.",
    "At what time does the plane of hers arrive in Portugal?",
  ],
  ["The bakery downstairs opens at five in the morning.", "How early can I get bread in this building?"],
  ["Our lawyer advised against signing the lease.", "What did the attorney say about renting the premises?"],
  ["The choir rehearses in the old gymnasium.", "Where do the singers practise?"],
  ["The river flooded the cellar twice last spring.", "Has water ever come into the basement?"],
  ["Peter is allergic to peanuts and shellfish.", "Which foods make him ill?"],
  [
    "The museum lets children in for free on Wednesdays.",
    "On which day do kids pay nothing for the exhibition?",
  ],
  ["The engine fails to start below freezing.", "What happens to the motor when it is very cold?"],
  ["We moved the meeting because the boss had a dentist appointment.", "Why did the manager reschedule?"],
  ["The village has had no doctor since the clinic closed.", "Can sick people there find medical help?"],
  ["Grandfather hid his savings inside the piano.", "Where did the old man keep his cash?"],
  ["The bridge carries trucks of at most twelve tons.", "How heavy may lorries be to cross the river?"],
  ["Night shifts are paid double in December.", "Do people earn more for working late around Christmas?"],
  ["The puppy chewed through the power cord of the lamp.", "How did the dog break the light?"],
  [
    "The translator misread the contract and a fine had to be paid.",
    "What did the language mistake cost us?",
  ],
  ["The stadium sold out within eleven minutes.", "How quickly were all the tickets gone?"],
];

const services = "ledger harbor falcon juniper quarry beacon tundra saffron meadow cobalt".split(" ");
const parts = "scheduler gateway importer parser cache".split(" ");
const facts: Material["facts"] = [
  [
    (n) => `listens on port ${4100 + n} and needs TLS version 1.${n % 4}`,
    (who) => `Which port does ${who} listen on, and which TLS version does it need?`,
  ],
  [
    (n) => `retries ${2 + (n % 7)} times with a pause of ${100 + n * 7} milliseconds`,
    (who) => `How many times does ${who} retry, and with which pause in milliseconds?`,
  ],
  [
    (n) =>
      `is owned by the ${["billing", "search", "mobile", "platform"][n % 4]} team since sprint ${20 + n}`,
    (who) => `Which team owns ${who}, and since which sprint?`,
  ],
];

const fillers = [
  "I ran the tests again and they pass; two are slow.",
  "Please look at the failing build first.",
  "The review asks for smaller functions and a better name.",
  "Let us write that down in the changelog.",
  "I have opened the file and will change the import.",
  "That needs a migration, which should run at night.",
];

export type MemorySets = {
  readonly projects: readonly Project[];
  readonly keywords: readonly SetQuestion[];
  readonly paraphrases: readonly SetQuestion[];
};

function build({ pairs, names, services, parts, facts, fillers }: Material): MemorySets {
  const projects: Project[] = [];
  const keywords: SetQuestion[] = [];
  const paraphrases: SetQuestion[] = [];
  for (let project = 0; project < 3; project++) {
    const lines: string[] = [];
    let number = 0;
    const fill = (): void => {
      for (let more = 0; more < 4; more++)
        lines.push(`${fillers[(lines.length + project) % fillers.length]} (step ${lines.length})`);
    };
    for (const service of services)
      for (const part of parts) {
        const who = `the ${service} ${part} of ${names[project]}`;
        const [said, asked] = facts[number % facts.length] ?? [];
        lines.push(`Note that ${who} ${said?.(number + project * 50)}.`);
        keywords.push({ asked: asked?.(who) ?? "", project, line: lines.length - 1 });
        number++;
        fill();
        const mine = number % 6 === 0 ? pairs[((number / 6) | 0) - 1 + project * 8] : undefined;
        if (mine) {
          lines.push(mine[0]);
          paraphrases.push({ asked: mine[1], project, line: lines.length - 1 });
          fill();
        }
      }
    projects.push({ cwd: `/work/project-${project}`, lines });
  }
  return { projects, keywords, paraphrases };
}

const names = ["Aurora", "Basalt", "Cedar"];

export const memorySets = build({ pairs, names, services, parts, facts, fillers });
export const heldOutSets = build(heldOutMaterial);
