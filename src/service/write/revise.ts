/** Checks and prepares the new state of a stored document: the part that update and save share. */
import { holds } from '../../access/conditions.ts'
import type { Visibility, WriteVisibility } from '../../access/requests.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, sameJson } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import type { Change, Outcome, StoredDocument } from '../../plan/plan.ts'
import { changedFields } from '../../schema/changes.ts'
import { type Sources, prepareDocument } from '../../schema/document.ts'
import type { Field } from '../../schema/field.ts'
import { definedPart } from '../../schema/known.ts'
import type { Schema } from '../../schema/schema.ts'
import { isAsStored } from './as-stored.ts'
import { decidedOnce, listPaths } from './denials.ts'
import { type Freshness, freshnessBy } from '../document-version.ts'
import type { JsonText } from '../response.ts'

interface Revision {
  readonly schema: Schema
  readonly before: JsonObject
  readonly after: JsonObject
  /** The visibility of the document before the change. */
  readonly visibility: Visibility
  /**
   * Hidden fields that the request names. Naming one counts as changing it: a comparison of values would
   * reveal its value.
   */
  readonly hiddenNamed: ReadonlyMap<string, Field>
}

/** Compares a document with the listed versions, in the form that the caller may see. */
export function freshnessFor(
  listed: readonly string[] | undefined,
  { schema, visibility, visibilityOf }: Pick<WriteVisibility, 'schema' | 'visibility' | 'visibilityOf'>,
  secret: string,
): Freshness {
  const freshness = (showsId: boolean): Freshness =>
    freshnessBy(listed, { entity: schema.entity, showsId, secret })
  if (!listed || !visibilityOf) return freshness(visibility.showsId)
  const [withId, withoutId] = [true, false].map(freshness)
  return (stored) => (visibilityOf(documentIn(stored)).showsId ? withId! : withoutId!)(stored)
}

/** A document that failed, by its `_id` if the caller may read it. */
export function nameOf(
  outcome: Outcome,
  { visibility, shownAs }: Pick<WriteVisibility, 'visibility' | 'shownAs'>,
): JsonText {
  const document = 'document' in outcome ? outcome.document : undefined
  if (!document) return '{}'
  const value = documentIn(document)
  return (shownAs?.(value) ?? visibility).showsId ? JSON.stringify({ _id: value['_id']! }) : '{}'
}

export function documentIn({ text }: StoredDocument): JsonObject {
  return parseTrusted(text) as JsonObject
}

/**
 * The error for naming a hidden field that the caller may not change. Decided before the value of the field
 * has any effect.
 */
export function hiddenDenial(
  { hiddenNamed, before }: Pick<Revision, 'hiddenNamed' | 'before'>,
  { mayUpdate }: WriteVisibility,
): ServiceError | undefined {
  if (hiddenNamed.size === 0) return undefined
  const isDenied = decidedOnce(before, mayUpdate)
  const denied = [...hiddenNamed].filter(([, field]) => isDenied(field)).map(([path]) => path)
  return denied.length > 0 ? denial(denied) : undefined
}

export function revise(revision: Revision, allowed: WriteVisibility, sources: Sources): Change {
  const { schema, before, after, hiddenNamed } = revision
  const touched = touchedFields(revision)
  const denials = deniedAmong(touched, before, allowed)
  if (denials.length > 0) return { kind: 'refuse', faults: [denial(denials)] }
  const isSame = (document: JsonObject): boolean => hiddenNamed.size === 0 && looksAlike(document, revision)
  if (isSame(after)) return { kind: 'keep' }
  const { document, faults } = isAsStored(schema, after)
    ? { document: after, faults: [] }
    : prepareDocument(schema, after, { ...sources, mayListEnum: allowed.isReachable }, true)
  if (faults.length > 0) return { kind: 'refuse', faults }
  if (document !== after && isSame(document)) return { kind: 'keep' }
  const broken = brokenRules(document, touched, allowed)
  return broken.length > 0 ? { kind: 'refuse', faults: broken } : { kind: 'write', document, before }
}

/** Compares the visible parts only, because the count of modified documents would otherwise reveal hidden fields. */
function looksAlike(document: JsonObject, { schema, before, visibility }: Revision): boolean {
  if (sameJson(before, document)) return true
  if (!visibility.hidesSome && schema.coversCollection) return false
  const seen = (state: JsonObject): Json => definedPart(state, schema.root, visibility.isHidden)
  return sameJson(seen(before), seen(document))
}

/** Rules must hold before and after: a caller must not turn a document into one that they could not have changed. */
function brokenRules(
  document: JsonObject,
  touched: readonly Touched[],
  allowed: WriteVisibility,
): readonly ServiceError[] {
  const denials = deniedAmong(touched, document, allowed)
  const faults = denials.length > 0 ? [denial(denials)] : []
  if (holds(allowed.updateRules, document)) return faults
  return [
    ...faults,
    new ServiceError(
      'crud:NoAccess',
      'you may not change the document so that row rules no longer let you update it',
    ),
  ]
}

type Touched = readonly [path: string, field: Field]

function touchedFields({ schema, before, after, visibility, hiddenNamed }: Revision): readonly Touched[] {
  const { isHidden } = visibility
  const changed = changedFields(before, after, { fields: schema.root.fields, isHidden })
  return [...[...changed].filter(([, field]) => !isHidden(field)), ...hiddenNamed]
}

function deniedAmong(
  touched: readonly Touched[],
  document: JsonObject,
  { mayUpdate }: WriteVisibility,
): readonly string[] {
  const isDenied = decidedOnce(document, mayUpdate)
  return touched.filter(([, field]) => isDenied(field)).map(([path]) => path)
}

function denial(paths: readonly string[]): ServiceError {
  const message = `you may not change ${listPaths(paths)}`
  return new ServiceError('crud:update:NoFieldAccess', message, { context: paths[0]! })
}
