/** The rules for SQL that runs alike on one PostgreSQL server and on a cluster, as checks of recorded texts. */
import type { Recorded } from './record-statements.ts'

export interface Finding {
  readonly rule: string
  readonly text: string
}

/** A statement that may return several rows in any order, and why nobody minds. */
export const UNORDERED: readonly { readonly shape: RegExp; readonly reason: string }[] = [
  { shape: /^select count\(\*\) from/, reason: 'one row' },
  {
    shape:
      /^select (?:[^()]*(?:\(?doc::json ->> ''\)?[^()]*)?|id, version, case when octet_length\(doc\) <= \d+ then doc end, paths) from doc_\d+_\d+(?:_c)? where id = \$1$/,
    reason: 'one row',
  },
  { shape: /where id = \$1 for update$/, reason: 'one row' },
  { shape: /^select 1 from doc_\d+_\d+(?:_c)? limit 1$/, reason: 'only whether there is a row' },
  {
    shape:
      /^select id, version, case when octet_length\(doc\) <= \d+ then doc end, paths from doc_\d+_\d+(?:_c)? where id = any\(\$1\)$/,
    reason: 'rows are matched by id',
  },
  {
    shape: /^select key, doc from claim_\d+ where key = any\(\$1(?:::text\[\])?\)$/,
    reason: 'rows are matched by key',
  },
  { shape: /^select min\(seq\) from smalt_outbox$/, reason: 'one row' },
  { shape: /^select max\(version\) from (?:doc_\d+_\d+(?:_c)?|past_\d+)$/, reason: 'one row' },
  {
    shape: /^select doc, id, entity, seen, version, at from smalt_outbox where seq is null /,
    reason: 'they are put in order afterwards',
  },
]

interface Rule {
  readonly name: string
  /** Of a text in lower case, its white space even and its literals empty. */
  readonly breaks: (bare: string) => boolean
}

const onDocuments =
  (breaks: Rule['breaks']): Rule['breaks'] =>
  (bare) =>
    isOnDocuments(bare) && breaks(bare)

/** Locks of clients are in a table of the coordinator; its rows, which have expired, are deleted in no order. */
const SWEEP_OF_LOCKS = /^delete from smalt_lock where .* for update skip locked\)/

