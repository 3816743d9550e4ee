/** A request about plain documents: what it names and sends, how it is charged, and why it may be refused. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isObject, sameJson } from '../../base/json/json.ts'
import { during } from '../../base/work/work.ts'
import type { ObjectField, SimpleField } from '../../schema/field.ts'
import { LOOKS_LIKE } from '../../schema/types.ts'
import type { Deps } from '../deps.ts'
import { find } from '../read/find.ts'
import type { DocumentOptions, DocumentTarget, Target } from '../service.ts'
import { type Condition, isMet } from './conditions.ts'
import { wantsNumbersAsText } from './document-parameters.ts'
import {
  type Returned,
  firstOf,
  noVersionYet,
  preconditionFailed,
  unknownDocument,
} from './document-reply.ts'
import { withNumbers } from './sent-numbers.ts'

export interface Request {
  readonly deps: Deps
  readonly caller: Caller
  readonly target: Target
  readonly options: DocumentOptions
}

/** A request that names one document. */
export interface Naming extends Request {
  readonly id: Json
  readonly query: JsonObject
}

/** An `_id` that does not have the type of its field names no document, and none can be created with it. */
export function naming(request: Request & { readonly target: DocumentTarget }, mayCreate = false): Naming {
  const { deps, target } = request
  const { type } = deps.schemaOf(target.entity, target.version).root.fields.get('_id') as SimpleField
  const id = type.cast(target.id)
  if (id === undefined) throw mayCreate ? incompatibleId(type) : unknownDocument()
  return { ...request, id, query: { field: '_id', op: '=', rvalue: id } }
}

function incompatibleId({ name }: SimpleField['type']): ServiceError {
  const message = `"_id" is of type ${name}; the path must end in ${LOOKS_LIKE[name]}`
  return new ServiceError('metadata:IncompatibleValue', message, { context: '_id' })
}

/** Charges the request for what a later step does before its first wait. */
export function charged<T>({ target: { work } }: Request, step: () => T): T {
  return work ? during(work, step) : step()
}

export function rootOf({ deps, target }: Request): ObjectField {
  return deps.schemaOf(target.entity, target.version).root
}

export async function findOne(request: Naming, projection: Json): Promise<Returned | undefined> {
  const { deps, caller, target, query } = request
  const body = { query, projection, range: [0, 0], execution: { count: 'none' } }
  return firstOf(await charged(request, () => find(deps, caller, { target, body })))
}

export const ID: JsonObject = { field: '_id' }

/** Why a write that was to change a document changed none. */
export async function unmet(request: Naming, mayCreate = false): Promise<ServiceError> {
  if ((await findOne(request, ID)) !== undefined) return preconditionFailed()
  return mayCreate ? noVersionYet() : unknownDocument()
}

/** Why a write selected no document: there is none, it has another version, or a row rule keeps the caller from it. */
export async function untouched(
  request: Naming,
  condition: Condition | undefined,
  advice = '',
): Promise<ServiceError> {
  const found = await findOne(request, ID)
  if (!found) return unknownDocument(advice)
  if (condition && !isMet(condition, found)) return preconditionFailed()
  return new ServiceError('crud:NoAccess', 'you may read this document, but not change it in this way')
}

export function sentDocument(body: Json | undefined, request: Request): JsonObject {
  const document = documentIn(body)
  if (!wantsNumbersAsText(request.options)) return document
  return charged(request, () => withNumbers(document, rootOf(request)))
}

function documentIn(body: Json | undefined): JsonObject {
  if (isObject(body)) return body
  const message = 'the body must be one document, a JSON object; /data takes several documents in one request'
  throw new ServiceError('crud:InvalidRequest', message)
}

/** The `_id` in the body may be absent, or must name the document of the path. */
export function requireSameId(given: Json | undefined, { deps, target, id }: Naming): void {
  if (given === undefined) return
  const { type } = deps.schemaOf(target.entity, target.version).root.fields.get('_id') as SimpleField
  if (given !== null && sameJson(type.cast(given), id)) return
  const message = 'the path names another "_id" than the body; send the one of the path, or none'
  throw new ServiceError('crud:InvalidRequest', message, { at: '/_id' })
}
