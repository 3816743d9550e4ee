/** The references between entities, as a tree below each root. */
import { ServiceError } from '../base/errors.ts'
import type { JsonObject } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { everyField } from './documents/field-document.ts'
import type { SchemaDocument } from './documents/schema-document.ts'

/**
 * Limits the output: entities that all refer to each other have an exponential number of paths between them.
 */
const MAX_NODES = 10_000
const MAX_LEVELS = 500

/** `schemaOf` returns an entity's default version, or undefined without one. */
export function dependencyTrees(
  roots: readonly SchemaDocument[],
  schemaOf: (entity: string) => SchemaDocument | undefined,
): readonly JsonObject[] {
  let nodes = 0
  const above = new Set<string>()
  const tree = (name: string, schema: SchemaDocument | undefined): JsonObject => {
    if (++nodes > MAX_NODES) throw tooLarge(`more than ${MAX_NODES} nodes`)
    // A cycle ends at the first repeated entity.
    if (!schema || above.has(name)) return { name }
    if (above.size === MAX_LEVELS) throw tooLarge(`more than ${MAX_LEVELS} levels`)
    above.add(name)
    const children = referredBy(schema).map((each) => tree(each, schemaOf(each)))
    above.delete(name)
    return children.length === 0 ? { name } : { name, dependencies: children }
  }
  return roots.map((schema) => tree(schema.name, schema))
}

const referredBy = memoized((schema: SchemaDocument): readonly string[] => {
  const names = new Set<string>()
  for (const { field } of everyField(schema.fields)) if (field.kind === 'reference') names.add(field.entity)
  return [...names]
})

function tooLarge(what: string): ServiceError {
  return new ServiceError('crud:LimitExceeded', `the graph has ${what}; ask for one entity`)
}
