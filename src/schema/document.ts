/**
 * A document as it was sent → the document as it is stored, or everything that is wrong with it. Values take their
 * stored form, nulls are stripped, generators fill, sizes are counted, constraints are checked: one walk for all.
 */
import { type Code, ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member } from '../base/json/json.ts'
import { addViolations, repeatedIdentity } from './constraints.ts'
import { type FaultBudget, type Faults, addFault, startFaults } from './faults.ts'
import {
  type ArrayField,
  type Element,
  type Field,
  type Fields,
  type SimpleField,
  isMadeAnew,
  isNeeded,
  isServerMade,
} from './field.ts'
import { idFault } from './id.ts'
import { isUnseen } from './kind.ts'
import type { Schema } from './schema.ts'

/** Where values that nobody sent come from, and how much may be told of what is wrong. */
export interface Sources {
  readonly faults: FaultBudget
  readonly uuid: () => string
  /** An `_id` for a document that came without. */
  readonly id: () => string
  /** A generated value in its stored form. */
  readonly generate: (field: SimpleField) => Json
}

export interface Prepared {
  readonly document: JsonObject
  readonly faults: readonly ServiceError[]
  /**
   * Every field the sender gave a value, by path with indexes, containers first; server-made values are not among
   * them. Of a field that has more values than there are faults to be told, only so many are listed. Where values are
   * only cast, a null that asks for a value counts as one.
   */
  readonly given: ReadonlyMap<string, Field>
}

/** With `keepsUnknown`, for documents that were stored before, members of other versions stay as they are. */
export function prepareDocument(
  schema: Schema,
  sent: Json,
  sources: Sources,
  keepsUnknown = false,
): Prepared {
  return prepare(schema, sent, { sources, keepsUnknown, budget: sources.faults })
}

/**
 * Only the first half of it: values take their stored form. Nothing is made and nothing missed yet, since what is not
 * there may still come from the document as it is stored; a null that asks for a value is kept for later.
 */
export function castDocument(schema: Schema, sent: Json, budget: FaultBudget): Prepared {
  return prepare(schema, sent, { keepsUnknown: false, budget })
}

function prepare(
  schema: Schema,
  sent: Json,
  how: Pick<Work, 'sources' | 'keepsUnknown' | 'budget'>,
): Prepared {
  const faults = startFaults(how.budget)
  const work: Work = { ...how, faults, given: new Map(), noted: new Map(), elementIds: new Map() }
  const document = prepareRoot(schema, sent, work)
  how.budget.left -= faults.reported.length
  return { document, faults: faults.reported, given: work.given }
}

function prepareRoot(schema: Schema, sent: Json, work: Work): Draft {
  if (!isObject(sent)) {
    fault(work, 'metadata:IncompatibleValue', '', 'a document must be an object')
    return {}
  }
  const document = prepareObject(sent, schema.root.fields, '', work)
  setObjectType(document, schema, work)
  if (work.sources) setId(document, schema, work)
  const tooLong = idFault(document['_id'])
  if (tooLong) addFault(work.faults, tooLong)
  return document
}

interface Work {
  /** Absent while values are only cast. */
  readonly sources?: Sources
  readonly keepsUnknown: boolean
  readonly budget: FaultBudget
  readonly faults: Faults
  readonly given: Map<string, Field>
  /** How many values of a field are listed as given. */
  readonly noted: Map<Field, number>
  /** Values of element identities seen so far, by schema path: they are unique in the document. */
  readonly elementIds: Map<string, Set<string>>
}

type Draft = Record<string, Json>

function prepareObject(sent: JsonObject, fields: Fields, at: string, work: Work): Draft {
  const draft: Draft = {}
  for (const name of Object.keys(sent)) {
    if (work.faults.isFull) return draft
    const path = join(at, name)
    const field = fields.get(name)
    if (work.keepsUnknown && (!field || isUnseen(sent[name]!, field))) draft[name] = sent[name]!
    else if (!field) fault(work, 'metadata:InvalidFieldReference', path, `there is no field "${path}"`)
    else prepareMember(draft, field, sent[name]!, { path, work })
  }
  for (const field of fields.values()) complete(draft, field, sent, { path: at, work })
  return draft
}

interface At {
  readonly path: string
  readonly work: Work
}

function prepareMember(draft: Draft, field: Field, value: Json, { path, work }: At): void {
  if (isServerMade(field)) return
  if (field.kind === 'reference') {
    const isEmpty = value === null || (isArray(value) && value.length === 0)
    if (!isEmpty)
      fault(work, 'metadata:IncompatibleValue', path, `"${path}" is a reference and holds no data`)
    return
  }
  if (value === null) {
    // An explicit null asks the generator, which looks before nulls are stripped.
    const made = field.kind === 'simple' ? madeFor(field, work) : undefined
    if (made !== undefined) draft[field.name] = made
    // Of a document that is stored already it asks for another value than the one that is there.
    if (made === null && !isMadeAnew(field)) note(work, path, field)
    return
  }
  const prepared = prepareValue(value, field, path, work)
  if (prepared !== undefined) draft[field.name] = prepared
}

