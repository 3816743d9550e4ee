/**
 * Converts a document as sent to the document as stored, or reports its faults. One walk casts values to their stored
 * form, removes nulls, generates values, counts array sizes and checks constraints.
 */
import { type Code, ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, cloneJson, isArray, isObject, member } from '../base/json/json.ts'
import { addViolations, isConstrained, repeatedIdentity } from './constraints.ts'
import { type FaultBudget, type Faults, addFault, startFaults } from './faults.ts'
import {
  type ArrayField,
  type Element,
  type Field,
  type Fields,
  type ObjectField,
  type SimpleField,
  isComputed,
  isMandatory,
  isRegenerated,
} from './field.ts'
import { idFault, isIdentity, notAnIdentity } from './id.ts'
import { isOfOtherVersion } from './kind.ts'
import { inOrder, storedOrderOf } from './member-order.ts'
import type { Schema } from './schema.ts'
import { LOOKS_LIKE } from './types.ts'

/**
 * Sources of generated values, and the number of faults that may be reported. A source that returns undefined generates
 * nothing: the value stays as it was sent, and a missing one is a fault.
 */
export interface Sources {
  readonly faults: FaultBudget
  readonly uuid: () => string | undefined
  /** An `_id` for a document that was sent without one. */
  readonly id: () => string | undefined
  /** A generated value in its stored form. */
  readonly generate: (field: SimpleField) => Json | undefined
  /** Whether generated values only stand in for those to come, so that no constraint is checked on them. */
  readonly standsIn?: true
  /** Whether the caller may know which values an enum allows in the field; nobody may when absent. */
  readonly mayListEnum?: (field: Field) => boolean
  /** Whether absent members of a new document get their default values. */
  readonly usesDefaults: boolean
}

export interface Prepared {
  readonly document: JsonObject
  readonly faults: readonly ServiceError[]
  /**
   * Every field that the caller sent a value for, by path with indexes, parents first; generated values are not
   * included. The number of paths for one field is limited to one more than the reported faults of a document. When
   * values are only cast, a null that requests a generated value counts as a value.
   */
  readonly sentFields: ReadonlyMap<string, Field>
}

/** With `keepsUnknown`, which is for stored documents, members of other versions stay as they are. */
export function prepareDocument(
  schema: Schema,
  sent: Json,
  sources: Sources,
  keepsUnknown = false,
): Prepared {
  return prepare(schema, sent, { sources, keepsUnknown, budget: sources.faults })
}

/**
 * Only casts values to their stored form. Generates no values and reports no missing ones, because absent members may
 * still be copied from the stored document. A null that requests a generated value stays in the result.
 */
export function castDocument(schema: Schema, sent: Json, budget: FaultBudget): Prepared {
  return prepare(schema, sent, { keepsUnknown: false, budget })
}

function prepare(
  schema: Schema,
  sent: Json,
  options: Pick<PrepareState, 'sources' | 'keepsUnknown' | 'budget'>,
): Prepared {
  const faults = startFaults(options.budget)
  const state: PrepareState = {
    ...options,
    faults,
    sentFields: new Map(),
    sentCounts: new Map(),
    elementIds: new Map(),
  }
  const document = prepareRoot(schema, sent, state)
  options.budget.left -= faults.reported.length
  return { document, faults: faults.reported, sentFields: state.sentFields }
}

function prepareRoot(schema: Schema, sent: Json, state: PrepareState): Draft {
  if (!isObject(sent)) {
    fault(state, 'metadata:IncompatibleValue', '', 'a document must be an object')
    return {}
  }
  const { fields } = schema.root
  const draft = draftOf(sent, fields, '', state)
  setObjectType(draft, schema, state)
  if (state.sources) setId(draft, schema, state)
  const document = inOrder(draft, storedOrderOf(schema.root))
  const tooLong = idFault(document['_id'])
  if (tooLong) addFault(state.faults, tooLong)
  return document
}

interface PrepareState {
  /** Absent while values are only cast. */
  readonly sources?: Sources
  readonly keepsUnknown: boolean
  readonly budget: FaultBudget
  readonly faults: Faults
  readonly sentFields: Map<string, Field>
  /** Number of paths in `sentFields` for each field. */
  readonly sentCounts: Map<Field, number>
  /** Element identities found so far, by schema path: they are unique in the document. */
  readonly elementIds: Map<string, Set<string>>
}

