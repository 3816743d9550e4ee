/** Checks the references of a version: their queries are valid for their targets, as far as these exist. */
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import { parseQuery } from '../../lang/parse/parse-query.ts'
import { documentScope, referenceScope } from '../../lang/resolve/reference-scope.ts'
import { resolveProjection, resolveQuery, resolveSort } from '../../lang/resolve/resolve.ts'
import { parseSort } from '../../lang/sort.ts'
import type { ReferenceField } from '../../schema/field.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import type { Entity } from '../catalogue.ts'

/** The part of an entity that references to it depend on. */
export interface ReferredEntity {
  readonly defaultVersion: string | undefined
  readonly schemaOf: (version: string) => Schema | undefined
}

export type Referred = (entity: string) => ReferredEntity | undefined

export function referredEntity({ info, versions }: Entity): ReferredEntity {
  return { defaultVersion: info.defaultVersion, schemaOf: (version) => versions.get(version)?.schema() }
}

/** Why a reference is invalid; `what` continues a sentence after the name of the entity. */
interface ReferenceProblem {
  /** Whether the target does not exist yet, which is no reason to refuse the reference. */
  readonly isUndefined?: true
  readonly what: string
  readonly remedy: string
}

export function checkReferences(schema: Schema, referred: Referred): void {
  for (const reference of referencesIn(schema)) {
    const problem = problemOf(schema, reference, referred)
    if (!problem || problem.isUndefined) continue
    const { path, entity } = reference
    const message = `the field "${path}" refers to "${entity}", ${problem.what}; ${problem.remedy}`
    throw new ServiceError('metadata:InvalidReference', message, { context: `fields/${path}` })
  }
}

export function referencesIn({ root }: Schema): readonly ReferenceField[] {
  return [...allFields(root.fields)].filter((field) => field.kind === 'reference')
}

/** Undefined when the reference is valid. */
export function problemOf(
  schema: Schema,
  reference: ReferenceField,
  referred: Referred,
): ReferenceProblem | undefined {
  const target = targetOf(schema, reference, referred)
  return 'what' in target ? target : problemWith(schema, reference, target)
}

/** The version that the reference means, or the reason why there is none. */
function targetOf(
  schema: Schema,
  { entity, versionValue }: ReferenceField,
  referred: Referred,
): Schema | ReferenceProblem {
  // Within a request, all documents of an entity are read in one version; a reference to its own entity means
  // that version.
  if (entity === schema.entity && (versionValue ?? schema.version) === schema.version) return schema
  const found = referred(entity)
  if (!found) return { isUndefined: true, what: 'which does not exist', remedy: 'define that entity' }
  const version = versionValue ?? found.defaultVersion
  if (version === undefined) {
    const remedy = 'name a version ("versionValue"), or give that entity a default version'
    return { isUndefined: true, what: 'which has no default version', remedy }
  }
  const target = found.schemaOf(version)
  if (target && target.status !== 'disabled') return target
  const remedy = 'name one that is in use ("versionValue")'
  if (target) return { what: `of which version ${version} is disabled`, remedy }
  return { isUndefined: true, what: `of which version ${version} does not exist`, remedy }
}

/** Undefined when the reference is valid for this version of its target. */
export function problemWith(
  schema: Schema,
  reference: ReferenceField,
  target: Schema,
): ReferenceProblem | undefined {
  const { query, projection, sort } = reference
  const names = `plain names are fields of version ${target.version} of "${target.entity}"`
  const parts: readonly Part[] = [
    {
      definition: query,
      remedy: `${names}, and "$parent.…" are those beside the reference`,
      check: (value) =>
        resolveQuery(parseQuery(value, '/query', DEFAULT_LIMITS), referenceScope(schema, reference, target)),
    },
    {
      definition: projection,
      remedy: names,
      check: (value) => resolveProjection(parseProjection(value, '/projection'), documentScope(target)),
    },
    {
      definition: sort,
      remedy: names,
      check: (value) => resolveSort(parseSort(value, '/sort'), documentScope(target)),
    },
  ]
  return parts.map(problemIn).find((problem) => problem !== undefined)
}

interface Part {
  readonly definition: Json | undefined
  readonly remedy: string
  readonly check: (definition: Json) => unknown
}

function problemIn({ definition, remedy, check }: Part): ReferenceProblem | undefined {
  if (definition === undefined || definition === null) return undefined
  try {
    check(definition)
    return undefined
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { what: `but ${error.message}`, remedy }
  }
}
