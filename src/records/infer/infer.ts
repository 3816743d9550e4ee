/** Proposes metadata for documents: types, required fields, enums and an identity. */
import { problemWithName } from '../../base/field-name.ts'
import { type Json, type JsonObject, member } from '../../base/json/json.ts'
import type { SourceRecord } from '../record.ts'
import { type Kind, MAX_RECORDS, NUMBERS, type Observed, observeMembers, observed } from './observe.ts'
import { type UnusableName, refuseNames } from './refuse-names.ts'

interface Inferred {
  readonly metadata: JsonObject
  /** What a person should look at before using it. */
  readonly notes: readonly string[]
}

interface Proposal {
  readonly entity: string
  readonly version: string
  /** Roles with access; anyone when empty. */
  readonly roles: readonly string[]
}

interface Sampled {
  readonly record: SourceRecord
  /** Whether all simple values are texts, as cells of CSV are. */
  readonly isText: boolean
}

/** Throws `UnusableNames`. */
export async function inferMetadata(
  records: AsyncIterable<Sampled>,
  { entity, version, roles }: Proposal,
): Promise<Inferred> {
  const root = observed()
  const notes: string[] = []
  let bad = 0
  for await (const { record, isText } of records) {
    if ('problem' in record) bad++
    else observeMembers(root, record.document, isText)
    if (root.count + bad >= MAX_RECORDS) {
      notes.push(`only the first ${MAX_RECORDS.toLocaleString('en')} records were looked at`)
      break
    }
  }
  if (bad > 0) notes.push(`${bad} records cannot be read, and were left out`)
  if (root.members.size === 0) notes.push('there are no records, so there are no fields')
  const context: Context = { entity, notes, unusable: [], enums: new Map(), total: root.count }
  const identity = identityAmong(root)
  const fields = fieldsFrom(root, '', { ...context, identity })
  refuseNames(context.unusable)
  if (root.count > 0 && identity === undefined)
    notes.push('no field identifies a document, so Smalt makes an _id for each')
  const enums = [...context.enums].map(([name, values]) => ({ name, values }))
  const access = roles.length > 0 ? roles : ['anyone']
  if (roles.length === 0) notes.push('"access" admits anyone; name the roles that may read and write')
  return {
    metadata: {
      entityInfo: {
        name: entity,
        defaultVersion: version,
        ...(enums.length > 0 && { enums }),
      },
      schema: {
        name: entity,
        version: { value: version, changelog: 'inferred from a file' },
        status: { value: 'active' },
        access: { find: access, insert: access, update: access, delete: access },
        fields,
      },
    },
    notes,
  }
}

interface Context {
  readonly entity: string
  readonly notes: string[]
  readonly unusable: UnusableName[]
  /** Values by the name of their enum. */
  readonly enums: Map<string, readonly string[]>
  /** Number of records. */
  readonly total: number
  /** Name of the identity, a field of the document itself. */
  readonly identity?: string | undefined
}

function fieldsFrom(at: Observed, prefix: string, context: Context): JsonObject {
  const fields = [...at.members]
    .filter(([name]) => !(prefix === '' && name === 'objectType'))
    .map(([name, each]): [string, Json] => {
      const path = `${prefix}${name}`
      noteName(name, { path, isSize: false }, context)
      return [name, fieldFrom(each, { path, parent: at }, context)]
    })
  const proposed = Object.fromEntries(fields)
  for (const name of at.sizes) {
    const isSize = member(member(proposed, name), 'type') === 'array'
    noteName(`${name}#`, { path: `${prefix}${name}#`, isSize }, context)
  }
  return proposed
}

interface NameAt {
  readonly path: string
  readonly isSize: boolean
}

function noteName(name: string, { path, isSize }: NameAt, { unusable }: Context): void {
  const problem = problemWithName(name, isSize)
  if (problem !== undefined) unusable.push({ path, problem })
}

interface Place {
  readonly path: string
  readonly parent: Observed
}

/** With fewer records it is chance that all of them have a value. */
const MIN_RECORDS = 10

