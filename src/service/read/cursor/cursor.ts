/**
 * Cursors: where a page of a find ends, sealed with the secret of the store. Encryption hides the `_id` and the sort
 * values of the last document; authentication binds them to the find, so that a cursor serves no other one.
 */
import { createCipheriv, createDecipheriv, hash } from 'node:crypto'
import { ServiceError } from '../../../base/errors.ts'
import { SizedCache } from '../../../base/sized-cache.ts'
import type { Json } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { bindQuery } from '../../../lang/parameters.ts'
import { queryKey } from '../../../lang/resolve/query-walk.ts'
import { type DocumentsLink, linksOf } from '../../../lang/resolve/scope.ts'
import type { ReadPlan } from '../../../plan/plan.ts'
import { MAX_ID_BYTES } from '../../../schema/id.ts'
import type { Schema } from '../../../schema/schema.ts'
import { TYPES } from '../../../schema/types.ts'
import { NONCE_BYTES, SALT_BYTES, nextNonce, openingKey, sealingKey } from './keys.ts'

/** The position of a document in the order of a find. */
export interface Position {
  /** As text. */
  readonly id: string
  readonly sortValues: readonly Json[]
}

export interface Cursors {
  readonly seal: (position: Position) => string
  /** The position as `after` of a read plan. */
  readonly open: (cursor: string) => readonly Json[]
}

interface CursorContext {
  readonly schema: Schema
  /** The plan of an authorized find: its query contains the row rules of the caller. */
  readonly read: ReadPlan
  readonly secret: string
  /** When the request is, as a stored date; undefined if nothing asked for it. */
  readonly requestTime: string | undefined
  /** Whether the length of a cursor must not depend on `_id`, because the caller may not read it. */
  readonly hidesId: boolean
}

/** The first byte of a cursor, so that its form can change. Then follow the salt, the nonce, the content and its tag. */
const FORM = 2
const NONCE_AT = 1 + SALT_BYTES
const CONTENT_AT = NONCE_AT + NONCE_BYTES
const TAG_BYTES = 16
const LENGTH_BYTES = 4

export function cursorsOf(context: CursorContext): Cursors {
  const { secret } = context
  const binding = bindingOf(context)
  return {
    seal(position) {
      const { salt, key } = sealingKey(secret)
      const nonce = nextNonce()
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(binding)
      const content = packed(position, context.hidesId)
      const sealed = [cipher.update(content), cipher.final(), cipher.getAuthTag()]
      const cursor = Buffer.concat([Buffer.of(FORM), salt, nonce, ...sealed]).toString('base64url')
      newest.set(cursor, { secret, binding, position }, cursor.length + BESIDE)
      return cursor
    },
    open(cursor) {
      const { id, sortValues } = positionIn(cursor, { secret, binding })
      const last = TYPES[context.read.idType].cast(id)
      // The entity was removed since, and made again with another type of `_id`.
      if (last === undefined) throw invalidCursor()
      return [...sortValues, last]
    },
  }
}

interface Lock {
  readonly secret: string
  readonly binding: Buffer
}

/** The cursors that this process sealed or opened last: the next page usually begins at one of them. */
const newest = new SizedCache<string, Lock & { readonly position: Position }>(256 * 1024)
/** Counted for each entry: the objects around its cursor and its position. */
const BESIDE = 500

function positionIn(cursor: string, lock: Lock): Position {
  const known = newest.get(cursor)
  if (known?.secret === lock.secret && known.binding.equals(lock.binding)) return known.position
  const position = unpacked(unseal(cursor, lock))
  newest.set(cursor, { ...lock, position }, cursor.length + BESIDE)
  return position
}

function unseal(cursor: string, { secret, binding }: Lock): Buffer {
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding skips characters that do not belong there.
  const isWhole = bytes.toString('base64url') === cursor && bytes.length > CONTENT_AT + TAG_BYTES
  if (!isWhole || bytes[0] !== FORM) throw invalidCursor()
  const key = openingKey(secret, bytes.subarray(1, NONCE_AT))
  const nonce = bytes.subarray(NONCE_AT, CONTENT_AT)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(binding).setAuthTag(bytes.subarray(-TAG_BYTES))
  const content = decipher.update(bytes.subarray(CONTENT_AT, -TAG_BYTES))
  try {
    decipher.final()
  } catch {
    throw invalidCursor()
  }
  return content
}

/** Pages of a prepared find share its sort and its query; without arguments, they share their binding. */
function bindingOf(context: CursorContext): Buffer {
  const { schema, requestTime, read } = context
  const { query, sort, asOf, arguments: given = [] } = read
  if (given.length > 0 || requestTime !== undefined || asOf !== undefined) return digestOf(context)
  const known = bindings.get(sort)
  if (known && known.schema === schema && known.query === query) return known.binding
  const binding = digestOf(context)
  bindings.set(sort, { schema, query, binding })
  return binding
}

interface Bound {
  readonly schema: Schema
  readonly query: ReadPlan['query'] | undefined
  readonly binding: Buffer
}

const bindings = new WeakMap<ReadPlan['sort'], Bound>()

/**
 * A digest of what decides which documents come in which order: entity, version, query, row rules of the caller, sort
 * and time. `{"$now": true}` in the query means another time in each request, and is the same query.
 */
function digestOf({ schema, read, requestTime }: CursorContext): Buffer {
  const { query, arguments: given = [], sort, asOf = null } = read
  const sorted = sort.map(({ field, descending }) => {
    const type = field.field.kind === 'simple' ? field.field.type.name : field.field.kind
    const { joined } = field
    const others = joined ? [linksOf(joined).map(bindingOfLink), joined.counted !== undefined] : []
    return [field.steps, type, descending, ...others]
  })
  const condition = query ? queryKey(bindQuery(query, given), schema) : null
  const bound = JSON.stringify([schema.entity, schema.version, condition, sorted, asOf])
  const timeless = requestTime === undefined ? bound : bound.replaceAll(requestTime, '$now')
  return hash('sha256', timeless, 'buffer')
}

/** The other documents, with the row rules of the caller for them. */
function bindingOfLink({ steps, query, reference }: DocumentsLink): Json {
  return [...steps, queryKey(query, reference.field.join.schema)]
}

/** The length of `_id`, `_id`, and the sort values as JSON. */
function packed({ id, sortValues }: Position, hidesId: boolean): Buffer {
  const idBytes = Buffer.from(id)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(idBytes.length)
  const padding = Buffer.alloc(hidesId ? Math.max(0, MAX_ID_BYTES - idBytes.length) : 0, ' ')
  return Buffer.concat([length, idBytes, padding, Buffer.from(JSON.stringify(sortValues))])
}

function unpacked(content: Buffer): Position {
  const end = LENGTH_BYTES + content.readUInt32BE()
  const id = content.toString('utf8', LENGTH_BYTES, end)
  // Padding is white space, which JSON may begin with.
  return { id, sortValues: parseTrusted(content.toString('utf8', end)) as readonly Json[] }
}

function invalidCursor(): ServiceError {
  const message =
    'the cursor does not belong to this find: "after" takes the "next" of a page with the same entity, version, query and sort; begin again without "after"'
  return new ServiceError('crud:InvalidCursor', message, { at: '/page/after' })
}
