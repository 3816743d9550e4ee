/** Warns about what entity info no longer declares: whoever replaces it may have meant to leave the rest as it was. */
import { pointer } from '../base/json/json.ts'
import type { EntityInfo } from './documents/entity-info.ts'
import { type Index, isIdIndex } from './documents/indexes.ts'
import type { Finding } from './finding.ts'

export function droppedBy(before: EntityInfo | undefined, after: EntityInfo): readonly Finding[] {
  if (!before) return []
  return [
    ...droppedCollection(before, after),
    ...droppedIndexes(before, after),
    ...droppedHooks(before, after),
    ...droppedDefault(before, after),
  ]
}

/** Documents stay where they were stored. */
function* droppedCollection(before: EntityInfo, after: EntityInfo): Generator<Finding> {
  const [left, now] = [before, after].map(
    ({ datastore }) => `the collection "${datastore.collection}" of the datasource "${datastore.datasource}"`,
  )
  if (left === now) return
  const msg = `documents are stored in ${now} from now on, and those in ${left} are not found any more; declare "datastore" as it was if it was changed by mistake`
  yield warning('dropped-collection', '/entityInfo/datastore', msg)
}

function* droppedIndexes(before: EntityInfo, after: EntityInfo): Generator<Finding> {
  const kept = new Map(after.indexes.map((index) => [keyOf(index), index]))
  for (const index of before.indexes) {
    if (isIdIndex(index)) continue
    const now = kept.get(keyOf(index))
    if (now && (now.unique || !index.unique)) continue
    const label = index.name === null ? '' : ` "${index.name}"`
    const kind = index.unique ? 'unique index' : 'index'
    const what = `the ${kind}${label} on ${index.fields.map(({ field }) => `"${field}"`).join(', ')}`
    const effect = EFFECTS[index.kind ?? (index.unique ? 'unique' : 'plain')]
    const msg = now
      ? `${what} is declared without "unique"${effect}`
      : `${what} is not declared any more${effect}; declare it again if it was left out by mistake`
    yield warning('dropped-index', '/entityInfo/indexes', msg)
  }
}

const EFFECTS = {
  unique: ', so its values may repeat from now on',
  plain: ', so queries no longer use it',
  text: ', so its text can no longer be searched',
} as const

function keyOf({ kind, name, fields }: Index): string {
  const keys = fields.map(({ field, descending, caseInsensitive }) => [
    // As in the comparison of declared indexes, an array of simple values stands for its elements.
    field.replace(/\.\*$/, ''),
    descending,
    caseInsensitive,
  ])
  // Searches find an index by its name, and may have several on the same fields, in different languages.
  return JSON.stringify([kind, kind === 'text' ? name : null, keys])
}

function* droppedHooks(before: EntityInfo, after: EntityInfo): Generator<Finding> {
  const left = after.hooks.map(({ name }) => name)
  for (const { name } of before.hooks) {
    const place = left.indexOf(name)
    if (place >= 0) {
      left.splice(place, 1)
      continue
    }
    const msg = `the hook "${name}" is not declared any more, so it creates no more events; declare it again if it was left out by mistake`
    yield warning('dropped-hook', '/entityInfo/hooks', msg)
  }
}

function* droppedDefault({ name, defaultVersion }: EntityInfo, after: EntityInfo): Generator<Finding> {
  if (defaultVersion === undefined || after.defaultVersion !== undefined) return
  const msg = `"${name}" has no default version any more (it was ${defaultVersion}), so every request must name a version; declare "defaultVersion" if it was left out by mistake`
  yield warning('dropped-default-version', pointer('/entityInfo', 'defaultVersion'), msg)
}

function warning(code: string, at: string, msg: string): Finding {
  return { severity: 'warning', code, at, msg }
}
