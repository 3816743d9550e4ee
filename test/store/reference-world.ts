/** Two small entities that refer to each other in every way there is, and the evaluator's answers about them. */
import { type Json, type JsonObject, isArray, isObject, member } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import type { Step } from '../../src/base/path.ts'
import { createJoins, isJoined } from '../../src/lang/resolve/joins.ts'
import type { Seen } from '../../src/lang/evaluate/candidates.ts'
import { type World, compileQuery } from '../../src/lang/evaluate/match.ts'
import { compileSort } from '../../src/lang/evaluate/order.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import type { Query } from '../../src/lang/query.ts'
import { resolveQuery, resolveSort } from '../../src/lang/resolve/resolve.ts'
import { type FieldRef, crossing, rootScope } from '../../src/lang/resolve/scope.ts'
import type { JoinPlan, StoredDocument } from '../../src/plan/plan.ts'
import type { SimpleField } from '../../src/schema/field.ts'
import type { Schema } from '../../src/schema/schema.ts'
import type { TypeName } from '../../src/schema/types.ts'
import { json } from '../support/service.ts'
import { compiledSchema } from '../support/schema.ts'

const reference = (entity: string, query?: Json, more: JsonObject = {}): JsonObject => ({
  type: 'reference',
  entity,
  ...(query !== undefined && { query }),
  ...more,
})
const same = (field: string, rfield: string): Json => ({ field, op: '=', rfield })
const within = (field: string, rfield: string): Json => ({ field, op: '$in', rfield })
const parts = (query?: Json, more?: JsonObject): JsonObject => reference('part', query, more)

/** Every reference of a shop, by its path. */
const OF_SHOPS: Readonly<Record<string, JsonObject>> = {
  byId: parts(same('shop', '$parent._id'), { sort: [{ kind: '$desc' }, { n: '$asc' }] }),
  toId: parts(same('$parent.code', '_id')),
  byCode: parts(same('code', '$parent.code'), { sort: { 'marks.*.v': '$asc' } }),
  integerToDecimal: parts(same('bd', '$parent.n')),
  decimalToInteger: parts(same('n', '$parent.bd')),
  integerToDouble: parts(same('d', '$parent.n'), { sort: { 'tags.*': '$desc' } }),
  bigToDouble: parts(same('d', '$parent.bi')),
  byDay: parts(same('day', '$parent.day')),
  byTruth: parts(same('on', '$parent.on')),
  inTags: parts(within('code', '$parent.tags')),
  idInTags: parts(within('_id', '$parent.tags')),
  inNumbers: parts(within('bd', '$parent.numbers')),
  toArray: parts(within('$parent.code', 'tags')),
  toElements: parts(same('tags.*', '$parent.code')),
  byPlace: parts(same('tags.0', '$parent.code')),
  less: parts({ field: 'n', op: '<', rfield: '$parent.n' }),
  different: parts({ field: 'code', op: '!=', rfield: '$parent.code' }),
  everything: parts(undefined, { sort: { n: '$desc' } }),
  byMark: parts({ array: 'marks', elemMatch: same('v', '$parent.$parent.code') }),
  byBoth: parts({ $and: [same('code', '$parent.code'), same('n', '$parent.n')] }),
  someKind: parts({ $and: [same('shop', '$parent._id'), { field: 'kind', op: '=', rvalue: 'a' }] }),
  either: parts({ $or: [same('shop', '$parent._id'), same('code', '$parent.code')] }),
  kindOnly: parts({ field: 'kind', op: '=', rvalue: 'b' }),
  next: reference('shop', same('_id', '$parent.code')),
  alike: reference('shop', same('code', '$parent.code'), { sort: { n: '$asc' } }),
  ghosts: reference('ghost', same('code', '$parent.code')),
  itemByInteger: reference('item', same('_id', '$parent.n')),
  itemByDecimal: reference('item', same('$parent.bd', '_id')),
  itemsByNumbers: reference('item', within('_id', '$parent.numbers'), { sort: { code: '$desc' } }),
  'box.inside': parts(same('code', '$parent.code')),
  'box.outside': parts(same('shop', '$parent.$parent._id')),
  'rows.*.parts': parts(same('code', '$parent.code'), { sort: { n: '$asc' } }),
  'rows.*.ofShop': parts({
    $and: [same('shop', '$parent.$parent._id'), { field: 'n', op: '>=', rfield: '$parent.n' }],
  }),
  'rows.*.cells.*.parts': parts(same('code', '$parent.code')),
}
export const REFERENCES: readonly string[] = Object.keys(OF_SHOPS)

const simple = (...types: readonly string[]): JsonObject =>
  Object.fromEntries(types.map((each) => each.split(':')).map(([name, type]) => [name!, { type: type! }]))
const array = (items: Json): JsonObject => ({ type: 'array', items })
const object = (fields: JsonObject): JsonObject => ({ type: 'object', fields })

