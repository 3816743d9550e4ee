/** That a value is taken is told to whoever writes it: uniqueness gives away values that the writer may not read. */
import { pointer } from '../../base/json.ts'
import type { Schema } from '../../schema/schema.ts'
import { fieldPointer, trailTo } from '../../schema/trail.ts'
import { isIdIndex } from '../indexes.ts'
import { type Finding, type Subject, listed, mayWrite, quoted, reachTo } from './subject.ts'

export function* uniqueOverHidden(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    const told = new Set<string>()
    for (const unique of uniquesOf(subject, schema)) {
      const key = unique.paths.toSorted().join('\0')
      if (told.has(key)) continue
      told.add(key)
      yield* judged(subject, schema, unique)
    }
  }
}

interface Unique {
  readonly at: string
  readonly paths: readonly string[]
}

/** `_id` is left out: it is made by the service unless a client insists. */
function uniquesOf({ info }: Subject, schema: Schema): readonly Unique[] {
  const declared = info.indexes.flatMap((index, i) => {
    if (!index.unique || isIdIndex(index)) return []
    const paths = index.fields.map(({ field }) => field).filter((path) => trailTo(schema, path))
    return paths.length === 0 ? [] : [{ at: pointer('/entityInfo/indexes', i), paths }]
  })
  const identity = schema.identity.map(({ path }) => path)
  if (identity.length === 0 || identity.join() === '_id') return declared
  const at = `/schema${fieldPointer(identity[0]!)}/constraints/identity`
  return [...declared, { at, paths: identity }]
}

function* judged(subject: Subject, schema: Schema, { at, paths }: Unique): Generator<Finding> {
  const writers = subject.roles.filter((role) =>
    paths.some((path) => mayWrite(subject, schema, [role, path])),
  )
  const reaches = writers.map((role) => ({
    role,
    hidden: paths.filter((path) => reachTo(subject, schema, [role, 'find', path]) === 'no'),
    isRuled: paths.some((path) => reachTo(subject, schema, [role, 'find', path]) === 'where'),
  }))
  const blind = reaches.filter(({ hidden }) => hidden.length > 0)
  if (blind.length > 0) {
    const hidden = [...new Set(blind.flatMap((each) => each.hidden))]
    const who = listed(blind.map(({ role }) => role))
    yield {
      severity: 'warning',
      code: 'unique-over-hidden',
      at,
      version: schema.version,
      msg:
        `${quoted(paths)} must be unique, and ${who} may write there without being allowed to read ` +
        `${quoted(hidden)}: store-crud:Duplicate tells them which values exist; let them read it, keep them ` +
        'from writing it, or do without the uniqueness',
    }
  }
  const ruled = reaches.filter(({ hidden, isRuled }) => hidden.length === 0 && isRuled)
  if (ruled.length === 0) return
  yield {
    severity: 'hint',
    code: 'unique-over-hidden',
    at,
    version: schema.version,
    msg:
      `${quoted(paths)} must be unique among all documents, and ${listed(ruled.map(({ role }) => role))} may read ` +
      'some of them only: store-crud:Duplicate tells of values in the others; if that matters, make the field ' +
      'that the row rule asks about a part of the index',
  }
}
