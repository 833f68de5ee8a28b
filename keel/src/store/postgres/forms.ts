/**
 * The tables, form by form. They only ever go forward, one form after the other, and a form that is out is never changed.
 * `least`: the oldest form whose code may still work on the tables; a step that older code cannot live with raises it.
 */
export type TableForm = { readonly sql: string; readonly least: number };

/**
 * `place`: where the file of a log would stand in a home. A line is text where it is one, byte for byte; what is no text
 * is `raw`. `fence`: by whose lease it was written. `token` names the last change of a log, so that one whose answer was
 * lost is known again, and is done once. A lease belongs to a worker and holds until the worker's time is over, by the
 * clock of the database alone.
 */
const first = `
CREATE SEQUENCE keel_fence;
CREATE TABLE keel_workers (
  id text PRIMARY KEY,
  pid integer NOT NULL,
  until timestamptz NOT NULL
);
CREATE TABLE keel_leases (
  name text PRIMARY KEY,
  worker text NOT NULL,
  fence bigint NOT NULL
);
CREATE INDEX keel_leases_worker ON keel_leases (worker);
CREATE TABLE keel_logs (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  place text NOT NULL UNIQUE,
  folder text NOT NULL,
  session text NOT NULL,
  agent smallint NOT NULL,
  changed_at double precision NOT NULL,
  bytes bigint NOT NULL,
  token text NOT NULL,
  shown text,
  shown_bytes bigint
);
CREATE INDEX keel_logs_changed ON keel_logs (agent, changed_at DESC, session DESC);
CREATE INDEX keel_logs_folder ON keel_logs (folder, changed_at DESC, session DESC);
CREATE INDEX keel_logs_session ON keel_logs (session);
CREATE TABLE keel_lines (
  log bigint NOT NULL,
  at bigint NOT NULL,
  line text,
  raw bytea,
  fence bigint,
  PRIMARY KEY (log, at),
  CHECK ((line IS NULL) <> (raw IS NULL))
);
CREATE TABLE keel_artifacts (
  session text NOT NULL,
  kind text NOT NULL,
  name text NOT NULL,
  part integer NOT NULL,
  token text NOT NULL,
  content text,
  bytes bigint NOT NULL,
  PRIMARY KEY (session, kind, name, part)
)`;

/** Workers: what they say of themselves, what waits for a session that another one has, what sessions were opened with. */
const second = `
ALTER TABLE keel_workers
  ADD COLUMN about text NOT NULL DEFAULT '{}',
  ADD COLUMN looked timestamptz,
  ADD COLUMN open integer NOT NULL DEFAULT 0,
  ADD COLUMN draining boolean NOT NULL DEFAULT false;
CREATE TABLE keel_inbox (
  no bigint GENERATED ALWAYS AS IDENTITY,
  id text PRIMARY KEY,
  session text NOT NULL,
  operation text NOT NULL,
  question text NOT NULL,
  caller text NOT NULL,
  asker text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  answer text,
  answered timestamptz
);
CREATE INDEX keel_inbox_open ON keel_inbox (session, no) WHERE answered IS NULL;
CREATE INDEX keel_inbox_at ON keel_inbox (at);
CREATE TABLE keel_openings (
  session text PRIMARY KEY,
  opening text NOT NULL
)`;

export const tableForms: readonly TableForm[] = [
  { sql: first, least: 1 },
  { sql: second, least: 1 },
];

/** Held while tables are made or changed, so that two that start at once do it once. Any number that is always the same. */
export const formsLock = 4_715_230;
