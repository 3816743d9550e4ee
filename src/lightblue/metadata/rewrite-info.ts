/** Entity info as Lightblue has it → entity info that Smalt accepts, with a note for every change. */
import { type Json, type JsonObject, isArray, isObject, member, sameJson } from '../../base/json/json.ts'
import type { Note } from './note.ts'
import { textMember } from '../text-member.ts'

/** The stores that documents can be loaded into. */
export interface Targets {
  /** The first is the default one. */
  readonly datasources: readonly string[]
  readonly backendOf: (datasource: string) => string
}

interface RewrittenInfo {
  readonly info: JsonObject
  readonly notes: readonly Note[]
}

export function rewriteInfo(info: JsonObject, targets: Targets): RewrittenInfo {
  const entity = textMember(info, 'name')
  const notes: Note[] = []
  const note: Noting = (kind, what, advice) =>
    void notes.push({ kind, entity, what, ...(advice !== undefined && { advice }) })
  const { indexes, hooks, _id, ...rest } = info
  return {
    info: {
      ...rest,
      datastore: datastoreFor(info, targets, note),
      ...(isArray(indexes) && { indexes: indexes.map((each) => rewriteIndex(each, note)) }),
      ...(isArray(hooks) && { hooks: hooks.flatMap((each) => rewriteHook(each, note)) }),
    },
    notes,
  }
}

type Noting = (kind: Note['kind'], what: string, advice?: string) => void

function datastoreFor(info: JsonObject, { datasources, backendOf }: Targets, note: Noting): JsonObject {
  const datastore = member(info, 'datastore')
  const backend = textMember(datastore, 'backend')
  const named = textMember(datastore, 'datasource')
  const datasource = datasources.includes(named) ? named : datasources[0]!
  const given = textMember(datastore, 'collection')
  const collection = COLLECTION.test(given) ? given : textMember(info, 'name')
  const rewritten = { backend: backendOf(datasource), datasource, collection }
  if (sameJson(datastore, rewritten)) return rewritten
  note('rewritten', `its documents are stored in the datasource ${datasource}, collection ${collection}`)
  if (backend !== '' && backend !== 'mongo' && backend !== rewritten.backend) {
    note(
      'differs',
      `its backend was ${backend}, whose documents are not in a dump of MongoDB`,
      'import its documents with the address of a running Lightblue as --data',
    )
  }
  return rewritten
}

const COLLECTION = /^[A-Za-z_][A-Za-z0-9_-]*$/

function rewriteIndex(value: Json, note: Noting): Json {
  if (!isObject(value)) return value
  const { unique, fields, partialFilterExpression: filter, ...rest } = value
  const name = textMember(value, 'name') || fieldNames(fields)
  const isUnique = unique === true || unique === 'true' || unique === 1
  if (filter !== undefined && filter !== null) {
    note(
      'differs',
      isUnique
        ? `the unique index ${name} covered only some documents; it is now an index that is not unique`
        : `the index ${name} covered only some documents; it now covers all`,
      isUnique ? 'make the index unique if that holds for all documents' : undefined,
    )
  }
  return {
    ...rest,
    unique: isUnique && (filter === undefined || filter === null),
    ...(isArray(fields) && { fields: fields.map((each) => rewriteKey(each, name, note)) }),
  }
}

/** Lightblue takes every direction but `$desc` for ascending. */
function rewriteKey(value: Json, index: string, note: Noting): Json {
  if (!isObject(value)) return value
  const { dir } = value
  if (dir === undefined || dir === null || dir === '$asc' || dir === '$desc') return value
  note('rewritten', `the direction of the index ${index} is "$asc", as Lightblue read it`)
  return { ...value, dir: '$asc' }
}

function fieldNames(fields: Json | undefined): string {
  return isArray(fields)
    ? `on ${fields.map((each) => textMember(each, 'field')).join(', ')}`
    : 'without fields'
}

const ACTIONS = ['insert', 'update', 'delete']

/** Lightblue ignores actions that it does not know, and hooks without actions. */
function rewriteHook(value: Json, note: Noting): readonly Json[] {
  if (!isObject(value)) return [value]
  const actions = isArray(value['actions']) ? value['actions'] : []
  const known = ACTIONS.filter((each) => actions.includes(each))
  const name = textMember(value, 'name')
  if (known.length === 0) {
    note('rewritten', `the hook ${name} is left out: it has no action on which it would run`)
    return []
  }
  if (known.length < actions.length)
    note('rewritten', `the hook ${name} keeps only the actions ${known.join(', ')}`)
  return [{ ...value, actions: known }]
}