export const RULES: readonly Rule[] = [
  { name: 'document tables have no unique index', breaks: (bare) => /create unique index/.test(bare) },
  {
    name: 'document tables are unique in what they are distributed by and in nothing else',
    breaks: onDocuments(
      (bare) =>
        bare.startsWith('create table') && (/\bunique\b|\bexclude\b/.test(bare) || keyOf(bare) === undefined),
    ),
  },
  { name: 'no foreign keys', breaks: (bare) => /\breferences\b|\bforeign key\b/.test(bare) },
  {
    name: 'no triggers, rules or inheritance',
    breaks: (bare) => /\btrigger\b|create (?:or replace )?rule|\binherits\b/.test(bare),
  },
  {
    // locks are on the coordinator, whose clock decides
    name: 'on conflict computes without functions, except for locks',
    breaks: (bare) =>
      /on conflict.*do update/.test(bare) &&
      !bare.startsWith('insert into smalt_lock') &&
      functionsOf(bare.slice(bare.indexOf('do update'))).length > 0,
  },
  {
    name: 'writes of documents call nothing but unnest',
    breaks: onDocuments((bare) => isWrite(bare) && functionsOf(bare).some((name) => name !== 'unnest')),
  },
  {
    name: 'writes of documents convert parameters only, never columns',
    breaks: onDocuments(
      (bare) => isWrite(bare) && /(?<!\$\d{1,5}|\(\$\d{1,5}::text(?:\[\])?\))::|\bcast\b/.test(bare),
    ),
  },
  {
    name: 'statements on documents call no function that is unknown here',
    breaks: onDocuments((bare) => !isSetup(bare) && functionsOf(bare).some((name) => !isKnownFunction(name))),
  },
  {
    name: 'statements on documents do not ask for the time',
    breaks: onDocuments((bare) => /\bcurrent_\w+|\blocaltime(?:stamp)?\b|\bnow\b/.test(bare)),
  },
  {
    name: 'locks one document at a time, by id',
    breaks: (bare) =>
      /\bfor (?:no key )?(?:update|share)\b|\bfor key share\b/.test(bare) &&
      !bare.endsWith(' where id = $1 for update') &&
      !SWEEP_OF_LOCKS.test(bare),
  },
  {
    name: 'no skip locked, no nowait',
    breaks: (bare) => /\bskip locked\b|\bnowait\b/.test(bare) && !SWEEP_OF_LOCKS.test(bare),
  },
  { name: 'no merge', breaks: (bare) => /\bmerge\b/.test(bare) },
  { name: 'no physical rows', breaks: (bare) => /\bctid\b|\bxmin\b|\bxmax\b|\btableoid\b/.test(bare) },
  { name: 'no recursion', breaks: (bare) => /\bwith recursive\b/.test(bare) },
  { name: 'no grouping sets', breaks: (bare) => /\brollup\b|\bcube\b|\bgrouping sets\b/.test(bare) },
  { name: 'no lock timeout', breaks: (bare) => /\block_timeout\b/.test(bare) },
  { name: 'no table locks', breaks: (bare) => /^lock\b/.test(bare) },
  {
    name: 'no two-phase commit of our own',
    breaks: (bare) => /\bprepare transaction\b|\bcommit prepared\b/.test(bare),
  },
  { name: 'no serializable transactions', breaks: (bare) => /\bserializable\b/.test(bare) },
  {
    name: 'no values that the engine numbers',
    breaks: (bare) => /\b(?:big|small)?serial\b|\bidentity\b|\bnextval\b/.test(bare),
  },
  {
    name: 'a statement that writes names the documents of one entity',
    breaks: (bare) => isWrite(bare) && numbersOf(bare).size > 1,
  },
  {
    name: 'a statement reads documents in one place, and one that writes them reads none',
    breaks: onDocuments((bare) => {
      if (isSetup(bare)) return false
      return isWrite(bare)
        ? readsOf(bare) > 0
        : readsOf(outermost(bare)) > 1 || /\bfrom doc_\d+_\d+(?:_c)?(?: r\d+)?,/.test(bare)
    }),
  },
  {
    name: 'a sub-select of documents gives them a name of their own and names no row around it',
    breaks: onDocuments((bare) => !isWrite(bare) && subSelectsIn(bare).some(isCorrelated)),
  },
  {
    name: 'a statement on documents reads nothing else but parts of the row and parameters',
    breaks: onDocuments((bare) => {
      const isInFront = (name: string): boolean => bare.includes(` ${name} as (select `)
      return !isSetup(bare) && !sourcesOf(bare).every((name) => isOwnSource(name) || isInFront(name))
    }),
  },
  { name: 'no joins', breaks: onDocuments((bare) => /\bjoin\b|\blateral\b/.test(bare)) },
  {
    name: 'documents and metadata do not meet in a statement',
    breaks: onDocuments((bare) => /\bsmalt_(?!fold_|outbox)/.test(bare)),
  },
  {
    name: 'the id of a document never changes',
    breaks: onDocuments((bare) => bare.startsWith('update') && /[\s,](?:id|key) =/.test(changesIn(bare))),
  },
  {
    name: 'what a write returns is found by id',
    breaks: onDocuments((bare) => bare.includes(' returning ') && !/ returning (?:stored\.)?id\b/.test(bare)),
  },
  {
    name: 'what may be several documents comes in the order of a key that ends in id',
    breaks: onDocuments((bare) => {
      const select = withoutFront(
        bare.replace(/^declare \w+ no scroll cursor for |^explain \(format json\) /, ''),
      )
      if (!select.startsWith('select') || UNORDERED.some(({ shape }) => shape.test(select))) return false
      return !/ order by (?:(?:.*, )?id(?: desc)?|id, follows|seq)(?: limit (?:\$\d+|500))?(?: offset \$\d+)?$/.test(
        outermost(select),
      )
    }),
  },
  {
    name: 'tables of documents are created, renamed, dropped, and altered only to get columns',
    breaks: onDocuments(
      (bare) =>
        /^(?:alter|truncate)/.test(bare) &&
        !/^alter table doc_(\d+)_\d+(?:_c)? rename to doc_\1_\d+(?:_c)?$/.test(bare) &&
        // a column without a default, which a cluster adds on all its nodes
        !ADDED_COLUMNS.test(bare) &&
        !/^alter table smalt_outbox add column \w+ text collate "c"$/.test(bare),
    ),
  },
]

const ADDED_COLUMNS =
  /^alter table doc_\d+_\d+_c(?:,? add column c\d+ (?:integer|numeric|text collate "c"|jsonb))+$/

