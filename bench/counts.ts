/** How much of everything a run does: enough for a figure, or just enough to see that it works. */
export type Counts = {
  readonly rounds: number;
  /** Figures are taken one after the other; where they mean nothing, waits of one are used by others. */
  readonly suitesAtOnce: number;
  /** Events that are folded, and how often in one process. */
  readonly foldEvents: number;
  readonly foldRepeats: number;
  /** Tool turns of the long conversation; gaps are taken around `earlyTurn` and at its end. */
  readonly turns: number;
  readonly earlyTurn: number;
  readonly deltas: number;
  /** Rows of the transcript in which deltas are folded. */
  readonly transcriptRows: number;
  readonly sessions: number;
  readonly turnsPerSession: number;
  /** Live sessions with agents, and the turns that are timed among them. */
  readonly fleetSessions: number;
  readonly fleetTurns: number;
  /** Members of a team that are at work at once, and messages to some of them. */
  readonly teammates: number;
  readonly teamMessages: number;
  /** Turns of the longest conversation, and the one from which on it must not grow. */
  readonly longTurns: number;
  readonly longSettledTurn: number;
  readonly appends: number;
  readonly logEvents: number;
  /** Sessions of one folder that are listed. */
  readonly listedSessions: number;
  readonly logBytes: number;
  /** Sessions of a database with few and with many, messages that are searched, and how often. */
  readonly fewSessions: number;
  readonly manySessions: number;
  readonly searchedMessages: number;
  readonly searches: number;
  /** Sessions whose logs are taken into the tables and searched, and the bytes of all their logs. */
  readonly searchedSessions: number;
  readonly searchedLogBytes: number;
  /** Of the session that is recorded at a pace: its calls, the deltas of its answer, and the pace. */
  readonly pacedTurns: number;
  readonly pacedDeltas: number;
  readonly tokensPerSecond: number;
  /** Events of a session that is replayed, and sessions that are checked, with the calls of each. */
  readonly replayedEvents: number;
  readonly checkedSessions: number;
  readonly checkedTurns: number;
  /** Chunks of a smaller and of a larger memory, and events that are taken in while the loop is watched. */
  readonly chunks: number;
  readonly manyChunks: number;
  readonly memoryEvents: number;
  /** Files of the tree that is searched, calls of a tool in one process, and the files that are read and edited. */
  readonly treeFiles: number;
  readonly toolRepeats: number;
  readonly readBytes: number;
  readonly editBytes: number;
  /** How often all commands are decided about in one process. */
  readonly policyRepeats: number;
  /** Calls on record that are decided again. */
  readonly pastCalls: number;
  /** Messages of the session that is resumed. */
  readonly resumeMessages: number;
  /** Keys that are typed while a reply streams. */
  readonly terminalKeys: number;
  /** Replies that are interrupted, and turns after which the memory of the screen is looked at. */
  readonly terminalEscapes: number;
  readonly terminalTurns: number;
  /** How much of its usual time a screen rests before and while it is looked at. */
  readonly terminalRests: number;
  /** Rows of a long session in the browser, and workspaces that it lists. */
  readonly consoleRows: number;
  readonly consoleWorkspaces: number;
  /** How long changes of workspaces are watched. */
  readonly consoleSeconds: number;
  /** A history that is too big for a page: its events and its bytes. */
  readonly consoleEvents: number;
  readonly consoleBytes: number;
  /** Files of a work tree that have changed, and the bytes of the largest. */
  readonly consoleChanges: number;
  readonly consoleBigFile: number;
  /** Questions that several hands have before them. */
  readonly consoleAsks: number;
  /** How long a page has to come to rest before it is looked at. */
  readonly consoleRestMs: number;
  /** Sessions that a server owns, clients that are attached to some of them, and how many of those hear a stream. */
  readonly servedSessions: number;
  readonly servedClients: number;
  readonly servedStreams: number;
  /** Deltas of each stream that are counted. */
  readonly servedDeltas: number;
  /** Events of the session that a client attaches to. */
  readonly attachedEvents: number;
  /** Runs of what only the machine costs, in one round. */
  readonly groundRepeats: number;
};

const mebibyte = 2 ** 20;

