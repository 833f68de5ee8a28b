// A third set for memory, in free sentences: written on one evening, before any result on it was seen, and neither it nor
// what it measures was changed for the other afterwards.
import type { MemorySets, Project, SetQuestion } from "./memory-sets.ts";

type Said = readonly [said: string, asked?: string];

/** What is asked for in words of its own, and what stands around it with some of the same words. */
const brewery: readonly Said[] = [
  [
    "Orders of the brewery app are stored in Postgres 16 on the host hopvine, with a replica on barleycorn.",
    "On which host does Postgres store the orders of the brewery app?",
  ],
  ["The invoices of the brewery app are PDF files that a worker named maltman renders each night."],
  [
    "A keg label carries a Code 128 barcode of fourteen digits, the last of which is the check digit.",
    "How many digits does the barcode of a keg label have?",
  ],
  ["A crate label carries a plain number of six digits and no barcode."],
  [
    "We froze the price list of the pilsner at 41.50 euros per hectolitre until the end of March.",
    "At how many euros per hectolitre is the price list of the pilsner frozen?",
  ],
  ["The price list of the porter changes weekly and is not frozen."],
  [
    "Deliveries to Rotterdam leave the dock on Thursdays at 05:40 by the haulier Van Dijk.",
    "When do deliveries to Rotterdam leave the dock?",
  ],
  ["Deliveries to Antwerp leave by barge, and nobody knows when."],
  [
    "The fermenter probe speaks Modbus RTU at 19200 baud with even parity.",
    "At which baud does the fermenter probe speak Modbus?",
  ],
  ["The kettle probe speaks MQTT over the cellar wifi."],
  [
    "Ticket BRW-2281 is about returned kegs that are credited twice when the scanner retries.",
    "What is ticket BRW-2281 about?",
  ],
  ["Ticket BRW-2218 is about a typo in the footer."],
  [
    "The function reconcileDeposits lives in src/deposits/reconcile.ts and is called by the nightly cron.",
    "In which file does the function reconcileDeposits live?",
  ],
  ["The function refundDeposits is dead code and may go."],
  [
    "Yeast strain WB-06 is pitched at 12 degrees and raised to 18 on the third day.",
    "At how many degrees is yeast strain WB-06 pitched?",
  ],
  ["Yeast strain S-23 wants it colder and slower."],
  [
    "The feature flag bulkDiscounts is on for 15 percent of the pubs in Ghent.",
    "For how many percent of the pubs is the feature flag bulkDiscounts on?",
  ],
  ["The feature flag darkMode is on for everybody."],
  [
    "Sales tax for Belgian pubs is 21 percent, and the column is called vat_bp in basis points.",
    "How is the column of the sales tax for Belgian pubs called?",
  ],
  [
    "The load test of the ordering endpoint broke at 870 concurrent carts because of the pool size of 20.",
    "At how many concurrent carts did the load test of the ordering endpoint break?",
  ],
  [
    "Backups of hopvine are kept for 35 days in the bucket cellar-frankfurt.",
    "In which bucket are the backups of hopvine kept?",
  ],
  ["Backups of the old server were given up in spring."],
  [
    "The bottling line counts 9,300 bottles an hour and reports them through the topic line/three/count.",
    "Through which topic does the bottling line report its bottles?",
  ],
  [
    "Lotte decided that empty carts are thrown away after 72 hours.",
    "After how many hours are empty carts thrown away?",
  ],
  [
    "The scanner firmware 3.8.1 drops the last character when the battery is below ten percent.",
    "What does scanner firmware 3.8.1 drop when the battery is low?",
  ],
  [
    "The webhook of the payment provider is signed with HMAC-SHA256 and expires after 300 seconds.",
    "With what is the webhook of the payment provider signed?",
  ],
  ["The webhook of the courier is not signed at all."],
];