/** What one server answers rightly and Citus does not: wrong answers, lost error codes, or a refusal. */
export const CLUSTER_RULES: readonly Rule[] = [
  {
    name: 'rows are entered by values, because an insert from a select loses the code of its error',
    breaks: onDocuments((bare) => /\binsert into (?!smalt_fill)[^;]*?\)\s*(?:select|with)\b/.test(bare)),
  },
  {
    name: 'a statement reads documents of one entity, because references in one statement give wrong answers',
    breaks: onDocuments((bare) => !isSetup(bare) && numbersOf(bare).size > 1),
  },
  {
    name: 'no correlated sub-select of a union, which is answered shard by shard',
    breaks: onDocuments((bare) => {
      const unions = [...bare.matchAll(/\b(r\d+) as (?=\()/g)]
        .filter(({ index, 0: { length } }) =>
          bare.slice(index + length, closingOf(bare, index + length)).includes(' union all '),
        )
        .map(([, name]) => name!)
      return subSelectsIn(bare).some((select) => unions.some((name) => select.includes(` from ${name} `)))
    }),
  },
  {
    name: 'no sub-select joins two functions, which ends the server when it sorts documents of several shards',
    breaks: onDocuments((bare) =>
      / order by .*\bunnest\([^)]*(?:\([^)]*\)[^)]*)*\) as \w+\([^)]*\), unnest\(/.test(bare),
    ),
  },
  {
    name: 'the number of a backend is an integer, or its statement is never cancelled',
    breaks: (bare) => /\bpg_cancel_backend\((?!\$1::integer\))/.test(bare),
  },
]

export function findingsIn(
  recorded: readonly Recorded[],
  rules: readonly Rule[] = RULES,
): readonly Finding[] {
  // many texts differ in nothing that rules look at
  const texts = new Map(recorded.map(({ text }) => [bareOf(text), text]))
  const broken = [...texts].flatMap(([bare, text]) => {
    return rules.filter(({ breaks }) => breaks(bare)).map(({ name }) => ({ rule: name, text }))
  })
  return [...broken, ...undistributed(recorded)]
}

/** The names of the functions that statements on documents call. */
export function functionsIn(recorded: readonly Recorded[]): ReadonlySet<string> {
  const texts = new Set(
    recorded.map(({ text }) => bareOf(text)).filter((bare) => isOnDocuments(bare) && !isSetup(bare)),
  )
  return new Set([...texts].flatMap(functionsOf))
}

const known = new Map<string, string>()

/** A text in lower case with even white space, without what stands in literals. */
export function bareOf(text: string): string {
  const bare = known.get(text) ?? madeBare(text)
  known.set(text, bare)
  return bare
}

function madeBare(text: string): string {
  const isBlock = /^\s*(?:do|create or replace function)\b/i.test(text)
  const bare = isBlock ? text : text.replaceAll(/'(?:[^']|'')*'/g, `''`)
  return bare.toLowerCase().replaceAll(/\s+/g, ' ').trim()
}

/** Watched changes and past versions lie beside their documents. */
const DOCUMENTS = /\b(?:doc_\d+_\d+(?:_c)?|claim_\d+|past_\d+|smalt_outbox)\b/
export const DISTRIBUTED = 'tables of documents are distributed by their key before their transaction ends'

/** Tables that were created and not handed to the cluster, by their primary key, in the same transaction. */
function undistributed(recorded: readonly Recorded[]): readonly Finding[] {
  const findings: Finding[] = []
  for (const texts of Map.groupBy(recorded, ({ connection }) => connection).values()) {
    for (const [i, { text }] of texts.entries()) {
      const bare = bareOf(text)
      const table = /^create table (?:if not exists )?((?:doc|claim|past)_\w+|smalt_outbox)/.exec(bare)?.[1]
      if (table === undefined) continue
      const rest = texts.slice(i + 1).map((later) => later.text)
      const end = rest.findIndex((later) => /^(?:commit|rollback)$/.test(later))
      // In one co-location group, which the first table makes.
      const beside = table === 'smalt_outbox' ? 'none' : 'smalt_outbox'
      const call = `create_distributed_table('${table}', '${keyOf(bare)}', colocate_with => '${beside}')`
      if (!rest.slice(0, Math.max(end, 0)).some((later) => later.includes(call)))
        findings.push({ rule: DISTRIBUTED, text })
    }
  }
  return findings
}

function isOnDocuments(bare: string): boolean {
  return DOCUMENTS.test(bare)
}

/** Makes or changes tables and indexes; what it may hold, rules of their own say. */
function isSetup(bare: string): boolean {
  return /^(?:create table|alter|do|drop|analyze)\b/.test(bare)
}

function isWrite(bare: string): boolean {
  return /^(?:with\b.*\binsert|insert|update|delete)\b/.test(bare)
}

/** The column that is the primary key. */
function keyOf(bare: string): string | undefined {
  const [, alone, first] =
    /\(\s*(id|key) text collate "c" primary key,|primary key \((doc(?=, id)|id(?=, follows)), \w+\)\)$/.exec(
      bare,
    ) ?? []
  return alone ?? first
}

