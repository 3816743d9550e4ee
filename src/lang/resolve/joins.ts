/** The references that one request follows. Each is treated as an array of the documents that it joins. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, isArray } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { memoized } from '../../base/memo.ts'
import type { ArrayField, Field, ObjectField, ReferenceField, SimpleField } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import { TYPES } from '../../schema/types.ts'
import { parseProjection } from '../parse/parse-projection.ts'
import { parseQuery } from '../parse/parse-query.ts'
import type { Projection } from '../projection.ts'
import { EVERY_DOCUMENT, type Named, type Query } from '../query.ts'
import { createConditionCount } from '../query-size.ts'
import { type SortKey, parseSort } from '../sort.ts'

/** A followed reference, as an array field with its documents as elements. */
export interface JoinedField extends ArrayField {
  readonly element: ObjectField
  readonly join: Join
  /** The reference in whose documents this one is; absent in the requested document. */
  readonly inside?: JoinedField
}

export interface Join {
  readonly reference: ReferenceField
  /** The schema of the joined documents. */
  readonly schema: Schema
  /** Selects the joined documents. `$parent` is the object that contains the reference. */
  readonly query: Query<Named>
  readonly sort: readonly SortKey<Named>[]
  /** Limits the members that are embedded. */
  readonly projection?: Projection<Named>
}

/** The same in a schema for projections: an ordinary array, with the schema of the documents in it. */
export interface ShownField extends ArrayField {
  readonly shows: Schema
}

/** The number of documents that a reference joins: `orders#` of `orders`. */
export interface CountField extends SimpleField {
  readonly counts: JoinedField
}

export interface Joins {
  /** Set where the definition of a reference is checked. */
  readonly definesReference?: true
  /**
   * Follows a reference. A second call for the same reference returns the same field. A reference whose target is not
   * defined yet is refused.
   */
  readonly join: (reference: ReferenceField, from: Origin) => JoinedField
  /** The same for a projection, which leaves such a reference out: then the result is undefined. */
  readonly joinIfDefined: (reference: ReferenceField, from: Origin) => JoinedField | undefined
  /** The references that were left out, by the documents that contain them. */
  readonly leftOutOf: (inside: JoinedField | undefined) => ReadonlySet<ReferenceField>
  /** To be called wherever the conditions of a reference become part of the request. Throws when there are too many. */
  readonly repeat: (joined: JoinedField) => void
  /** All references followed in the requested document (`undefined`), or in the documents of another reference. */
  readonly followedIn: (inside: JoinedField | undefined) => ReadonlyMap<ReferenceField, JoinedField>
  /** Whether array elements are matched or sorted by its documents. */
  readonly isNeeded: (joined: JoinedField) => boolean
  /** Whether a projection names the number of its documents. */
  readonly isCounted: (joined: JoinedField) => boolean
  /** Whether it is followed for anything else than that number. */
  readonly isEntered: (joined: JoinedField) => boolean
}

interface Origin {
  readonly inside: JoinedField | undefined
  readonly named: Named
  /** Whether the documents are needed even if they are not in the response. */
  readonly isNeeded?: boolean
  /** Whether a projection needs only the number of documents. */
  readonly isCounted?: boolean
}

interface JoinsOptions {
  /** Undefined if the entity or version is not defined, or is disabled. */
  readonly schemaOf: (entity: string, version: string | undefined) => Schema | undefined
  /** Whether the definition of a reference fits the documents that it leads to. */
  readonly fits?: (holder: Schema, reference: ReferenceField, target: Schema) => boolean
  /** The maximum length of a chain of references. */
  readonly maxDepth: number
}