type Draft = Record<string, Json>

function prepareObject(sent: JsonObject, object: ObjectField, at: string, state: PrepareState): Draft {
  return inOrder(draftOf(sent, object.fields, at, state), storedOrderOf(object))
}

function draftOf(sent: JsonObject, fields: Fields, at: string, state: PrepareState): Draft {
  const draft: Draft = {}
  for (const name of Object.keys(sent)) {
    if (state.faults.isFull) return draft
    const path = join(at, name)
    const field = fields.get(name)
    if (state.keepsUnknown && (!field || isOfOtherVersion(sent[name]!, field)))
      draft[name] = keptValue(sent, name)
    else if (!field) fault(state, 'metadata:InvalidFieldReference', path, `there is no field "${path}"`)
    else prepareMember(draft, field, sent[name]!, { path, state })
  }
  for (const field of fields.values()) complete(draft, field, sent, { path: at, state })
  return draft
}

/** The size of an array of another version stays true: this version may have replaced the array by something else. */
function keptValue(sent: JsonObject, name: string): Json {
  return name.endsWith('#') ? sizeOf(member(sent, name.slice(0, -1))) : sent[name]!
}

interface At {
  readonly path: string
  readonly state: PrepareState
}

function prepareMember(draft: Draft, field: Field, value: Json, { path, state }: At): void {
  if (isComputed(field)) return
  if (field.kind === 'reference') {
    const isEmpty = value === null || (isArray(value) && value.length === 0)
    if (!isEmpty)
      fault(state, 'metadata:IncompatibleValue', path, `"${path}" is a reference and holds no data`)
    return
  }
  if (value === null) {
    // An explicit null requests a generated value, so it is handled before nulls are removed.
    const generated = field.kind === 'simple' ? generateFor(field, path, state) : undefined
    if (generated !== undefined) draft[field.name] = generated
    // In an existing document it replaces the stored value, so it counts as sent.
    if (generated === null && !isRegenerated(field)) recordSent(state, path, field)
    return
  }
  const prepared = prepareValue(value, field, path, state)
  if (prepared !== undefined) draft[field.name] = prepared
}

function prepareValue(
  value: Json,
  field: Exclude<Field, { kind: 'reference' }>,
  path: string,
  state: PrepareState,
) {
  recordSent(state, path, field)
  switch (field.kind) {
    case 'simple':
      return prepareSimple(value, field, path, state)
    case 'object':
      if (isObject(value)) return prepareObject(value, field, path, state)
      break
    case 'array':
      if (isArray(value)) return prepareArray(value, field, path, state)
      break
  }
  fault(state, 'metadata:IncompatibleValue', path, `"${path}" must be an ${field.kind}`)
  return undefined
}

function prepareSimple(value: Json, field: SimpleField, path: string, state: PrepareState): Json | undefined {
  const isReplaced = field.generator?.overwrite || (field.type.name === 'uid' && value === '')
  const generated = isReplaced && state.sources ? generateFor(field, path, state) : undefined
  if (generated !== undefined) return generated
  const stored = field.type.cast(value)
  if (stored === undefined && isIdentity(field)) {
    addFault(state.faults, notAnIdentity(value, field))
    return undefined
  }
  if (stored === undefined) {
    const { name } = field.type
    const message = `"${path}" is of type ${name}, and the value given cannot become one without loss; send ${LOOKS_LIKE[name]}`
    fault(state, 'metadata:IncompatibleValue', path, message)
    return undefined
  }
  if (state.sources && isConstrained(field)) {
    addViolations(state.faults, stored, field, { path, mayListEnum: state.sources.mayListEnum })
  }
  return stored
}

function prepareArray(sent: readonly Json[], field: ArrayField, path: string, state: PrepareState): Json {
  const elements: Json[] = []
  for (const each of sent) {
    if (state.faults.isFull) return elements
    elements.push(prepareElement(each, field.element, join(path, String(elements.length)), state))
  }
  if (state.sources) addViolations(state.faults, elements, field, { path })
  return elements
}

function prepareElement(value: Json, element: Element, path: string, state: PrepareState): Json {
  if (value === null || (state.keepsUnknown && isOfOtherVersion(value, element))) return value
  return prepareValue(value, element, path, state) ?? null
}