/** The references that stand in one place, by their names. */
function referencesAt(place: string): JsonObject {
  const inside = Object.entries(OF_SHOPS).map(([path, field]) => [path.split('.'), field] as const)
  return Object.fromEntries(
    inside
      .filter(([path]) => path.slice(0, -1).join('.') === place)
      .map(([path, field]) => [path.at(-1)!, field]),
  )
}

export const SHOP: Schema = compiledSchema('shop', {
  ...simple('code:string', 'kind:string', 'n:integer', 'bd:bigdecimal', 'bi:biginteger'),
  ...simple('day:date', 'on:boolean'),
  tags: array({ type: 'string' }),
  numbers: array({ type: 'integer' }),
  box: object({ ...simple('code:string'), ...referencesAt('box') }),
  rows: array(
    object({
      ...simple('code:string', 'n:integer'),
      cells: array(object({ ...simple('code:string'), ...referencesAt('rows.*.cells.*') })),
      ...referencesAt('rows.*'),
    }),
  ),
  ...referencesAt(''),
})
export const PART: Schema = compiledSchema('part', {
  ...simple('shop:string', 'code:string', 'kind:string', 'n:integer', 'bd:bigdecimal', 'd:double'),
  ...simple('day:date', 'on:boolean'),
  tags: array({ type: 'string' }),
  marks: array(object(simple('v:string', 'w:integer'))),
  back: reference('shop', same('_id', '$parent.shop')),
  siblings: parts(same('shop', '$parent.shop'), { sort: { code: '$asc' } }),
})
/** Its documents have numbers for ids. */
export const ITEM: Schema = compiledSchema('item', {
  ...simple('_id:integer', 'code:string', 'kind:string', 'next:bigdecimal'),
  shops: reference('shop', same('n', '$parent._id')),
  after: reference('item', same('_id', '$parent.next')),
  itself: reference('item', same('_id', '$parent._id')),
})
/** Nothing was ever stored or declared there. */
const GHOST: Schema = compiledSchema('ghost', simple('code:string', 'kind:string'))
const SCHEMAS: Readonly<Record<string, Schema>> = { shop: SHOP, part: PART, item: ITEM, ghost: GHOST }

const DAY = '20240102T03:04:05.678+0000'

export const SHOPS = json(`[
  {"_id":"s1","code":"a","kind":"a","n":1,"bd":2.0,"bi":3,"day":"${DAY}","on":true,"tags":["a","p1",null],"numbers":[1,2],
   "box":{"code":"b"},"rows":[{"code":"a","n":1,"cells":[{"code":"b"},{}]},{"code":"zz"},null]},
  {"_id":"s2","code":"p1","n":2,"bd":2.5,"bi":9007199254740993,"on":false,"tags":[],"numbers":[],
   "box":{},"rows":[]},
  {"_id":"s3","n":3,"tags":["b","b"],"numbers":[null,3],"rows":[{"cells":[]},{"code":"b","n":2}]},
  {"_id":"s4","code":null,"n":null,"bd":1e0,"bi":null,"day":null,"on":null,"box":null},
  {"_id":"s5","code":"b","n":-1,"bd":123456789012345678901234567890,"tags":["none"],"box":{"code":"a"}},
  {"_id":"s6","code":"s1","kind":"b","n":2,"bd":3.00,"bi":2,"day":"${DAY}","numbers":[2,9],
   "rows":[{"code":"b","n":0,"cells":[{"code":"a"}]}]},
  {"_id":"s7","code":"s7","n":5,"on":true,"tags":["p2","p3"]}
]`) as readonly JsonObject[]

export const PARTS = json(`[
  {"_id":"p1","shop":"s1","code":"a","kind":"a","n":1,"bd":1.00,"d":1.0,"day":"${DAY}","on":true,"tags":["a","b"],"tags#":2,
   "marks":[{"v":"a","w":1},{"v":"b"}]},
  {"_id":"p2","shop":"s1","code":"b","kind":"b","n":2,"bd":2,"d":2.5,"on":false,"tags":["p1"],"tags#":1,"marks":[{"v":"p1","w":2}]},
  {"_id":"p3","shop":"s1","code":"a","kind":"a","n":2,"bd":2.50,"d":2,"tags":[],"tags#":0,"marks":[]},
  {"_id":"p4","shop":"s2","code":"b","kind":"a","n":3,"bd":3.0,"d":3,"tags":["s1","a"],"tags#":2,"marks":[{"w":4},null]},
  {"_id":"p5","shop":"s2","code":null,"kind":"b","n":null,"bd":null,"d":null,"day":null,"on":null},
  {"_id":"p6","kind":"a","n":0,"bd":9007199254740993,"d":9007199254740992e0,"tags":[null,"b"],"tags#":2},
  {"_id":"p7","shop":"s9","code":"p1","kind":"B","n":9,"bd":1e0,"d":-1,"on":true},
  {"_id":"p8","shop":"s6","code":"s1","n":2,"bd":123456789012345678901234567890,"d":3,"marks":[{"v":"s7"}]},
  {"_id":"p9","shop":"s1","code":"a","kind":"a","n":2,"d":2,"tags":["b"],"tags#":1}
]`) as readonly JsonObject[]