const telescope: readonly Said[] = [
  [
    "Raw frames of the telescope pipeline are FITS files with 16 bits per pixel and a gain of 1.4 electrons.",
    "How many bits per pixel do the raw frames of the telescope pipeline have?",
  ],
  ["Preview frames of the telescope pipeline are plain JPEG."],
  [
    "The dark library is rebuilt every 45 days by the job nightshade on the machine perigee.",
    "Every how many days is the dark library rebuilt?",
  ],
  ["The flat library is rebuilt by hand after each cleaning."],
  [
    "Catalogue queries go to Gaia DR3 with a cone of 0.6 degrees and a limiting magnitude of 19.",
    "With which limiting magnitude do the catalogue queries go to Gaia?",
  ],
  ["Catalogue queries for comets go to a list that Ulla keeps."],
  [
    "The astrometry solver gives up after 90 seconds and writes a file called unsolved.json.",
    "After how many seconds does the astrometry solver give up?",
  ],
  ["The photometry solver never gives up, which is a pity."],
  [
    "The dome controller resets when the humidity sensor reports more than 94 percent for five minutes.",
    "At how much humidity does the dome controller reset?",
  ],
  ["The mount controller resets only by its switch."],
  [
    "Pull request 517 replaces the median stack by a sigma-clipped mean with kappa 2.5.",
    "Which kappa does the sigma-clipped mean of pull request 517 have?",
  ],
  ["Pull request 571 bumps a dependency."],
  [
    "The class FrameLedger keeps a SQLite table of every exposure with its checksum in column sha1_hex.",
    "In which column does the class FrameLedger keep the checksum of an exposure?",
  ],
  [
    "Focus drifts by 11 steps per degree of temperature, measured with the script focus_drift.py.",
    "By how many steps per degree of temperature does the focus drift?",
  ],
  ["Collimation does not drift, or so we hope."],
  [
    "The filter wheel has seven slots, and slot four holds the hydrogen-alpha filter of 6 nanometres.",
    "Which slot of the filter wheel holds the hydrogen-alpha filter?",
  ],
  ["The old filter wheel had five slots, all of them worn."],
  [
    "Alerts about supernovae are sent to the channel bright-nights by the bot Cassandra.",
    "To which channel are alerts about supernovae sent?",
  ],
  ["Alerts about the weather are sent to nobody."],
  [
    "The observatory's uplink carries 38 megabits per second and is metered from 18:00 to 02:00.",
    "How many megabits per second does the observatory's uplink carry?",
  ],
  [
    "The environment variable STACK_WORKERS is 6 on perigee and 2 on the laptop.",
    "What is the environment variable STACK_WORKERS on perigee?",
  ],
  ["The environment variable STACK_CACHE is read by nothing."],
  [
    "Cosmic rays are removed by the routine lacosmic with a contrast of 5 in two passes.",
    "With which contrast does the routine lacosmic remove cosmic rays?",
  ],
  [
    "Guide stars are picked at least 200 pixels away from the edge of the sensor.",
    "How many pixels away from the edge are guide stars picked?",
  ],
  ["Guide logs are deleted on the first of the month."],
  [
    "The spectrograph's slit is 35 micrometres wide and its grating has 1,200 lines per millimetre.",
    "How many lines per millimetre does the grating of the spectrograph have?",
  ],
  [
    "The scheduler penalises targets below 28 degrees of altitude with a weight of 0.3.",
    "With which weight does the scheduler penalise targets of low altitude?",
  ],
  [
    "The archive on tape LTO-8 holds 1,912 nights; the index is the spreadsheet nights.ods.",
    "How many nights does the archive on tape hold?",
  ],
];

const scores: readonly Said[] = [
  [
    "Sheet music is imported as MusicXML 4.0, and files without a part list are refused with error E114.",
    "With which error is sheet music without a part list refused?",
  ],
  ["Lyrics are imported as plain text, and nothing of them is refused."],
  [
    "The transposer keeps spellings of accidentals by a table of 35 intervals in intervals.toml.",
    "In which file is the table of intervals of the transposer?",
  ],
  ["The metronome keeps nothing."],
  [
    "Page turns are predicted 1.8 seconds ahead by the follower, with a window of 12 bars.",
    "How many seconds ahead does the follower predict page turns?",
  ],
  ["Page numbers are printed at the foot."],
  [
    "The choir of Uppsala has 64 licences of the reader, which run out on 30 September.",
    "How many licences of the reader does the choir of Uppsala have?",
  ],
  ["The choir of Turku has a licence for everybody."],
  [
    "The engraver's spacing factor is 1.62, and grace notes are drawn at 60 percent.",
    "What is the spacing factor of the engraver?",
  ],
  [
    "Uploads above 48 megabytes go in pieces to the endpoint /v2/parcels.",
    "To which endpoint do uploads above 48 megabytes go?",
  ],
  ["Downloads are never cut in pieces."],
  [
    "The optical reader confuses quarter rests with the letter z in scans below 240 dots per inch.",
    "What does the optical reader confuse with the letter z?",
  ],
  [
    "Mehmet owns the playback module, whose sampler loads 212 violin samples at the start.",
    "How many violin samples does the sampler of the playback module load?",
  ],
  ["The organ samples are loaded when they are played."],
  [
    "The search index of composers is rebuilt by the command scorectl reindex --composers on Mondays.",
    "By which command is the search index of composers rebuilt?",
  ],
  ["The search box remembers the last ten queries."],
  [
    "Subscriptions renew through the table renewals, whose unique key is account_id plus period_start.",
    "What is the unique key of the table renewals?",
  ],
  [
    "The Android build needs NDK 27 and minSdk 29 since the audio engine was replaced by Oboe.",
    "Which NDK does the Android build need since the audio engine was replaced?",
  ],
  ["The iOS build needs patience."],
  [
    "Fingerings are hidden below a zoom of 70 percent, and bowings below 45.",
    "Below which zoom are fingerings hidden?",
  ],
  [
    "Rehearsal marks are exported as cue points of type 0x0C in the MIDI file.",
    "As which type of cue points are rehearsal marks exported?",
  ],
  ["Dynamics are exported as nothing so far."],
  [
    "The server of the scores runs on ARM machines in Tallinn behind the balancer ostinato.",
    "Behind which balancer does the server of the scores run?",
  ],
  [
    "Crash reports are sampled at one in 25 and purged after 14 days.",
    "After how many days are crash reports purged?",
  ],
  ["Usage reports are sampled at one in two."],
  [
    "The ratio between staff height and lyric size is 0.42 in the style sheet hymnal.css.",
    "In which style sheet is the ratio between staff height and lyric size?",
  ],
  [
    "Johanna merged the branch polyrhythm on Friday although test 88 was still skipped.",
    "Which test was skipped when the branch polyrhythm was merged?",
  ],
];

