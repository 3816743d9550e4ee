/**
 * The SQL of the store on PostgreSQL keeps to what a cluster can do too: every text it sends is looked at. What it sends to
 * a cluster only is looked at by `test/citus/shapes.test.ts`.
 */
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { runPastRound } from '../property/agreement/past-round.ts'
import { runRound } from '../property/agreement/round.ts'
import { runUpdateRound } from '../property/agreement/update-round.ts'
import { testUnlessOnCitus, unlessOnCitus } from '../support/citus.ts'
import { rowsOf, testPostgresUrl } from '../support/postgres.ts'
import { PLACINGS, openReferencesService } from '../support/references-service.ts'
import { SEED } from '../support/seed.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { ADMIN, metadataDocument, openTestService } from '../support/service.ts'
import { useStore, freshPlace } from '../support/store-kind.ts'
import { CANARIES, FIELD_CANARY, exercise } from './postgres-exercise.ts'
import { exerciseReferences } from './references.ts'
import { recordStatements } from './record-statements.ts'
import {
  CLUSTER_RULES,
  DISTRIBUTED,
  type Finding,
  PARTS_OF_LANGUAGE,
  RULES,
  UNORDERED,
  bareOf,
  findingsIn,
  functionsIn,
} from './sql-shapes.ts'

useStore('postgres')
const test = testUnlessOnCitus('joins')
const recorded = recordStatements()
let withCanaries: readonly string[] = []
let findings: readonly Finding[] = []
let bare: ReadonlySet<string> = new Set()

async function sendEveryKind(): Promise<void> {
  await exercise()
  withCanaries = recorded.map(({ text }) => text)
  await exerciseReferences({
    freshPlace: () => freshPlace('postgres'),
    openAt: async (location) => openPostgresStore({ url: location }),
  })
  {
    await using tester = await openReferencesService(PLACINGS[1]!)
    await runPastRound(tester, { seed: SEED, writes: 8, requests: 10 })
  }
  await addColumn()
  await runRound(SEED, 100)
  await runUpdateRound(SEED, 40)
  findings = findingsIn(recorded)
  bare = new Set(recorded.map(({ text }) => bareOf(text)))
}

unlessOnCitus('joins', () => before(sendEveryKind))

/** A field that a later version defines gets a column, which documents are entered into before it is indexed. */
async function addColumn(): Promise<void> {
  await using tester = await openTestService()
  const { service } = tester
  await tester.define('grown', { a: { type: 'string' } })
  await tester.store('grown', [{ a: 'x' }, { a: 'y' }])
  const later = metadataDocument('grown', { a: { type: 'string' }, n: { type: 'integer' } })
  const version = { value: '2.0.0', changelog: 'grown' }
  const schema = { ...(later['schema'] as JsonObject), version }
  await service.metadata.createSchema(ADMIN, { entity: 'grown', version: '2.0.0' }, schema)
  const info = { ...(later['entityInfo'] as JsonObject), indexes: [{ fields: [{ field: 'n' }] }] }
  await service.metadata.updateInfo(ADMIN, 'grown', info)
}

for (const name of [...RULES.map((rule) => rule.name), DISTRIBUTED]) {
  test(`sql: ${name}`, () => {
    const broken = findings.filter(({ rule }) => rule === name)
    assert.deepEqual(
      broken.map(({ text }) => text),
      [],
    )
  })
}