export const ITEMS = json(`[
  {"_id":-1,"code":"b","kind":"a","next":3.0},
  {"_id":2,"code":"a","kind":"b","next":10},
  {"_id":3,"kind":"a","next":2.5},
  {"_id":10,"code":"c","next":2e0}
]`) as readonly JsonObject[]

const DOCUMENTS: Readonly<Record<string, readonly JsonObject[]>> = {
  shop: SHOPS,
  part: PARTS,
  item: ITEMS,
  ghost: [],
}

export function documentsOf({ entity }: Schema): readonly JsonObject[] {
  return DOCUMENTS[entity]!
}

/** As stores report it. */
export function idOf({ _id: id }: JsonObject): string {
  return typeof id === 'string' ? id : JSON.stringify(id)
}

export function idTypeOf({ root }: Schema): TypeName {
  return (root.fields.get('_id') as SimpleField).type.name
}

export function resolved(query: Json, schema = SHOP): Query<FieldRef> {
  return resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), rootScope(schema, joinsOf(schema)))
}

/** The plan for a reference, and for those inside of it. */
export function joinPlan(path: string, nested: readonly JoinPlan[] = [], schema = SHOP): JoinPlan {
  const { inner, reference } = crossing({ path, at: '' }, rootScope(schema, joinsOf(schema)))!
  const { query, sort, schema: target } = reference.field.join
  const { joins: _, ...scope } = inner
  return {
    steps: reference.steps,
    collection: target.collection,
    idType: idTypeOf(target),
    query: resolveQuery(query, scope),
    sort: resolveSort(sort, scope),
    joins: nested,
    isShownWhole: false,
  }
}

function joinsOf(schema: Schema) {
  return createJoins(schema, { schemaOf: (entity) => SCHEMAS[entity]!, maxDepth: 5 })
}

/** The ids of the documents that match, as the evaluator has it. */
export function matching(query: Query<FieldRef>, schema = SHOP): readonly string[] {
  const matches = compileQuery(query, WORLD)
  return documentsOf(schema)
    .filter((value) => matches({ value }))
    .map(idOf)
}

const WORLD: World = ({ reference: { field } }) => (isJoined(field) ? documentsOf(field.join.schema) : [])

type Stored = ReadonlyMap<string, StoredDocument>

/** What a plan joins to a document, as the evaluator has it: texts as stored, and facts as values. */
export function expectedJoin(plan: JoinPlan, holder: StoredDocument, stored: Stored): Expected {
  const value = parseTrusted(holder.text)
  return atHolders({ value }, plan.steps.slice(0, -1), (seen) => joinedTo(seen, plan, stored), value)
}

interface Expected {
  readonly documents: string | null
  readonly facts: Json
}
const NOTHING: Expected = { documents: null, facts: null }

function atHolders(
  seen: Seen,
  steps: readonly Step[],
  list: (around: Seen) => Expected,
  value: Json | undefined,
): Expected {
  const [step, ...rest] = steps
  if (step === undefined) return isObject(value) ? list(seen) : NOTHING
  if (step !== '*') return atHolders(seen, rest, list, member(value, String(step)))
  if (!isArray(value) || value.length === 0) return NOTHING
  const entries = value.map((each) => atHolders({ value: each, outer: seen }, rest, list, each))
  return {
    documents: `[${entries.map(({ documents }) => documents ?? 'null').join(',')}]`,
    facts: entries.map(({ facts }) => facts),
  }
}

function joinedTo(outer: Seen, plan: JoinPlan, stored: Stored): Expected {
  const matches = compileQuery(plan.query, WORLD)
  const joined = documentsOf(SCHEMAS[plan.collection.entity]!)
    .map((document): Seen & { readonly text: string } => {
      const { text } = stored.get(idOf(document))!
      return { value: parseTrusted(text), outer, text }
    })
    .filter(matches)
  const found = compileSort(plan.sort)(joined).map((position) => joined[position]!)
  if (found.length === 0) return NOTHING
  return {
    documents: `[${found.map(({ text }) => text).join(',')}]`,
    facts: found.map(({ value }) => factsOf(stored.get(idOf(value as JsonObject))!, plan, stored)),
  }
}

function factsOf(document: StoredDocument, { joins }: JoinPlan, stored: Stored): Json {
  const nested = joins.map((plan) => expectedJoin(plan, document, stored))
  return [
    document.version,
    document.paths ?? null,
    ...nested.flatMap(({ documents, facts }) => [documents === null ? null : parseTrusted(documents), facts]),
  ]
}