const paraphrased: readonly (readonly [said: string, asked: string])[] = [
  [
    "The tasting room is closed while the floor is being sanded.",
    "Why can guests not sample the beer at the moment?",
  ],
  [
    "Ingrid broke her wrist on the ice, so she types with one hand.",
    "Which injury slows our colleague down at the keyboard?",
  ],
  [
    "The forklift is not to be driven by anybody under eighteen.",
    "Are teenagers permitted to operate the lifting vehicle?",
  ],
  ["A neighbour sued us because of the smell of the mash.", "Did anyone take legal action over the odour?"],
  ["The old copper kettle was melted down for its metal.", "What became of the antique boiling vessel?"],
  [
    "Rats gnawed the insulation off the wiring in the attic.",
    "What did rodents do to our electricity upstairs?",
  ],
  [
    "The festival was rained out and everybody got a refund.",
    "Did people get their money returned after the bad weather at the event?",
  ],
  [
    "Our intern speaks Finnish because her mother comes from Oulu.",
    "How does the trainee know a Nordic language?",
  ],
  [
    "Clouds hid the eclipse for all but ten seconds.",
    "Were we able to see the sun being covered by the moon?",
  ],
  ["The night guard falls asleep around three o'clock.", "At what hour does the watchman doze off?"],
  ["A meteorite the size of a walnut went through the hut's roof.", "What fell from space onto our cabin?"],
  [
    "The road to the summit is snowed in from November to April.",
    "During which season can cars not get up the mountain?",
  ],
  [
    "Students may borrow the small telescope for one weekend.",
    "For how long can pupils take an instrument home?",
  ],
  [
    "The generator ran dry because nobody had ordered diesel.",
    "Why did we lose power when the fuel was gone?",
  ],
  ["Street lamps of the new suburb spoil our pictures.", "What brightens the sky and ruins the photographs?"],
  ["The professor left her entire fortune to the observatory.", "Who bequeathed all her wealth to us?"],
  [
    "The soprano refuses to sing before noon.",
    "When is the earliest that the female vocalist is willing to perform?",
  ],
  [
    "The cellist's instrument was stolen from a parked van.",
    "What happened to the string player's possession in the vehicle?",
  ],
  [
    "The concert hall's heating is so loud that recordings are useless.",
    "Why can't we tape performances in the auditorium?",
  ],
  ["The tuner is blind and works entirely by ear.", "Which disability has the man who adjusts the pianos?"],
  ["Applause between movements makes the conductor furious.", "What angers the maestro during a symphony?"],
  ["The orchestra travels by bus because half of them fear flying.", "Why do the musicians avoid planes?"],
  [
    "The bassoon solo was cut to make the broadcast fit an hour.",
    "What was shortened so that the programme would not run over?",
  ],
  ["The composer wrote the waltz for his dying wife.", "To whom was the dance in three-four time dedicated?"],
];

const between = [
  "I look at the file first and tell you what I find.",
  "That is done; the tests of this folder pass.",
  "Can you make the message shorter, please?",
  "I would rather not touch the migration today.",
  "Two of the snapshots changed, both as expected.",
  "Let me run it once more with the seed of yesterday.",
  "The types are right now, the linter is content.",
  "Write a line about it into the notes of the release.",
  "I reverted the last edit, it made things worse.",
  "Good. Go on with the next point of the list.",
];

function build(): MemorySets {
  const projects: Project[] = [];
  const keywords: SetQuestion[] = [];
  const paraphrases: SetQuestion[] = [];
  for (const [project, facts] of [brewery, telescope, scores].entries()) {
    const lines: string[] = [];
    const own = paraphrased.slice(project * 8, project * 8 + 8);
    const put = (said: string, asked: string | undefined, into: SetQuestion[]): void => {
      lines.push(said);
      if (asked !== undefined) into.push({ asked, project, line: lines.length - 1 });
      for (let more = 0; more < 3; more++)
        lines.push(`${between[(lines.length * 7 + project) % between.length]} (${lines.length})`);
    };
    for (const [at, [said, asked]] of facts.entries()) {
      put(said, asked, keywords);
      const pair = at % 2 === 1 ? own[(at - 1) / 2] : undefined;
      if (pair) put(pair[0], pair[1], paraphrases);
    }
    projects.push({ cwd: `/work/later-${project}`, lines });
  }
  return { projects, keywords, paraphrases };
}

export const laterSets: MemorySets = build();
