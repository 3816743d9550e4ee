/** A new state for a document that is stored: what update and save share once they know what it should become. */
import type { WriteSight } from '../access/requests.ts'
import { ServiceError } from '../base/errors.ts'
import { type JsonObject, sameJson } from '../base/json.ts'
import type { Change } from '../plan/plan.ts'
import { changedFields } from '../schema/changes.ts'
import { type Sources, prepareDocument } from '../schema/document.ts'
import type { Field } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'

interface Revision {
  readonly schema: Schema
  readonly before: JsonObject
  readonly after: JsonObject
  /** Named though out of sight: judged by that, never by whether their value differs. */
  readonly hiddenNamed: ReadonlyMap<string, Field>
}

/** Whether a field out of sight was named that the caller may not change: settled before its value plays any part. */
export function hiddenDenial(
  hiddenNamed: Revision['hiddenNamed'],
  { mayUpdate }: WriteSight,
): ServiceError | undefined {
  const denied = [...hiddenNamed].filter(([, field]) => !mayUpdate(field)).map(([path]) => path)
  return denied.length > 0 ? denial(denied) : undefined
}

export function revise(revision: Revision, sight: WriteSight, sources: Sources): Change {
  const { schema, before, after, hiddenNamed } = revision
  const denials = deniedFields(revision, sight)
  if (denials.length > 0) return { kind: 'refuse', faults: [denial(denials)] }
  const isSame = (document: JsonObject): boolean => hiddenNamed.size === 0 && sameJson(before, document)
  if (isSame(after)) return { kind: 'keep' }
  const { document, faults } = prepareDocument(schema, after, sources, true)
  if (faults.length > 0) return { kind: 'refuse', faults }
  return isSame(document) ? { kind: 'keep' } : { kind: 'write', document }
}

function deniedFields(
  { schema, before, after, hiddenNamed }: Revision,
  sight: WriteSight,
): readonly string[] {
  const changed = changedFields(before, after, { fields: schema.root.fields, isHidden: sight.isHidden })
  const visibly = [...changed].filter(([, field]) => !sight.isHidden(field))
  const denied: string[] = []
  for (const [path, field] of [...visibly, ...hiddenNamed]) {
    if (!sight.mayUpdate(field)) denied.push(path)
  }
  return denied
}

function denial(paths: readonly string[]): ServiceError {
  const message = `you may not change ${paths.map((path) => `"${path}"`).join(', ')}`
  return new ServiceError('crud:update:NoFieldAccess', message, { context: paths[0]! })
}