/** Words before an opening parenthesis that call nothing. */
const NO_FUNCTIONS =
  /^(?:and|or|not|in|any|as|when|then|else|case|exists|from|where|select|values|using|explain|on|by|distinct|conflict|new|old|seen|kept|entry|change|array|e\d+|gin|doc_\d+_\d+(?:_c)?|claim_\d+|past_\d+|smalt_outbox)$/

function functionsOf(bare: string): readonly string[] {
  return [...bare.matchAll(/([a-z_][\w.]*)\s*\(/g)]
    .map(([, name]) => name!)
    .filter((name) => !NO_FUNCTIONS.test(name))
}

function isKnownFunction(name: string): boolean {
  return KNOWN_FUNCTIONS.includes(name) || /^smalt_fold_[0-9a-f]{8}$/.test(name)
}

export const PARTS_OF_LANGUAGE = ['coalesce', 'nullif', 'greatest', 'least']

/** All of them immutable: the test asks the server about those that are not part of the language. */
const KNOWN_FUNCTIONS = [
  'unnest',
  'count',
  'string_agg',
  'min',
  'max',
  'left',
  'char_length',
  'octet_length',
  ...PARTS_OF_LANGUAGE,
  'jsonb_typeof',
  'jsonb_array_elements',
  'jsonb_path_query_array',
  'jsonb_path_query_first',
]

/** What stands behind each `from`, `into`, `update` and `using`. */
function sourcesOf(bare: string): readonly string[] {
  const found = bare.replaceAll('is not distinct from', '').replaceAll('for update', '')
  return [...found.matchAll(/\b(?:from|into|update|using|join) ([a-z_]\w*)/g)].map(([, name]) => name!)
}

/** A text without all that stands in parentheses. */
function outermost(bare: string): string {
  const shorter = bare.replaceAll(/\([^()]*\)/g, '')
  return shorter === bare ? bare : outermost(shorter)
}

/** A statement without the sub-selects in front of it. */
function withoutFront(bare: string): string {
  if (!/^with r\d+ as \(/.test(bare)) return bare
  const end = closingOf(bare, bare.indexOf('(')) + 1
  return withoutFront(bare.slice(end).replace(/^, /, 'with ').trim())
}

/** What stands in parentheses that begin with `select`, at every depth. */
function subSelectsIn(bare: string): readonly string[] {
  return [...bare.matchAll(/\(select /g)].map(({ index }) => bare.slice(index + 1, closingOf(bare, index)))
}

/** The place of the parenthesis that closes the one at a place. */
function closingOf(bare: string, opening: number): number {
  let depth = 0
  for (let i = opening; i < bare.length; i++) {
    if (bare[i] === '(') depth++
    if (bare[i] === ')' && --depth === 0) return i
  }
  return bare.length
}

/** Whether documents that a sub-select reads itself are held against rows that are not its own. */
function isCorrelated(select: string): boolean {
  const itself = subSelectsIn(select).reduce((text, inner) => text.replace(inner, ''), select)
  if (!/(?<!distinct )from doc_\d+_\d+(?:_c)?\b/.test(itself)) return false
  if (/(?<!distinct )from doc_\d+_\d+(?:_c)?\b(?! r\d)/.test(itself)) return true
  const names = /\bfrom (?:(?:doc_\d+_\d+(?:_c)?|past_\d+) )?(r\d+)\b|(?:\)|\bordinality) ([er]\d+)\b/g
  const own = new Set([...select.matchAll(names)].map(([, row, other]) => row ?? other))
  return [...select.matchAll(/\b(doc_\d+_\d+(?:_c)?|[er]\d+)\./g)].some(([, name]) => !own.has(name))
}

/** How often documents are read, apart from those that a write changes. */
function readsOf(bare: string): number {
  return [
    ...bare.matchAll(
      /(?<!delete |distinct )\b(?:from|join|using) (?:doc_\d+_\d+(?:_c)?|claim_\d+|past_\d+)\b/g,
    ),
  ].length
}

function isOwnSource(name: string): boolean {
  return DOCUMENTS.test(name) || ['unnest', 'jsonb_array_elements', 'gin', 'written', 'gone'].includes(name)
}

/** The numbers of the collections whose tables a text names. */
function numbersOf(bare: string): ReadonlySet<string> {
  return new Set([...bare.matchAll(/\b(?:doc|claim|past)_(\d+)(?=_|\b)/g)].map(([, no]) => no!))
}

/** What stands between `set` and whatever follows the assignments. */
function changesIn(bare: string): string {
  return / set (.*?)(?: from | where |$)/.exec(bare)?.[0] ?? ''
}