/** Without these the rules would hold for want of statements. */
const SEEN: readonly RegExp[] = [
  /^create table doc_/,
  /^create table claim_/,
  /^create index if not exists idx_/,
  /^create index concurrently if not exists idx_/,
  /^create index if not exists idx_\d+_elements .* using gin/,
  /^alter table doc_.* rename to/,
  /^alter table doc_\d+_\d+_c add column c\d+ /,
  /^update doc_\d+_\d+_c set version = version, c\d+ = /,
  /^insert into smalt_fill/,
  /^drop index if exists/,
  /^analyze doc_/,
  /^insert into doc_/,
  /^with claimed as \( insert into claim_.*insert into doc_/,
  /^with claimed as .* select id, version, \$\d+::integer, doc.* from unnest/,
  /^select id, version, doc from doc_.* where id > \$2 order by id limit \$1$/,
  /^insert into claim_.* on conflict \(key\) do nothing$/,
  /^insert into claim_.*select key, \$1/,
  /^update doc_\w+ set version = \$1/,
  /^update doc_\w+ as stored set version = new\.version, .* from unnest\(/,
  /^insert into doc_\w+\(.* from unnest\(.* on conflict \(id\) do nothing returning id$/,
  /^update doc_.* set version = stored\.version/,
  /^delete from doc_/,
  /^delete from claim_.* key = any/,
  /^delete from claim_.* key >= /,
  /^select .* from doc_.* order by .*\bc\d+ .*, id limit/,
  /^select null, version, .* order by id$/,
  /^declare piecewise .* order by .*id$/,
  /^explain \(format json\) select/,
  /^begin isolation level repeatable read read only$/,
  /^savepoint attempt$/,
  /^rollback to savepoint attempt$/,
  /^with r\d+ as \(select r\d+\.id, .* from doc_.* where .*\), r\d+ as .* order by id limit/,
  /^with .* select count\(\*\) from doc_/,
  /^declare piecewise no scroll cursor for with r\d/,
  /^explain \(format json\) with r\d/,
  / in \(select .* from doc_\d+_\d+_c r\d+ where/,
  / not exists \(select 1 from r\d+ where/,
  / from \(select id, doc, .* from r\d+ where .* union all select/,
  /\(select '' \|\| string_agg\(r\d+\.doc, '' order by .* from r\d+ where/,
  /jsonb_array_elements\(/,
  /@> \$\d/,
  /smalt_fold_\w+\(/,
  / ~ \$\d/,
  /^insert into smalt_lock/,
  /^insert into smalt_sequence/,
  /^insert into smalt_history/,
  /^select pg_notify/,
  /^listen smalt_metadata$/,
  /^with entered as \(insert into smalt_outbox.*values.*insert into doc_\w+\(.*values/,
  /^with entered as \(insert into smalt_outbox.*select .*unnest.*insert into doc_.*unnest/,
  /^with claimed as .*, entered as \(insert into smalt_outbox/,
  /^with written as \(update doc_.*, entered as \(insert into smalt_outbox.* select id from written$/,
  /^with gone as \(delete from doc_.*, entered as \(insert into smalt_outbox.* select id, doc from gone$/,
  /^insert into smalt_outbox\(.*unnest/,
  /^select doc, id, entity, .* from smalt_outbox where seq is null order by at, doc, .*, id limit \$1$/,
  /^select doc, id, entity, .* from smalt_outbox where seq is null order by doc, at, .*, id limit \$1$/,
  /^select doc, id, entity, .* from smalt_outbox where seq is null and doc > \$2 order by doc, at, .*, id limit \$1$/,
  /^select doc, id, entity, .* from smalt_outbox where seq is null and doc = any\(\$1::text\[\]\)/,
  /^update smalt_outbox as stored set seq = new\.seq from unnest/,
  /^update smalt_event_state set reserved/,
  /^update smalt_event_state set published/,
  /^select seq, id, entity, .* from smalt_outbox .* order by seq limit \$3$/,
  /^select seq, before, after from smalt_outbox where seq = any\(\$1\) order by seq$/,
  /^select min\(seq\) from smalt_outbox$/,
  /^delete from smalt_outbox where seq <= \$1$/,
  /^listen smalt_events$/,
  /^create table past_/,
  /^select max\(version\) from past_/,
  /^select id, max\(version\) from past_.* group by id order by id$/,
  /^with recorded as \(insert into past_.* values .*insert into doc_\w+\(.*values/,
  /^with recorded as \(insert into past_.*unnest.*insert into doc_.*unnest/,
  /^with entered as .*, recorded as \(insert into past_/,
  /^with written as \(update doc_.*\), recorded as \(insert into past_.* select id from written$/,
  /^with written as \(update doc_.*, entered as .*, recorded as \(insert into past_.* select id from written$/,
  /^with gone as \(delete from doc_.*\), recorded as \(insert into past_.* select id, doc from gone$/,
  /^with gone as \(delete from doc_.*, entered as .*, recorded as \(insert into past_.* select id, doc from gone$/,
  /^insert into past_.* select change.*unnest/,
  /^declare piecewise no scroll cursor for with r1 as \( ?select r2.id, .* from past_.* order by follows, id$/,
  /^with r1 as \(select r2.id, .* union all select r3.id, .* from past_.*\) select .* from r1 .*order by .*id limit/,
  /^with r1 as \(select r2.id, .* union all .*\) select count\(\*\) from r1/,
  /^declare piecewise no scroll cursor for with r1 as \(select r2.id, .* union all/,
  /^select follows, .* from past_\d+ order by id, follows limit \$1$/,
  /^select follows, .* from past_\d+ where \(id, follows\) > /,
]

test('sql: the exercise makes the store send every kind of statement', () => {
  const unseen = SEEN.filter((shape) => ![...bare].some((text) => shape.test(text)))
  assert.deepEqual(unseen.map(String), [])
  assert.ok(bare.size > 500, `only ${bare.size} texts`)
})

test('sql: every exception from the order of documents is one that occurs', () => {
  const unused = UNORDERED.filter(({ shape }) => ![...bare].some((text) => shape.test(text)))
  assert.deepEqual(unused, [])
})

test('sql: what statements on documents call is immutable to the server', async () => {
  const called = [...functionsIn(recorded)].filter((name) => !PARTS_OF_LANGUAGE.includes(name))
  const rows = await rowsOf(
    `${await testPostgresUrl()}?schema=pg_catalog`,
    () => `select proname from pg_proc where proname in (${called.map((name) => `'${name}'`).join(', ')})
      group by proname having bool_and(provolatile = 'i')`,
  )
  const immutable = rows.map(({ proname }) => String(proname))
  // the function for folding is one of the store's schemas, which are gone; its text says what it is
  const others = called.filter((name) => !immutable.includes(name))
  assert.ok(others.length <= 1, String(others))
  for (const name of others) {
    const isCreation = (text: string): boolean =>
      text.startsWith('create or replace function') && text.includes(name)
    const created = [...bare].find(isCreation)
    assert.match(created ?? '', /language plpgsql immutable strict/)
  }
})

test('sql: values and names of entities, sequences and locks are in no text', () => {
  assert.ok(withCanaries.length > 500)
  for (const canary of CANARIES) {
    const holding = withCanaries.filter((text) => text.toLowerCase().includes(canary))
    assert.deepEqual(holding, [], canary)
  }
})

test('sql: names of fields are in quoted paths and nowhere else', () => {
  const texts = withCanaries.map((text) => text.toLowerCase()).filter((text) => text.includes(FIELD_CANARY))
  assert.ok(texts.length > 0)
  assert.deepEqual(
    texts.filter((text) => bareOf(text).includes(FIELD_CANARY)),
    [],
  )
})

/** Each breaks one rule at least; a checker that finds nothing here would find nothing anywhere. */
const FORBIDDEN: readonly (readonly [rule: RegExp, text: string])[] = [
  [/no unique index/, 'create unique index idx_1 on doc_1_1(id)'],
  [/unique in what/, 'create table doc_1_1(id text collate "C" primary key, u text, unique (u))'],
  [/unique in what/, 'create table claim_1(no bigint primary key, key text)'],
  [/distributed by their key/, 'create table doc_1_1(id text collate "C" primary key, doc text)'],
  [/foreign keys/, 'create table smalt_x(no bigint references smalt_y(no))'],
  [/triggers/, 'create trigger t before insert on doc_1_1 execute function f()'],
  [
    /without functions/,
    'insert into smalt_x values ($1) on conflict (a) do update set a = lower(excluded.a)',
  ],
  [/nothing but unnest/, `update doc_1_1 as stored set doc = jsonb_set(doc, '{}', $1) where id = $2`],
  [/convert parameters only/, 'update doc_1_1 as stored set version = doc::bigint where id = $1'],
  [/unknown here/, 'select id from doc_1_1 where to_jsonb(doc) = $1 order by id'],
  [/unknown here/, 'select id from doc_1_1 where version < random() order by id'],
  [/ask for the time/, 'select id from doc_1_1 where doc < current_timestamp order by id'],
  [/one document at a time/, 'select id from doc_1_1 where id = any($1) order by id for update'],
  [/one document at a time/, 'select id from doc_1_1 where id = $1 for share'],
  [/skip locked/, 'select no from smalt_index for update skip locked'],
  [/no merge/, 'merge into doc_1_1 using claim_1 on true when matched then delete'],
  [/physical rows/, 'delete from doc_1_1 where ctid = $1'],
  [/recursion/, 'with recursive a as (select 1) select 1 from a'],
  [/grouping sets/, 'select version, count(*) from doc_1_1 group by rollup (version) order by id'],
  [/lock timeout/, `set lock_timeout = '1s'`],
  [/table locks/, 'lock table doc_1_1 in exclusive mode'],
  [/two-phase/, `prepare transaction 'x'`],
  [/serializable/, 'begin isolation level SERIALIZABLE'],
  [/numbers/, 'create table smalt_x(no bigserial primary key)'],
  [/one entity/, 'delete from doc_1_1 as stored where id in (select key from claim_2) returning stored.id'],
  [/in one place/, 'select r1.id from doc_1_1 r1, doc_2_1 r2 where r1.id = r2.id order by id'],
  [/in one place/, 'select id from doc_1_1 union all select id from doc_2_1 order by id'],
  [/names no row around/, 'select id from doc_1_1 where id in (select id from doc_2_1) order by id'],
  [
    /names no row around/,
    'select id from doc_1_1 where exists (select 1 from doc_2_1 r1 where r1.id = doc_1_1.id) order by id',
  ],
  [
    /names no row around/,
    'select id, (select count(*) from doc_2_1 r1 where left(r1.id, 5) = left(doc_1_1.id, 5)) from doc_1_1 order by id',
  ],
  [
    /names no row around/,
    'with r1 as (select r1.id from doc_2_1 r1 where exists (select 1 from doc_3_1 r2 where r2.id = r1.id)) select id from doc_1_1 order by id',
  ],
  [/in one place/, 'delete from claim_1 where key in (select id from doc_1_1)'],
  [/nothing else/, 'select id from doc_1_1 where exists (select 1 from r1) order by id'],
  [/nothing else/, 'select id from doc_1_1 where exists (select 1 from pg_class) order by id'],
  [/no joins/, 'select id from doc_1_1 join claim_1 on doc_1_1.id = claim_1.doc order by id'],
  [/metadata do not meet/, 'select id from doc_1_1, smalt_epoch order by id'],
  [/metadata do not meet/, 'update smalt_outbox as stored set seq = one from smalt_event_state'],
  [/distributed by their key/, 'create table smalt_outbox(doc text, id text, primary key (doc, id))'],
  [/one place/, 'insert into smalt_outbox(doc, before) select id, doc from doc_1_1 where id = $1'],
  [/ends in id/, 'select seq, id from smalt_outbox where seq > $1 limit $2'],
  [/never changes/, 'update doc_1_1 as stored set version = $1, id = $2 where stored.id = $3'],
  [/found by id/, 'delete from doc_1_1 as stored where stored.id = $1 returning stored.doc'],
  [/ends in id/, 'select id, doc from doc_1_1 where version = $1'],
  [/ends in id/, 'with r1 as (select r1.id from doc_2_1 r1 order by id) select id, doc from doc_1_1'],
  [/ends in id/, 'declare piecewise no scroll cursor for select id, doc from doc_1_1 order by version'],
  [/ends in id/, 'select id, doc from doc_1_1 where exists (select 1 from unnest($1) order by id)'],
  [/distributed by their key/, 'create table past_1(id text, follows bigint, primary key (id, follows))'],
  [/unique in what/, 'create table past_1(id text, follows bigint, primary key (follows, id))'],
  [/one place/, 'insert into past_1(id, doc) select id, doc from doc_1_1 where id = $1'],
  [/altered only to get columns/, 'truncate doc_1_1'],
  [/altered only to get columns/, 'alter table doc_1_1 add column x text'],
]

for (const [rule, text] of FORBIDDEN) {
  test(`sql: the check finds fault with "${text.slice(0, 70)}"`, () => {
    const found = findingsIn([{ connection: 0, text }])
    assert.ok(
      found.some((finding) => rule.test(finding.rule)),
      `only ${JSON.stringify(found)}`,
    )
  })
}

/** Found on a real cluster; test/citus holds what is sent there to these rules. */
const FORBIDDEN_ON_CLUSTER: readonly (readonly [rule: RegExp, text: string])[] = [
  [
    /joins two functions/,
    'select id, doc from doc_1_1_c order by ((select sum(field.weight) from unnest(string_to_array(c13, $1), $2::bigint[]) as field(part, weight), unnest($3::text[]) as piece(text))) desc nulls last, id',
  ],
  [
    /by values/,
    'insert into doc_1_1_c(id, doc) select id, doc from unnest($1::text[], $2::text[]) as new(id, doc)',
  ],
  [
    /by values/,
    'with gone as (delete from doc_1_1_c as stored where id = $1 returning stored.id) insert into past_1(id) select id from gone',
  ],
  [
    /documents of one entity/,
    `with r1 as (select r1.id, doc from doc_2_1_c r1) select id, (select string_agg(r1.doc, ',') from r1) from doc_1_1_c order by id`,
  ],
  [
    /correlated sub-select of a union/,
    `with r4 as (select r2.id, c1 from doc_1_1_c r2 union all select r3.id, c1 from past_1 r3)
     select id, (select string_agg(r4.id, ',') from r4 where r4.c1 = doc_1_1_c.id) from doc_1_1_c order by id`,
  ],
  [/backend is an integer/, 'select pg_cancel_backend($1)'],
]

for (const [rule, text] of FORBIDDEN_ON_CLUSTER) {
  test(`sql: the check for clusters finds fault with "${text.slice(0, 60)}"`, () => {
    const found = findingsIn([{ connection: 0, text }], CLUSTER_RULES)
    assert.ok(
      found.some((finding) => rule.test(finding.rule)),
      `only ${JSON.stringify(found)}`,
    )
  })
}

test('sql: every rule is one that some text breaks', () => {
  const broken = new Set(
    FORBIDDEN.flatMap(([, text]) => findingsIn([{ connection: 0, text }]).map(({ rule }) => rule)),
  )
  assert.deepEqual(
    [...RULES.map(({ name }) => name), DISTRIBUTED].filter((name) => !broken.has(name)),
    [],
  )
})
