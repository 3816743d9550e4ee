/** Which entities refer to which, as a tree below each root. */
import { ServiceError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { everyField } from './field-document.ts'
import type { SchemaDocument } from './schema-document.ts'

/** Entities that all refer to each other have more ways between them than anyone could read. */
const MOST_NODES = 10_000

/** `schemaOf` gives an entity's default version, or undefined when it has none. */
export function dependencyTrees(
  roots: readonly SchemaDocument[],
  schemaOf: (entity: string) => SchemaDocument | undefined,
): readonly JsonObject[] {
  let nodes = 0
  const tree = (name: string, schema: SchemaDocument | undefined, above: readonly string[]): JsonObject => {
    if (++nodes > MOST_NODES) {
      throw new ServiceError(
        'crud:LimitExceeded',
        `the graph has more than ${MOST_NODES} nodes; ask for one entity`,
      )
    }
    // An entity that stands above itself ends the way down.
    if (!schema || above.includes(name)) return { name }
    const children = referredBy(schema).map((each) => tree(each, schemaOf(each), [...above, name]))
    return children.length === 0 ? { name } : { name, dependencies: children }
  }
  return roots.map((schema) => tree(schema.name, schema, []))
}

function referredBy(schema: SchemaDocument): readonly string[] {
  const names = new Set<string>()
  for (const { field } of everyField(schema.fields)) if (field.kind === 'reference') names.add(field.entity)
  return [...names]
}
