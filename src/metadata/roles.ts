/**
 * Lists where each role is named: the access lists as declared, without inheritance and without row rules.
 */
import type { JsonObject } from '../base/json/json.ts'
import { compareText } from '../base/text.ts'
import { type RoleList, roleOf } from '../schema/field.ts'
import { everyField } from './documents/field-document.ts'
import type { SchemaDocument } from './documents/schema-document.ts'

const OPERATIONS = ['insert', 'find', 'update', 'delete'] as const
type Operation = (typeof OPERATIONS)[number]

/** One record per role, sorted by role; paths in document order. */
export function roleRecords(schemas: readonly SchemaDocument[]): readonly JsonObject[] {
  const records = new Map<string, Map<Operation, string[]>>()
  const add = (operation: Operation, list: RoleList, path: string): void => {
    for (const role of new Set(list.map(roleOf))) {
      const record = records.get(role) ?? new Map<Operation, string[]>()
      records.set(role, record)
      const paths = record.get(operation)
      if (paths) paths.push(path)
      else record.set(operation, [path])
    }
  }
  for (const schema of schemas) {
    for (const operation of OPERATIONS) add(operation, schema.access[operation], schema.name)
    for (const { path, field } of everyField(schema.fields)) {
      for (const operation of ['insert', 'find', 'update'] as const) {
        add(operation, field.access[operation], `${schema.name}.${path}`)
      }
    }
  }
  return [...records]
    .sort(([a], [b]) => compareText(a, b))
    .map(([role, paths]) => ({ role, ...recordOf(paths) }))
}

function recordOf(paths: ReadonlyMap<Operation, readonly string[]>): JsonObject {
  const named = OPERATIONS.filter((operation) => paths.has(operation))
  return Object.fromEntries(named.map((operation) => [operation, paths.get(operation)!]))
}
