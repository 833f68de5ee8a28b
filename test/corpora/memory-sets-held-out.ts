// Other texts for the sets of memory: written after everything that they measure, and never used to change it.

export type Material = {
  /** What was said, and how somebody asks for it who has other words. */
  readonly pairs: readonly (readonly [said: string, asked: string])[];
  readonly names: readonly string[];
  readonly services: readonly string[];
  readonly parts: readonly string[];
  /** What is said of the n-th, and how it is asked for by its words. */
  readonly facts: readonly (readonly [said: (n: number) => string, asked: (who: string) => string])[];
  readonly fillers: readonly string[];
};

export const heldOutMaterial: Material = {
  pairs: [
    ["The greenhouse thermostat is stuck at eighteen degrees.", "How warm do the plants have it?"],
    ["Nadia sold her motorcycle to pay for the wedding.", "How did she finance getting married?"],
    [
      "The ambulance took twenty minutes to reach the school.",
      "How long did the pupils wait for paramedics?",
    ],
    ["Half of the wine cellar was ruined by mould.", "What spoiled so many of the bottles?"],
    ["The printer only accepts cartridges of its own maker.", "Can we put cheap ink of another brand in?"],
    ["Our train was delayed by a fallen tree near Lyon.", "Why did we arrive late by rail?"],
    [
      "The twins learned to swim in the lake behind the farm.",
      "Where did the children get used to the water?",
    ],
    [
      "Visitors must leave their phones at the entrance.",
      "Are guests allowed to keep their mobiles on them?",
    ],
    ["The carpenter charges eighty euros an hour.", "What does the woodworker cost?"],
    ["A fox has been stealing hens since Easter.", "Which animal takes our chickens?"],
    [
      "The theatre cancelled the premiere after the lead actress lost her voice.",
      "Why was there no opening night?",
    ],
    [
      "Rent in this street has doubled within five years.",
      "How much more do tenants around here pay than before?",
    ],
    ["The hikers turned back when fog covered the summit.", "What made the walkers give up the mountain?"],
    [
      "Aunt Rosa keeps bees on the roof of her apartment block.",
      "Who makes honey in the middle of the city?",
    ],
    ["The satellite lost contact with the ground on Tuesday.", "When did the spacecraft stop answering?"],
    ["He quit smoking the day his daughter was born.", "What made him give up cigarettes?"],
    ["The soup was far too salty for the judges.", "What did the jury dislike about the dish?"],
    ["Heavy snow made the roof of the barn collapse.", "What brought the shed down?"],
    ["The library fines nobody for books that come back late.", "Is there a penalty for overdue novels?"],
    ["The pilot diverted to Oslo because a passenger fainted.", "Why did the aircraft land somewhere else?"],
    [
      "Their violin teacher retired to an island in Greece.",
      "Where does the music instructor live these days?",
    ],
    ["The dentist found two cavities and a cracked filling.", "What is wrong with my teeth?"],
    ["The glacier has shrunk by a third since 1990.", "How much ice has melted over the decades?"],
    ["Every employee gets a free lunch on Fridays.", "Does the firm ever pay for the staff's meals?"],
  ],
  names: ["Drift", "Ember", "Fjord"],
  services: "walnut comet lantern pebble thistle marble osprey cinder willow topaz".split(" "),
  parts: "uploader indexer mailer balancer archiver".split(" "),
  facts: [
    [
      (n) => `keeps its logs for ${10 + n} days in the bucket ${["north", "south", "east"][n % 3]}-${n}`,
      (who) => `For how many days does ${who} keep its logs, and in which bucket?`,
    ],
    [
      (n) =>
        `was written in ${["Go", "Rust", "Kotlin", "Elixir"][n % 4]} and ported by Imke in week ${n + 3}`,
      (who) => `In which language was ${who} written, and in which week was it ported?`,
    ],
    [
      (n) => `fails above ${300 + n * 11} requests per second unless the queue has ${2 + (n % 9)} shards`,
      (who) =>
        `Above how many requests per second does ${who} fail, and how many shards does the queue need?`,
    ],
  ],
  fillers: [
    "The linter complains about an unused variable; I remove it.",
    "Could you also rename the folder while you are there?",
    "All green now, the flaky one passed at the second try.",
    "I would keep the old endpoint for one more release.",
    "Here is the stack trace; the third frame is ours.",
    "Then let us merge it and watch the dashboard for an hour.",
  ],
};