export function createJoins(root: Schema, { schemaOf, fits = () => true, maxDepth }: JoinsOptions): Joins {
  const followed = new Map<JoinedField | undefined, Map<ReferenceField, JoinedField>>()
  const needed = new Set<JoinedField>()
  const counted = new Set<JoinedField>()
  const entered = new Set<JoinedField>()
  const leftOut = new Map<JoinedField | undefined, Set<ReferenceField>>()
  const count = createConditionCount()
  const versions = new Map([[root.entity, root.version]])

  /** Undefined if the target does not exist or does not fit. One request uses only one version of each entity. */
  function targetOf(reference: ReferenceField, { inside, named: { at } }: Origin): Schema | undefined {
    const { entity, versionValue } = reference
    const known = versions.get(entity)
    const schema = schemaOf(entity, versionValue ?? known)
    if (!schema || !fits(inside?.join.schema ?? root, reference, schema)) return undefined
    if (known !== undefined && known !== schema.version) {
      const message = `${entity}:${known} and ${entity}:${schema.version} cannot be used in one request`
      throw new ServiceError('crud:MetadataAppearsTwice', message, { at })
    }
    versions.set(entity, schema.version)
    return schema
  }

  function join(reference: ReferenceField, origin: Origin): JoinedField {
    const joined = followed.get(origin.inside)?.get(reference) ?? follow(reference, origin)
    if (!joined) {
      const { path, at } = origin.named
      // Nothing about the target: the caller may have no access to the reference. Lint says what is missing.
      const message = `"${path}": the reference "${reference.name}" cannot be followed yet; its target is not defined, or does not fit`
      throw new ServiceError('metadata:InvalidReference', message, { at, context: path })
    }
    if (origin.isNeeded) needed.add(joined)
    return noted(joined, origin)
  }

  function noted(joined: JoinedField, { isCounted }: Origin): JoinedField {
    ;(isCounted ? counted : entered).add(joined)
    return joined
  }

  function joinIfDefined(reference: ReferenceField, origin: Origin): JoinedField | undefined {
    const { inside } = origin
    const joined = followed.get(inside)?.get(reference) ?? follow(reference, origin)
    if (joined) return noted(joined, origin)
    leftOut.set(inside, (leftOut.get(inside) ?? new Set<ReferenceField>()).add(reference))
    return undefined
  }

  /** Undefined if the reference cannot be followed. */
  function follow(reference: ReferenceField, origin: Origin): JoinedField | undefined {
    const { inside, named } = origin
    if (depthOf(inside) >= maxDepth) {
      const message = `"${named.path}": at most ${maxDepth} references may be followed one from the other`
      throw new ServiceError('crud:LimitExceeded', message, { at: named.at })
    }
    const { name, path, roles, constraints } = reference
    const schema = targetOf(reference, origin)
    if (!schema) return undefined
    const made: JoinedField = {
      kind: 'array',
      name,
      path,
      roles,
      constraints,
      element: schema.root,
      join: { ...definitionOf(reference), reference, schema },
      ...(inside && { inside }),
    }
    followed.set(
      inside,
      (followed.get(inside) ?? new Map<ReferenceField, JoinedField>()).set(reference, made),
    )
    return made
  }

  return {
    join,
    joinIfDefined,
    repeat: ({ join: { query } }) => count(query),
    leftOutOf: (inside) => leftOut.get(inside) ?? NO_REFERENCES,
    followedIn: (inside) => followed.get(inside) ?? NONE,
    isNeeded: (joined) => needed.has(joined),
    isCounted: (joined) => counted.has(joined),
    isEntered: (joined) => entered.has(joined),
  }
}

const NONE: ReadonlyMap<ReferenceField, JoinedField> = new Map()

const NO_REFERENCES: ReadonlySet<ReferenceField> = new Set()

export function isJoined(field: Field): field is JoinedField {
  return 'join' in field
}

export function isShown(field: Field): field is ShownField {
  return 'shows' in field
}

export function isCount(field: Field): field is CountField {
  return 'counts' in field
}

export function countOf(joined: JoinedField): CountField {
  const { name, path, roles } = joined
  const described = { name: `${name}#`, path: `${path}#`, roles, constraints: {} }
  return { ...described, kind: 'simple', type: TYPES.integer, counts: joined }
}

function depthOf(joined: JoinedField | undefined): number {
  return joined ? 1 + depthOf(joined.inside) : 0
}

/** The parsed definition of a reference. Metadata was checked when it was written, so parsing cannot fail here. */
export const definitionOf = memoized(
  ({ query, sort, projection }: ReferenceField): Pick<Join, 'query' | 'sort' | 'projection'> => ({
    query: isGiven(query) ? parseQuery(query, '', DEFAULT_LIMITS) : EVERY_DOCUMENT,
    sort: isGiven(sort) ? parseSort(sort, '') : [],
    ...(isGiven(projection) && { projection: parseProjection(projection, '') }),
  }),
)

/** Null and an empty list count as absent. */
function isGiven(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && !(isArray(value) && value.length === 0)
}
