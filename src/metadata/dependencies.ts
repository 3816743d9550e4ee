/** The references between entities, as a tree below each root. */
import { ServiceError } from '../base/errors.ts'
import type { JsonObject } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { type ReferenceDocument, everyField } from './documents/field-document.ts'
import type { SchemaDocument } from './documents/schema-document.ts'

/**
 * Limits the output: entities that all refer to each other have an exponential number of paths between them.
 */
const MAX_NODES = 10_000
const MAX_LEVELS = 500

export interface Defined {
  /** The default version of an entity, or undefined without one. */
  readonly schemaOf: (entity: string) => SchemaDocument | undefined
  readonly hasVersion: (entity: string, version: string) => boolean
}

export function dependencyTrees(
  roots: readonly SchemaDocument[],
  { schemaOf, hasVersion }: Defined,
): readonly JsonObject[] {
  let nodes = 0
  const above = new Set<string>()
  const isDefined = ({ entity, versionValue }: Reference): boolean =>
    versionValue === undefined ? schemaOf(entity) !== undefined : hasVersion(entity, versionValue)
  const tree = (name: string, schema: SchemaDocument | undefined, mark: JsonObject = {}): JsonObject => {
    if (++nodes > MAX_NODES) throw tooLarge(`more than ${MAX_NODES} nodes`)
    // A cycle ends at the first repeated entity.
    if (!schema || above.has(name)) return { name, ...mark }
    if (above.size === MAX_LEVELS) throw tooLarge(`more than ${MAX_LEVELS} levels`)
    above.add(name)
    const children = [...referencesOf(schema)].map(([each, references]) =>
      tree(each, schemaOf(each), references.every(isDefined) ? {} : { undefined: true }),
    )
    above.delete(name)
    return children.length === 0 ? { name, ...mark } : { name, ...mark, dependencies: children }
  }
  return roots.map((schema) => tree(schema.name, schema))
}

type Reference = Pick<ReferenceDocument, 'entity' | 'versionValue'>

/** The references of a version by entity, without those to the version itself: these are defined. */
const referencesOf = memoized((schema: SchemaDocument): ReadonlyMap<string, readonly Reference[]> => {
  const references = new Map<string, Reference[]>()
  const own = schema.version.value
  for (const { field } of everyField(schema.fields)) {
    if (field.kind !== 'reference') continue
    const { entity, versionValue } = field
    const known = references.get(entity) ?? []
    const isItself = entity === schema.name && (versionValue ?? own) === own
    if (!isItself) known.push({ entity, versionValue })
    references.set(entity, known)
  }
  return references
})

function tooLarge(what: string): ServiceError {
  return new ServiceError('crud:LimitExceeded', `the graph has ${what}; ask for one entity`)
}
