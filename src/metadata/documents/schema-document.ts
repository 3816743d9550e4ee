/** The schema document: one version of an entity. Parsed to a typed form, printed in a canonical form. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, pointer } from '../../base/json/json.ts'
import { parseDate } from '../../schema/date.ts'
import type { Status } from '../../schema/schema.ts'
import { LOOKS_LIKE } from '../../schema/types.ts'
import { type EntityAccess, parseEntityAccess } from './access-lists.ts'
import { checkRules } from './check-rules.ts'
import {
  fault,
  listAt,
  neededMember,
  neededText,
  objectAt,
  optional,
  otherMembers,
  textAt,
  textsAt,
} from './decode.ts'
import { type FieldDocuments, printFields } from './field-document.ts'
import { checkEntityName, checkVersionValue } from './names.ts'
import { parseFields } from './parse-fields.ts'
import { withPredefined } from './predefined.ts'

export interface SchemaDocument {
  readonly name: string
  readonly version: VersionDocument
  readonly status: StatusDocument
  readonly access: EntityAccess
  /** Includes the predefined fields. */
  readonly fields: FieldDocuments
  /** Members without a meaning here, stored unchanged. */
  readonly properties: JsonObject
}

interface VersionDocument {
  readonly value: string
  readonly changelog: string
  readonly extendVersions: readonly string[]
  readonly properties: JsonObject
}

interface StatusDocument {
  readonly value: Status
  readonly log: readonly StatusChange[]
  readonly properties: JsonObject
}

/** A former status, and when it ended. */
interface StatusChange {
  readonly date: string
  readonly value: Status
  readonly comment: string | undefined
  readonly properties: JsonObject
}

export const STATUSES: readonly Status[] = ['active', 'deprecated', 'disabled']

export function parseSchemaDocument(value: Json, at: string): SchemaDocument {
  const document = objectAt(value, at)
  const name = neededText(document, 'name', at)
  checkEntityName(name, pointer(at, 'name'))
  refuseConstraints(document.constraints, pointer(at, 'constraints'))
  const schema = {
    name,
    version: parseVersion(neededMember(document, 'version', at), pointer(at, 'version')),
    status: parseStatusDocument(neededMember(document, 'status', at), pointer(at, 'status')),
    access: parseEntityAccess(document.access, pointer(at, 'access')),
    fields: parseRootFields(neededMember(document, 'fields', at), pointer(at, 'fields')),
    properties: otherMembers(document, SCHEMA_KEYS),
  }
  checkRules(schema, at)
  return schema
}

export function printSchemaDocument(schema: SchemaDocument): JsonObject {
  const { name, version, status, access, fields, properties } = schema
  return {
    name,
    version: printVersion(version),
    status: printStatus(status),
    access: { insert: access.insert, update: access.update, find: access.find, delete: access.delete },
    fields: printFields(fields),
    ...properties,
    _id: `${name}|${version.value}`,
  }
}

/** `at` is the JSON pointer when the text comes from a document. */
export function parseStatus(text: string, at?: string): Status {
  const status = STATUSES.find((each) => each === text)
  if (status) return status
  const code = 'metadata:ParseInvalidStatus'
  const problem = `"${text}" is no status; there are ${STATUSES.join(', ')}`
  throw at === undefined ? new ServiceError(code, problem) : fault(code, problem, at)
}

function parseVersion(value: Json, at: string): VersionDocument {
  const document = objectAt(value, at)
  const version = neededText(document, 'value', at)
  checkVersionValue(version, pointer(at, 'value'))
  return {
    value: version,
    changelog: neededText(document, 'changelog', at),
    extendVersions: optional(document, 'extendVersions', { at, read: textsAt }) ?? [],
    properties: otherMembers(document, VERSION_KEYS),
  }
}

function printVersion({ value, changelog, extendVersions, properties }: VersionDocument): JsonObject {
  return { value, changelog, ...(extendVersions.length === 0 ? {} : { extendVersions }), ...properties }
}

function parseStatusDocument(value: Json, at: string): StatusDocument {
  const document = objectAt(value, at)
  return {
    value: parseStatus(neededText(document, 'value', at), pointer(at, 'value')),
    log: optional(document, 'log', { at, read: parseLog }) ?? [],
    properties: otherMembers(document, STATUS_KEYS),
  }
}

function parseLog(value: Json, at: string): readonly StatusChange[] {
  return listAt(value, at).map((each, i) => {
    const place = pointer(at, i)
    const document = objectAt(each, place)
    const date = parseDate(neededText(document, 'date', place))
    if (date === undefined)
      throw fault('metadata:IllFormedMetadata', `this is not ${LOOKS_LIKE.date}`, pointer(place, 'date'))
    return {
      date,
      value: parseStatus(neededText(document, 'value', place), pointer(place, 'value')),
      comment: optional(document, 'comment', { at: place, read: textAt }),
      properties: otherMembers(document, STATUS_CHANGE_KEYS),
    }
  })
}

function printStatus({ value, log, properties }: StatusDocument): JsonObject {
  return { value, ...(log.length === 0 ? {} : { log: log.map(printStatusChange) }), ...properties }
}

function printStatusChange({ date, value, comment, properties }: StatusChange): JsonObject {
  return { date, value, ...(comment === undefined ? {} : { comment }), ...properties }
}

function parseRootFields(value: Json, at: string): FieldDocuments {
  const fields = parseFields(value, at)
  if (fields.size === 0) throw fault('metadata:MetadataWithNoFields', 'a schema needs at least one field', at)
  return withPredefined(fields, at)
}

/** Constraints on whole documents do not exist, so only an empty member is accepted. */
function refuseConstraints(value: Json | undefined, at: string): void {
  if (value === undefined) return
  const isEmpty =
    (isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0)
  if (isEmpty) return
  if (!isArray(value) && !isObject(value))
    throw fault('metadata:IllFormedMetadata', 'an array is expected here', at)
  throw fault('metadata:InvalidConstraint', 'a schema has no constraints of its own; fields have', at)
}

export const SCHEMA_KEYS = ['name', 'version', 'status', 'access', 'fields', 'constraints', '_id']
export const VERSION_KEYS = ['value', 'changelog', 'extendVersions']
export const STATUS_KEYS = ['value', 'log']
export const STATUS_CHANGE_KEYS = ['date', 'value', 'comment']