/** Adds array sizes and generated values, and reports mandatory fields that are missing. */
function complete(draft: Draft, field: Field, sent: JsonObject, { path: at, state }: At): void {
  const initial = defaultOf(field, sent, state)
  if (initial !== undefined) draft[field.name] = cloneJson(initial)
  if (field.kind === 'array') draft[`${field.name}#`] = sizeOf(draft[field.name])
  if (!state.sources) return
  if (!Object.hasOwn(draft, field.name)) addMissing(draft, field, sent, { path: at, state })
  if (field.kind !== 'simple' || !field.constraints.elementIdentity) return
  const value = member(draft, field.name)
  if (value === undefined) return
  const repeated = repeatedIdentity(value, field, join(at, field.name), state.elementIds)
  if (repeated) addFault(state.faults, repeated)
}

function addMissing(draft: Draft, field: Field, sent: JsonObject, { path: at, state }: At): void {
  if (!isMandatory(field) || isSetLater(field) || isComputed(field)) return
  // A value of the wrong type has its own fault already.
  if (member(sent, field.name) != null) return
  const path = join(at, field.name)
  const generated = field.kind === 'simple' ? generateFor(field, path, state) : undefined
  if (generated !== undefined) draft[field.name] = generated
  else fault(state, 'crud:Required', path, `"${path}" is required`)
}

/** An explicit null is not absent. A stored document, which keeps unknown members, is not new. */
function defaultOf(
  field: Field,
  sent: JsonObject,
  { sources, keepsUnknown }: PrepareState,
): Json | undefined {
  if (keepsUnknown || !sources?.usesDefaults || isComputed(field)) return undefined
  const initial = field.kind === 'simple' || field.kind === 'array' ? field.default : undefined
  return initial === undefined || Object.hasOwn(sent, field.name) ? undefined : initial
}

function sizeOf(array: Json | undefined): number {
  return isArray(array) ? array.length : 0
}

/** A generated value has to fulfil the constraints, like one that was sent. */
function generateFor(field: SimpleField, path: string, state: PrepareState): Json | undefined {
  const { sources } = state
  if (!field.generator && field.type.name !== 'uid') return undefined
  if (!sources) return null
  return checkGenerated(field.generator ? sources.generate(field) : sources.uuid(), field, { path, state })
}

function checkGenerated(
  generated: Json | undefined,
  field: SimpleField,
  { path, state }: At,
): Json | undefined {
  const { standsIn, mayListEnum } = state.sources!
  if (generated != null && !standsIn) {
    const subject = `the value generated for "${path}"`
    addViolations(state.faults, generated, field, { path, subject, mayListEnum })
  }
  return generated
}

/** `objectType` and `_id` of the document itself are set after all other fields. */
function isSetLater({ path }: Field): boolean {
  return path === 'objectType' || path === '_id'
}

function setObjectType(draft: Draft, schema: Schema, state: PrepareState): void {
  draft['objectType'] ??= schema.entity
  if (draft['objectType'] === schema.entity) return
  fault(state, 'crud:InvalidEntity', 'objectType', `"objectType" must be "${schema.entity}"`)
}

function setId(draft: Draft, schema: Schema, state: PrepareState): void {
  // With too many faults the rehearsal, which counts the numbers to draw, ended before `_id` too, so none is drawn for it.
  if (state.faults.isFull) return
  if (Object.hasOwn(draft, '_id') || state.faults.reported.some(({ context }) => context === '_id')) return
  const field = schema.root.fields.get('_id') as SimpleField
  const generated =
    generateFor(field, '_id', state) ??
    (field.type.family === 'text'
      ? checkGenerated(state.sources!.id(), field, { path: '_id', state })
      : undefined)
  if (generated === undefined) fault(state, 'crud:Required', '_id', `"_id" is required`)
  else draft['_id'] = generated
}

function join(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`
}

function fault(state: PrepareState, code: Code, path: string, message: string): void {
  addFault(state.faults, new ServiceError(code, message, { context: path }))
}

/**
 * Lists one path more than faults can be reported, which shows that there are more. A list of all paths could be as
 * long as the document.
 */
function recordSent({ sentFields, sentCounts, budget }: PrepareState, path: string, field: Field): void {
  const count = sentCounts.get(field) ?? 0
  if (count > budget.perDocument) return
  sentCounts.set(field, count + 1)
  sentFields.set(path, field)
}
