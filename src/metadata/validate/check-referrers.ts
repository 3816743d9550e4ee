/** Checks that a change of one entity breaks no reference in the enabled versions of other entities. */
import { ServiceError } from '../../base/errors.ts'
import type { Catalogue } from '../catalogue.ts'
import {
  type Referred,
  type ReferredEntity,
  problemOf,
  referencesIn,
  referredEntity,
} from './check-references.ts'
import { plainSchema } from '../compile.ts'

interface Change {
  /** The entity after the change. */
  readonly after: ReferredEntity
  /** Whether the same change replaces a version, whose references are then checked on their own. */
  readonly isReplaced: (entity: string, version: string) => boolean
}

export function checkReferrers(catalogue: Catalogue, name: string, { after, isReplaced }: Change): void {
  const before = catalogue.entities.get(name)
  if (!before) return
  const asItIs = referredBy(name, referredEntity(before))
  const asItWouldBe = referredBy(name, after)
  for (const { entity, version, schema } of versionsNaming(catalogue, name)) {
    if (isReplaced(entity, version)) continue
    for (const reference of referencesIn(schema)) {
      if (reference.entity !== name) continue
      const problem = problemOf(schema, reference, asItWouldBe)
      // A reference that was invalid before is not broken by this change.
      if (!problem || problemOf(schema, reference, asItIs)) continue
      throw new ServiceError(
        'metadata:UpdateInvalidatesMetadata',
        `version ${version} of "${entity}" is in use, and its field "${reference.path}" would refer to "${name}", ` +
          `${problem.what}; first give "${entity}" a version that does without, and disable version ${version}`,
        { context: `${entity}/${version}/fields/${reference.path}` },
      )
    }
  }
}

/** Only references to this entity are checked. */
function referredBy(name: string, entity: ReferredEntity): Referred {
  return (entityName) => (entityName === name ? entity : undefined)
}

/** The enabled versions of other entities that may refer to this one. */
function* versionsNaming({ entities }: Catalogue, name: string) {
  // Most texts do not contain the name, and need not be parsed.
  const word = JSON.stringify(name)
  for (const [entity, { info, versions }] of entities) {
    if (entity === name) continue
    for (const [version, { text, heading, document }] of versions) {
      if (!text.includes(word) || heading().status.value === 'disabled') continue
      yield { entity, version, schema: plainSchema(info, document()) }
    }
  }
}
