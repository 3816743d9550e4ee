/**
 * A conflict shows a writer that a value exists, so uniqueness reveals values that the writer may not read.
 */
import { pointer } from '../../base/json/json.ts'
import { NO, WHERE } from '../../schema/reach.ts'
import type { Schema } from '../../schema/schema.ts'
import { fieldPointer, fieldsOnPath } from '../../schema/fields-on-path.ts'
import { isIdIndex } from '../documents/indexes.ts'
import type { Finding } from '../finding.ts'
import { type Subject, listed, quoted, rolesOf, writable } from './subject.ts'

export function* uniqueOverHidden(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    const reported = new Set<string>()
    for (const unique of uniquesOf(subject, schema)) {
      const key = unique.paths.toSorted().join('\0')
      if (reported.has(key)) continue
      reported.add(key)
      yield* judged(subject, schema, unique)
    }
  }
}

interface Unique {
  readonly at: string
  readonly paths: readonly string[]
}

/** `_id` is left out: the service generates it unless a client sets it. */
function uniquesOf({ info }: Subject, schema: Schema): readonly Unique[] {
  const declared = info.indexes.flatMap((index, i) => {
    if (!index.unique || isIdIndex(index)) return []
    const paths = index.fields.map(({ field }) => field).filter((path) => fieldsOnPath(schema, path))
    return paths.length === 0 ? [] : [{ at: pointer('/entityInfo/indexes', i), paths }]
  })
  const identity = schema.identity.map(({ path }) => path)
  if (identity.length === 0 || identity.join() === '_id') return declared
  const at = `/schema${fieldPointer(identity[0]!)}/constraints/identity`
  return [...declared, { at, paths: identity }]
}

function* judged(subject: Subject, schema: Schema, { at, paths }: Unique): Generator<Finding> {
  const { reaches } = subject
  const fields = paths.map((path) => fieldsOnPath(schema, path)!.at(-1)!)
  const writers = fields.map((field) => writable(subject, schema, field))
  const finds = fields.map((field) => reaches.ranks(schema, 'find', field))
  const isWriter = (index: number): boolean => writers.some((each) => each(index))
  const isBlind = (index: number): boolean => isWriter(index) && finds.some((find) => find[index] === NO)
  const blind = rolesOf(reaches, isBlind)
  if (blind.length > 0) {
    const blindOnes = new Set(blind.map(reaches.classOf))
    const hidden = paths.filter((_, i) => blindOnes.values().some((index) => finds[i]![index] === NO))
    const who = listed(blind)
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
  const ruled = rolesOf(
    reaches,
    (index) => isWriter(index) && !isBlind(index) && finds.some((find) => find[index] === WHERE),
  )
  if (ruled.length === 0) return
  yield {
    severity: 'hint',
    code: 'unique-over-hidden',
    at,
    version: schema.version,
    msg:
      `${quoted(paths)} must be unique among all documents, and ${listed(ruled)} may read ` +
      'some of them only: store-crud:Duplicate tells of values in the others; if that matters, make the field ' +
      'that the row rule asks about a part of the index',
  }
}
