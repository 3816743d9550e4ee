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
    shape: /^select [^()]*(?:\(?doc::json ->> ''\)?[^()]*)? from doc_\d+_\d+ where id = \$1$/,
    reason: 'one row',
  },
  { shape: /where id = \$1 for update$/, reason: 'one row' },
  { shape: /^select 1 from doc_\d+_\d+ limit 1$/, reason: 'only whether there is a row' },
  {
    shape: /^select id, version, doc(?:, paths)? from doc_\d+_\d+ where id = any\(\$1\)$/,
    reason: 'rows are matched by id',
  },
  {
    shape: /^select key, doc from claim_\d+ where key = any\(\$1\)$/,
    reason: 'rows are matched by key',
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
    name: 'on conflict computes without functions',
    breaks: (bare) =>
      /on conflict.*do update/.test(bare) && functionsOf(bare.slice(bare.indexOf('do update'))).length > 0,
  },
  {
    name: 'writes of documents call nothing but unnest',
    breaks: onDocuments((bare) => isWrite(bare) && functionsOf(bare).some((name) => name !== 'unnest')),
  },
  {
    name: 'writes of documents convert parameters only, never columns',
    breaks: onDocuments((bare) => isWrite(bare) && /(?<!\$\d{1,5})::|\bcast\b/.test(bare)),
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
      !bare.endsWith(' where id = $1 for update'),
  },
  { name: 'no skip locked, no nowait', breaks: (bare) => /\bskip locked\b|\bnowait\b/.test(bare) },
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
  { name: 'a statement names the documents of one entity', breaks: (bare) => numbersOf(bare).size > 1 },
  {
    name: 'a statement reads documents in one place, and one that writes them reads none',
    breaks: onDocuments((bare) => !isSetup(bare) && readsOf(bare) > (isWrite(bare) ? 0 : 1)),
  },
  {
    name: 'a statement on documents reads nothing else but parts of the row and parameters',
    breaks: onDocuments((bare) => !isSetup(bare) && !sourcesOf(bare).every(isOwnSource)),
  },
  { name: 'no joins', breaks: onDocuments((bare) => /\bjoin\b|\blateral\b/.test(bare)) },
  {
    name: 'documents and metadata do not meet in a statement',
    breaks: onDocuments((bare) => /\bsmalt_(?!fold_)/.test(bare)),
  },
  {
    name: 'the id of a document never changes',
    breaks: onDocuments((bare) => bare.startsWith('update') && /[\s,](?:id|key) =/.test(changesIn(bare))),
  },
  {
    name: 'what a write returns is told by id',
    breaks: onDocuments((bare) => bare.includes(' returning ') && !/ returning (?:stored\.)?id\b/.test(bare)),
  },
  {
    name: 'what may be several documents comes in the order of a key that ends in id',
    breaks: onDocuments((bare) => {
      const select = bare.replace(/^declare \w+ no scroll cursor for |^explain \(format json\) /, '')
      if (!select.startsWith('select') || UNORDERED.some(({ shape }) => shape.test(select))) return false
      return !/ order by (?:.*, )?id(?: limit (?:\$\d+|500))?(?: offset \$\d+)?$/.test(select)
    }),
  },
  {
    name: 'tables of documents are created, renamed, dropped and never altered',
    breaks: onDocuments(
      (bare) =>
        /^(?:alter|truncate)/.test(bare) && !/^alter table doc_(\d+)_\d+ rename to doc_\1_\d+$/.test(bare),
    ),
  },
]

export function findingsIn(recorded: readonly Recorded[]): readonly Finding[] {
  const texts = [...new Set(recorded.map(({ text }) => text))]
  const broken = texts.flatMap((text) => {
    const bare = bareOf(text)
    return RULES.filter(({ breaks }) => breaks(bare)).map(({ name }) => ({ rule: name, text }))
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

/** A text in lower case with even white space, without what stands in literals. */
export function bareOf(text: string): string {
  const isBlock = /^\s*(?:do|create or replace function)\b/i.test(text)
  const bare = isBlock ? text : text.replaceAll(/'(?:[^']|'')*'/g, `''`)
  return bare.toLowerCase().replaceAll(/\s+/g, ' ').trim()
}

const DOCUMENTS = /\b(?:doc_\d+_\d+|claim_\d+)\b/
export const DISTRIBUTED = 'tables of documents are distributed by their key before their transaction ends'

/** Tables that were created and not handed to the cluster, by their primary key, in the same transaction. */
function undistributed(recorded: readonly Recorded[]): readonly Finding[] {
  const findings: Finding[] = []
  for (const texts of Map.groupBy(recorded, ({ connection }) => connection).values()) {
    for (const [i, { text }] of texts.entries()) {
      const bare = bareOf(text)
      const table = /^create table (?:if not exists )?((?:doc|claim)_\w+)/.exec(bare)?.[1]
      if (table === undefined) continue
      const rest = texts.slice(i + 1).map((later) => later.text)
      const end = rest.findIndex((later) => /^(?:commit|rollback)$/.test(later))
      const call = `create_distributed_table('${table}', '${keyOf(bare)}')`
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
  return /\(\s*(id|key) text collate "c" primary key,/.exec(bare)?.[1]
}

/** Words before an opening parenthesis that call nothing. */
const NO_FUNCTIONS =
  /^(?:and|or|not|in|any|as|when|then|else|case|exists|from|where|select|values|using|explain|on|by|distinct|conflict|new|old|seen|e\d+|gin|doc_\d+_\d+|claim_\d+)$/

function functionsOf(bare: string): readonly string[] {
  return [...bare.matchAll(/([a-z_][\w.]*)\s*\(/g)]
    .map(([, name]) => name!)
    .filter((name) => !NO_FUNCTIONS.test(name))
}

function isKnownFunction(name: string): boolean {
  return KNOWN_FUNCTIONS.includes(name) || /^smalt_fold_[0-9a-f]{8}$/.test(name)
}

/** All of them immutable: the test asks the server. `coalesce` and `nullif` are part of the language. */
const KNOWN_FUNCTIONS = [
  'unnest',
  'count',
  'min',
  'max',
  'left',
  'coalesce',
  'nullif',
  'jsonb_typeof',
  'jsonb_array_elements',
  'jsonb_path_query_array',
]

/** What stands behind each `from`, `into`, `update` and `using`. */
function sourcesOf(bare: string): readonly string[] {
  const found = bare.replaceAll('is not distinct from', '').replaceAll('for update', '')
  return [...found.matchAll(/\b(?:from|into|update|using|join) ([a-z_]\w*)/g)].map(([, name]) => name!)
}

/** How often documents are read, apart from those that a write changes. */
function readsOf(bare: string): number {
  return [...bare.matchAll(/(?<!delete )\b(?:from|join|using) (?:doc_\d+_\d+|claim_\d+)\b/g)].length
}

function isOwnSource(name: string): boolean {
  return DOCUMENTS.test(name) || ['unnest', 'jsonb_array_elements', 'gin'].includes(name)
}

/** The numbers of the collections whose tables a text names. */
function numbersOf(bare: string): ReadonlySet<string> {
  return new Set([...bare.matchAll(/\b(?:doc|claim)_(\d+)(?:_\d+)?\b/g)].map(([, no]) => no!))
}

/** What stands between `set` and whatever follows the assignments. */
function changesIn(bare: string): string {
  return / set (.*?)(?: from | where |$)/.exec(bare)?.[0] ?? ''
}