export const fullCounts: Counts = {
  rounds: 5,
  suitesAtOnce: 1,
  foldEvents: 10_000,
  foldRepeats: 20,
  turns: 1_000,
  earlyTurn: 10,
  deltas: 50_000,
  transcriptRows: 2_000,
  sessions: 1_000,
  turnsPerSession: 3,
  fleetSessions: 1_000,
  fleetTurns: 400,
  teammates: 100,
  teamMessages: 100,
  longTurns: 1_000,
  longSettledTurn: 200,
  appends: 500,
  logEvents: 20_000,
  listedSessions: 10_000,
  logBytes: 200 * mebibyte,
  fewSessions: 1_000,
  manySessions: 100_000,
  searchedMessages: 1_000_000,
  searches: 3,
  searchedSessions: 1_000,
  searchedLogBytes: 100 * mebibyte,
  pacedTurns: 40,
  pacedDeltas: 250,
  tokensPerSecond: 50,
  replayedEvents: 10_000,
  checkedSessions: 100,
  checkedTurns: 50,
  chunks: 20_000,
  manyChunks: 100_000,
  memoryEvents: 5_000,
  treeFiles: 100_000,
  toolRepeats: 5,
  readBytes: 10 * mebibyte,
  editBytes: mebibyte,
  policyRepeats: 10,
  pastCalls: 5_000,
  resumeMessages: 2_000,
  terminalKeys: 60,
  terminalEscapes: 25,
  terminalTurns: 10_000,
  terminalRests: 1,
  consoleRows: 20_000,
  consoleWorkspaces: 200,
  consoleSeconds: 10,
  consoleEvents: 20_000,
  consoleBytes: 200 * mebibyte,
  consoleChanges: 20_000,
  consoleBigFile: 50 * mebibyte,
  consoleAsks: 12,
  consoleRestMs: 4_000,
  servedSessions: 1_000,
  servedClients: 200,
  servedStreams: 50,
  servedDeltas: 500,
  attachedEvents: 10_000,
  groundRepeats: 5,
};

/** What takes too long to be measured each time. */
export const largeCounts: Counts = {
  ...fullCounts,
  searchedSessions: 10_000,
  searchedLogBytes: 1_024 * mebibyte,
};

/** A check that everything runs; its figures mean nothing. */
export const smokeCounts: Counts = {
  rounds: 1,
  suitesAtOnce: 4,
  foldEvents: 400,
  foldRepeats: 2,
  turns: 30,
  earlyTurn: 10,
  deltas: 500,
  transcriptRows: 50,
  sessions: 10,
  turnsPerSession: 3,
  fleetSessions: 5,
  fleetTurns: 20,
  teammates: 6,
  teamMessages: 5,
  longTurns: 12,
  longSettledTurn: 4,
  appends: 20,
  logEvents: 400,
  listedSessions: 50,
  logBytes: 2 * mebibyte,
  fewSessions: 20,
  manySessions: 40,
  searchedMessages: 400,
  searches: 1,
  searchedSessions: 20,
  searchedLogBytes: mebibyte,
  pacedTurns: 2,
  pacedDeltas: 5,
  tokensPerSecond: 5_000,
  replayedEvents: 60,
  checkedSessions: 3,
  checkedTurns: 3,
  chunks: 200,
  manyChunks: 400,
  memoryEvents: 20,
  treeFiles: 300,
  toolRepeats: 1,
  readBytes: mebibyte / 10,
  editBytes: mebibyte / 10,
  policyRepeats: 1,
  pastCalls: 50,
  resumeMessages: 100,
  terminalKeys: 5,
  terminalEscapes: 2,
  terminalTurns: 20,
  terminalRests: 0.02,
  consoleRows: 300,
  consoleWorkspaces: 8,
  consoleSeconds: 1,
  consoleEvents: 400,
  consoleBytes: mebibyte,
  consoleChanges: 50,
  consoleBigFile: mebibyte,
  consoleAsks: 1,
  consoleRestMs: 200,
  servedSessions: 10,
  servedClients: 4,
  servedStreams: 2,
  servedDeltas: 10,
  attachedEvents: 400,
  groundRepeats: 1,
};
