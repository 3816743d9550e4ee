/** Rows of watched changes, as parts of the statements that make the changes: they are there together or not at all. */
import type { OutboxEntry } from '../../../plan/plan.ts'
import { holderOf } from '../../events.ts'
import type { Statement } from '../../sql/fragment.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'

/** What is told of the change of one document. */
export interface CapturedChange {
  /** The key of the document's row. */
  readonly key: string
  /** `_id` as text. */
  readonly document: string
  readonly outboxEntries: readonly OutboxEntry[]
}

const INTO = `insert into smalt_outbox(
  doc, id, entity, hook, operation, document, at, seen, version, details, before, after, holder)`

/** Of one document that is inserted as `$1`, in version `$2`, with the text `$4`. */
export function outboxInsert({ document, outboxEntries }: CapturedChange, used: number): Statement {
  let next = used + 1
  const values: string[] = [document]
  const place = (value: string): string => {
    values.push(value)
    return `$${++next}`
  }
  const rows = outboxEntries.map((outboxEntry, i) => {
    const [id, entity, hook, operation, at, details] = fieldsOf(outboxEntry).map(place)
    const head = `$1, ${id}, ${entity}, ${hook}, ${operation}, $${used + 1}, ${at}, null, $2, ${details}`
    const holder = holderIn(outboxEntries, i)
    return holder === '' ? `(${head}, null, $4, null)` : `(${head}, null, null, ${place(holder)})`
  })
  return { text: `told as (${INTO} values ${rows.join(', ')})`, values }
}

/** Of documents that are inserted as the list `$1`, in version `$2`, with the texts `$4`. */
export function outboxInserts(captured: readonly CapturedChange[], used: number): Statement {
  const { list, values } = listOf(captured, used)
  const text = `told as (${INTO}
    select told.doc, told.id, told.entity, told.hook, told.operation, told.document, told.at, null, $2::bigint,
      told.details, null, ${held('new.doc')}, ${HOLDER}
    from ${list}, unnest($1::text[], $4::text[]) as new(id, doc) where new.id = told.doc)`
  return { text, values }
}

/** Of the document that `written` gives the key of: it was `$2` and is `$3`, with the text `$5`. */
export function outboxUpdate(captured: CapturedChange, before: string, used: number): Statement {
  const states = {
    seen: '$2::bigint',
    version: '$3::bigint',
    before: `$${used + 1}::text`,
    after: '$5::text',
  }
  const { text, values } = outboxOfOne(captured, { ...states, from: 'written' }, used + 1)
  return { text, values: [before, ...values] }
}

/** Of the document that `gone` gives the text and version of. */
export function outboxDelete(captured: CapturedChange, used: number): Statement {
  const states = { seen: 'gone.version', version: 'null', before: 'gone.doc', after: 'null' }
  return outboxOfOne(captured, { ...states, from: 'gone' }, used)
}

/** Where the states of a document come from, in SQL. */
interface States {
  readonly seen: string
  readonly version: string
  readonly before: string
  readonly after: string
  readonly from: string
}

/** A single event is told as it is, which is quicker than a list of one. */
function outboxOfOne(
  captured: CapturedChange,
  { seen, version, before, after, from }: States,
  used: number,
): Statement {
  const [outboxEntry, ...more] = captured.outboxEntries
  if (more.length > 0) {
    const { list, values } = listOf([captured], used)
    const text = `told as (${INTO}
      select told.doc, told.id, told.entity, told.hook, told.operation, told.document, told.at, ${seen}, ${version},
        told.details, ${held(before)}, ${held(after)}, ${HOLDER}
      from ${from}, ${list})`
    return { text, values }
  }
  const values = [captured.key, captured.document, ...fieldsOf(outboxEntry!)]
  const [doc, document, id, entity, hook, operation, at, details] = values.map((_, i) => `$${used + i + 1}`)
  const text = `told as (${INTO}
    select ${doc}, ${id}, ${entity}, ${hook}, ${operation}, ${document}, ${at}::bigint, ${seen}, ${version},
      ${details}, ${before}, ${after}, null
    from ${from})`
  return { text, values }
}

/** A document that went with an earlier statement. */
export interface Gone extends CapturedChange {
  readonly version: number
  readonly text: string
}

export function goneStatement(gone: readonly Gone[]): Statement {
  const { list, values } = listOf(gone, 3)
  const text = `${INTO}
    select told.doc, told.id, told.entity, told.hook, told.operation, told.document, told.at, old.version, null,
      told.details, ${held('old.text')}, null, ${HOLDER}
    from ${list}, unnest($1::text[], $2::bigint[], $3::text[]) as old(id, version, text) where old.id = told.doc`
  const own = [
    gone.map(({ key }) => key),
    gone.map(({ version }) => String(version)),
    gone.map((each) => each.text),
  ]
  return { text, values: [...own.map(arrayText), ...values] }
}

function listOf(
  captured: readonly CapturedChange[],
  used: number,
): { readonly list: string; readonly values: readonly string[] } {
  const rows = captured.flatMap(({ key, document, outboxEntries }) =>
    outboxEntries.map((outboxEntry, i) => [
      key,
      document,
      ...fieldsOf(outboxEntry),
      holderIn(outboxEntries, i),
    ]),
  )
  const types = ['text', 'text', 'text', 'text', 'text', 'text', 'bigint', 'text', 'text']
  const arrays = types.map((type, i) => `$${used + i + 1}::${type}[]`)
  return {
    list: `unnest(${arrays.join(', ')}) as told(doc, document, id, entity, hook, operation, at, details, holder)`,
    values: types.map((_, i) => arrayText(rows.map((row) => row[i]!))),
  }
}

/** The id of the event that holds the documents for this one; empty where it does so itself. */
function holderIn(outboxEntries: readonly OutboxEntry[], i: number): string {
  const holder = holderOf(i)
  return holder === i ? '' : outboxEntries[holder]!.id
}

const HOLDER = `case when told.holder <> '' then told.holder end`

function held(text: string): string {
  return text === 'null' ? text : `case when told.holder = '' then ${text} end`
}

function fieldsOf({ id, entity, hook, operation, at, details }: OutboxEntry): readonly string[] {
  return [id, entity, hook, operation, String(at), details]
}