function fieldFrom(at: Observed, { path, parent }: Place, context: Context): JsonObject {
  const type = typeOf(at, path, context.notes)
  const isIdentity = context.identity === path && path !== '_id'
  const isRequired = at.count === parent.count && parent.count >= MIN_RECORDS && path !== '_id'
  const name = type === 'string' && !isIdentity ? enumFrom(at, path, context) : undefined
  const constraints = {
    ...(isIdentity && { identity: true }),
    ...(isRequired && !isIdentity && type !== 'object' && type !== 'array' && { required: true }),
    ...(name !== undefined && { enum: name }),
  }
  return {
    type,
    ...(type === 'object' && { fields: fieldsFrom(at, `${path}.`, context) }),
    ...(type === 'array' && { items: itemsFrom(at, path, context) }),
    ...(Object.keys(constraints).length > 0 && { constraints }),
  }
}

function itemsFrom({ elements }: Observed, path: string, context: Context): JsonObject {
  if (!elements || elements.count === 0) {
    context.notes.push(`"${path}" is always empty; string is a guess for its elements`)
    return { type: 'string' }
  }
  const type = typeOf(elements, `${path}.*`, context.notes)
  if (type === 'array') {
    context.notes.push(`"${path}" is an array of arrays, which Smalt has no type for; any takes it as it is`)
    return { type: 'any' }
  }
  return type === 'object'
    ? { type, fields: fieldsFrom(elements, `${path}.*.`, { ...context, identity: undefined }) }
    : { type }
}

function typeOf({ kinds, count, exceedsDouble }: Observed, path: string, notes: string[]): string {
  if (count === 0) {
    notes.push(`"${path}" has no values; string is a guess`)
    return 'string'
  }
  const all = [...kinds]
  const has = (kind: Kind): boolean => kinds.has(kind)
  if (all.length === 1 && (has('object') || has('array'))) return all[0]!
  if (has('object') || has('array')) {
    notes.push(`"${path}" has values of several kinds; any takes them as they are`)
    return 'any'
  }
  if (all.every((kind) => NUMBERS.includes(kind))) {
    // Numbers with an exponent are mostly measured, so a double serves, unless it changes digits. As text only a
    // bigdecimal takes them all.
    if (has('double')) return exceedsDouble ? 'bigdecimal' : 'double'
    if (has('decimal')) return 'bigdecimal'
    return has('biginteger') ? 'biginteger' : 'integer'
  }
  if (all.length === 1 && (has('boolean') || has('date'))) return all[0]!
  if (has('local date') || has('date'))
    notes.push(
      `"${path}" has dates that are no instants, such as days without a time zone; it stays a string`,
    )
  return 'string'
}

const MAX_VALUES = 20
const MAX_LENGTH = 40
/** Each value occurs this many times on average. */
const MIN_USES = 5

/** The name of an enum for a text that repeats a few values; undefined for any other. */
function enumFrom({ values, isOverfull, longest, count, kinds }: Observed, path: string, { enums }: Context) {
  const isFew = !isOverfull && values.size > 0 && values.size <= MAX_VALUES && longest <= MAX_LENGTH
  const isWord = kinds.size === 1 && kinds.has('text')
  if (!isFew || !isWord || values.size * MIN_USES > count || values.has('')) return undefined
  const name = unusedName(path.replaceAll(/[^A-Za-z0-9]+/g, '_'), enums)
  enums.set(name, [...values].sort())
  return name
}

/** Paths such as `ship.city` and `ship_city` would give the same name. A number that is hardly ever used makes it another. */
function unusedName(name: string, enums: Context['enums']): string {
  let unused = name
  for (let i = enums.size + 1; enums.has(unused); i++) unused = `${name}_${i}`
  return unused
}

const IDENTIFYING =
  /^(?:_?id|uuid|guid|key|code|sku|isbn|ean|number|email|e-mail)$|(?:_id|-id|Id|ID| id|_code|Code|_no|_number|Number)$/

/** A field that every document has, with a different value in each, named like a key or else the first one. */
function identityAmong({ members, count }: Observed): string | undefined {
  if (members.has('_id')) return '_id'
  const candidates = [...members].filter(([, at]) => isKey(at, count)).map(([name]) => name)
  const named = candidates.find((name) => IDENTIFYING.test(name))
  if (named !== undefined) return named
  const [first] = members.keys()
  return count >= MIN_RECORDS && first !== undefined && candidates.includes(first) ? first : undefined
}

const KEYS: readonly Kind[] = ['integer', 'biginteger', 'text']

function isKey({ count, isRepeated, isOverfull, values, kinds }: Observed, total: number): boolean {
  const isUnique = total > 0 && count === total && !isRepeated && !isOverfull && !values.has('')
  return isUnique && kinds.size === 1 && KEYS.some((kind) => kinds.has(kind))
}
