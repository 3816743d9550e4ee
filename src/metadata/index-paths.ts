/** Completes the paths of declared indexes: Lightblue wrote no `*` for the elements of an array. */
import { pointer } from '../base/json/json.ts'
import type { EntityInfo } from './documents/entity-info.ts'
import type { FieldDocument, FieldDocuments } from './documents/field-document.ts'
import { type Index, type IndexKey, refuseTwins } from './documents/indexes.ts'
import type { SchemaDocument } from './documents/schema-document.ts'
import type { Finding } from './finding.ts'

interface Completed {
  readonly info: EntityInfo
  readonly warnings: readonly Finding[]
}

/** `schemas` contains all versions of the entity. A path that no version has stays as it is written. */
export function withElementSteps(info: EntityInfo, schemas: readonly SchemaDocument[]): Completed {
  const warnings: Finding[] = []
  const complete = (key: IndexKey, at: string): IndexKey => {
    const field = completedPath(key.field, schemas)
    if (field === key.field) return key
    const msg = `the index path "${key.field}" enters an array; it is stored as "${field}"`
    warnings.push({ severity: 'warning', code: 'lightblue-spelling', at: pointer(at, 'field'), msg })
    return { ...key, field }
  }
  const indexes = info.indexes.map((index, i): Index => {
    const at = pointer(pointer('/entityInfo/indexes', i), 'fields')
    return { ...index, fields: index.fields.map((key, j) => complete(key, pointer(at, j))) }
  })
  if (warnings.length === 0) return { info, warnings }
  refuseTwins(indexes, '/entityInfo/indexes')
  return { info: { ...info, indexes }, warnings }
}

function completedPath(path: string, schemas: readonly SchemaDocument[]): string {
  const paths = schemas.flatMap(({ fields }) => completedIn(path.split('.'), fields) ?? [])
  return paths.includes(path) ? path : (paths[0] ?? path)
}

/** Undefined when the version has no such field. */
function completedIn(steps: readonly string[], fields: FieldDocuments): string | undefined {
  const completed: string[] = []
  let inside: FieldDocuments | undefined = fields
  let array: FieldDocument | undefined
  for (const step of steps) {
    if (array?.kind === 'array') {
      completed.push('*')
      inside = array.items.fields
      array = undefined
      if (step === '*') continue
    }
    const field: FieldDocument | undefined = inside?.get(step)
    if (!field) return undefined
    completed.push(step)
    inside = field.kind === 'object' ? field.fields : undefined
    array = field.kind === 'array' ? field : undefined
  }
  return completed.join('.')
}
