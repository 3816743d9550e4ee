/**
 * Checks a document that another system stored: the versions of its entity together define it. One version must accept it
 * with all its constraints; members that only other versions define are checked by these.
 */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { mergeMembers } from '../../base/json/merge-members.ts'
import { castDocument, prepareDocument } from '../../schema/document.ts'
import type { FaultBudget } from '../../schema/faults.ts'
import type { Field } from '../../schema/field.ts'
import { definedPart } from '../../schema/known.ts'
import { inStoredOrder } from '../../schema/member-order.ts'
import type { Schema } from '../../schema/schema.ts'
import { knownMembers } from './known-members.ts'

export interface LoadRules {
  /** The version to try first, then the others. */
  readonly schemas: readonly Schema[]
  /** Whether members that no version defines are left out; otherwise they are faults. */
  readonly dropsUnknown: boolean
  /** Faults reported for one document. */
  readonly maxFaults: number
}

export type Checked =
  | { readonly kind: 'valid'; readonly document: JsonObject; readonly dropped: readonly string[] }
  | { readonly kind: 'faulty'; readonly faults: readonly ServiceError[] }

export function checkDocument(sent: JsonObject, { schemas, dropsUnknown, maxFaults }: LoadRules): Checked {
  const { known, unknown } = knownMembers(sent, schemas)
  if (unknown.length > 0 && !dropsUnknown)
    return { kind: 'faulty', faults: unknown.slice(0, maxFaults).map(noSuchField) }
  const budget = (): FaultBudget => ({ perDocument: maxFaults, left: maxFaults })
  const accepted = firstAccepting(schemas, known, budget)
  if ('faults' in accepted) return { kind: 'faulty', faults: accepted.faults }
  let { document } = accepted
  for (const schema of schemas) {
    if (schema === accepted.schema) continue
    const { document: cast, faults } = castDocument(schema, definedPart(known, schema.root), budget())
    const own = faults.filter(({ context }) => !definesPath(accepted.schema, context))
    if (own.length > 0) return { kind: 'faulty', faults: own }
    document = mergeMembers(document, cast) as JsonObject
  }
  const lost = [...lostPaths(known, document, '')].slice(0, maxFaults)
  if (lost.length > 0) return { kind: 'faulty', faults: lost.map(fitsNowhere) }
  return { kind: 'valid', document: inOrderOf(document, accepted.schema, schemas), dropped: unknown }
}

/** Each version puts the objects that it defines in order; the one that accepted the document does so last. */
function inOrderOf(document: JsonObject, accepted: Schema, schemas: readonly Schema[]): JsonObject {
  if (schemas.length === 1) return document
  const others = schemas.filter((schema) => schema !== accepted)
  return [...others, accepted].reduce((each, { root }) => inStoredOrder(each, root) as JsonObject, document)
}

/** Values of a kind that no version has for their field: each version takes them for those of another one. */
function* lostPaths(known: Json, document: Json, path: string): Generator<string> {
  if (isArray(known) && isArray(document) && known.length === document.length) {
    for (const [i, each] of known.entries()) yield* lostPaths(each, document[i]!, joined(path, i))
  } else if (isArray(known) && isArray(document)) yield path
  if (!isObject(known) || !isObject(document)) return
  for (const [name, value] of Object.entries(known)) {
    if (value === null) continue
    if (Object.hasOwn(document, name)) yield* lostPaths(value, document[name]!, joined(path, name))
    else yield joined(path, name)
  }
}

function joined(path: string, step: string | number): string {
  return path === '' ? String(step) : `${path}.${step}`
}

function fitsNowhere(path: string): ServiceError {
  const problem = `the value of "${path}" fits the type of this field in no version`
  return new ServiceError('metadata:IncompatibleValue', problem, { context: path })
}

/** The first version without faults, or the faults of the first version. */
function firstAccepting(
  schemas: readonly Schema[],
  known: JsonObject,
  budget: () => FaultBudget,
): { readonly schema: Schema; readonly document: JsonObject } | { readonly faults: readonly ServiceError[] } {
  let faults: readonly ServiceError[] | undefined
  for (const schema of schemas) {
    const prepared = prepareAs(schema, known, budget())
    if (prepared.faults.length === 0) return { schema, document: prepared.document }
    faults ??= prepared.faults
  }
  return { faults: faults ?? [] }
}

/** Values are taken as they are: an import does not generate any. */
function prepareAs(schema: Schema, known: JsonObject, faults: FaultBudget) {
  const nothing = (): undefined => undefined
  const sources = { faults, uuid: nothing, id: nothing, generate: nothing, usesDefaults: false }
  return prepareDocument(schema, definedPart(known, schema.root), sources)
}

function noSuchField(path: string): ServiceError {
  const problem = `no version has a field "${path}"`
  return new ServiceError('metadata:InvalidFieldReference', problem, { context: path })
}

/** Whether a path with indexes leads to a field of this version, which has then checked it. */
function definesPath({ root }: Schema, path: string): boolean {
  let field: Field | undefined = root
  for (const step of path.split('.')) {
    if (field?.kind === 'object') field = field.fields.get(step)
    else if (field?.kind === 'array') field = field.element
    else return field !== undefined
  }
  return field !== undefined
}