function prepareValue(value: Json, field: Exclude<Field, { kind: 'reference' }>, path: string, work: Work) {
  note(work, path, field)
  switch (field.kind) {
    case 'simple':
      return prepareSimple(value, field, path, work)
    case 'object':
      if (isObject(value)) return prepareObject(value, field.fields, path, work)
      break
    case 'array':
      if (isArray(value)) return prepareArray(value, field, path, work)
      break
  }
  fault(work, 'metadata:IncompatibleValue', path, `"${path}" must be an ${field.kind}`)
  return undefined
}

function prepareSimple(value: Json, field: SimpleField, path: string, work: Work): Json | undefined {
  const isReplaced = field.generator?.overwrite || (field.type.name === 'uid' && value === '')
  if (isReplaced && work.sources) return madeFor(field, work)
  const stored = field.type.cast(value)
  if (stored === undefined) {
    const message = `"${path}" is of type ${field.type.name}; the value given is not, or would lose something`
    fault(work, 'metadata:IncompatibleValue', path, message)
    return undefined
  }
  if (work.sources) addViolations(work.faults, stored, field, path)
  return stored
}

function prepareArray(sent: readonly Json[], field: ArrayField, path: string, work: Work): Json {
  const elements: Json[] = []
  for (const each of sent) {
    if (work.faults.isFull) return elements
    elements.push(prepareElement(each, field.element, join(path, String(elements.length)), work))
  }
  if (work.sources) addViolations(work.faults, elements, field, path)
  return elements
}

function prepareElement(value: Json, element: Element, path: string, work: Work): Json {
  if (value === null || (work.keepsUnknown && isUnseen(value, element))) return value
  return prepareValue(value, element, path, work) ?? null
}

/** What the document lacks: generated values, sizes of arrays; or the fault that it is not there. */
function complete(draft: Draft, field: Field, sent: JsonObject, { path: at, work }: At): void {
  if (field.kind === 'array') draft[`${field.name}#`] = sizeOf(draft[field.name])
  if (!work.sources) return
  if (Object.hasOwn(draft, field.name)) {
    if (field.kind === 'simple' && field.constraints.elementIdentity) {
      const path = join(at, field.name)
      const repeated = repeatedIdentity(draft[field.name]!, field, path, work.elementIds)
      if (repeated) addFault(work.faults, repeated)
    }
    return
  }
  if (!isNeeded(field) || isSetLater(field) || isServerMade(field)) return
  // What was given and is no value of its type is not missing.
  if (member(sent, field.name) != null) return
  const path = join(at, field.name)
  const made = field.kind === 'simple' ? madeFor(field, work) : undefined
  if (made !== undefined) draft[field.name] = made
  else fault(work, 'crud:Required', path, `"${path}" is required`)
}

function sizeOf(array: Json | undefined): number {
  return isArray(array) ? array.length : 0
}

function madeFor(field: SimpleField, { sources }: Work): Json | undefined {
  if (!field.generator && field.type.name !== 'uid') return undefined
  if (!sources) return null
  return field.generator ? sources.generate(field) : sources.uuid()
}

/** `objectType` and `_id` of the document itself are seen to at the end. */
function isSetLater({ path }: Field): boolean {
  return path === 'objectType' || path === '_id'
}

function setObjectType(draft: Draft, schema: Schema, work: Work): void {
  draft['objectType'] ??= schema.entity
  if (draft['objectType'] === schema.entity) return
  fault(work, 'crud:InvalidEntity', 'objectType', `"objectType" must be "${schema.entity}"`)
}

function setId(draft: Draft, schema: Schema, work: Work): void {
  if (Object.hasOwn(draft, '_id') || work.faults.reported.some(({ context }) => context === '_id')) return
  const field = schema.root.fields.get('_id') as SimpleField
  const made = madeFor(field, work) ?? (field.type.family === 'text' ? work.sources!.id() : undefined)
  if (made === undefined) fault(work, 'crud:Required', '_id', `"_id" is required`)
  else draft['_id'] = made
}

function join(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`
}

function fault(work: Work, code: Code, path: string, message: string): void {
  addFault(work.faults, new ServiceError(code, message, { context: path }))
}

/** One more than can be told of shows that there are more; a list of all would be as long as the document. */
function note({ given, noted, budget }: Work, path: string, field: Field): void {
  const count = noted.get(field) ?? 0
  if (count > budget.perDocument) return
  noted.set(field, count + 1)
  given.set(path, field)
}
