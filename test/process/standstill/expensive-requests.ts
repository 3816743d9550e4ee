/** Random requests built to be expensive: products, patterns, many faults, long numbers, and bulks of all these. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/seeded.ts'
import { COUNT, nested, text, wideDocument } from './expensive-documents.ts'
import {
  expensivePattern,
  expensiveProjection,
  expensiveQuery,
  expensiveUpdate,
} from './expensive-language.ts'
import { ID, times } from './row.ts'

export interface Request {
  readonly shape: string
  readonly method: string
  readonly path: string
  readonly body?: Json | string
  readonly limitMs: number
}

/** What requests without a limit of their own are held to: a setting of the service. */
export const MAX_MS = 300

export function expensiveRequest(chance: Chance): Request {
  const shape = SHAPES[chance(SHAPES.length)]!
  return { shape: shape.name, limitMs: MAX_MS, ...shape(chance) }
}

type Made = Omit<Request, 'shape' | 'limitMs'> & Partial<Pick<Request, 'limitMs'>>
type Shape = (chance: Chance) => Made

/** The operations that a bulk may have, so that both make them alike. */
type Operation = 'find' | 'explain' | 'insert' | 'save' | 'update' | 'delete'
const OPERATIONS: readonly Operation[] = ['find', 'find', 'explain', 'insert', 'save', 'update', 'delete']

interface Entry extends JsonObject {
  readonly entity: string
}

function entryOf(operation: Operation, chance: Chance): Entry {
  const entity = 'wide'
  const execution = { maxTimeMs: 100 + chance(100) }
  switch (operation) {
    case 'find':
    case 'explain':
      return { entity, query: expensiveQuery(chance), projection: expensiveProjection(chance), execution }
    case 'insert':
      return { entity: 'strict', data: faulty(chance), execution }
    case 'save':
      return {
        entity,
        data: [wideDocument(`w${chance(COUNT)}`, chance(COUNT), chance)],
        upsert: true,
        execution,
      }
    case 'update':
      return { entity, query: narrowed(chance), update: expensiveUpdate(chance), execution }
    case 'delete':
      return {
        entity,
        query: { $and: [{ field: 'k', op: '=', rvalue: -1 }, expensiveQuery(chance)] },
        execution,
      }
  }
}

/** Few documents are changed, or all would soon be as large as they may be. */
function narrowed(chance: Chance): JsonObject {
  return { field: 'k', op: chance(10) === 0 ? '<' : '=', rvalue: chance(COUNT) }
}

const METHODS: Readonly<Record<Operation, string>> = {
  find: 'POST',
  explain: 'POST',
  insert: 'PUT',
  save: 'POST',
  update: 'POST',
  delete: 'POST',
}

function single(operation: Operation, query = ''): Shape {
  const shape: Shape = (chance) => {
    const { entity, ...body } = entryOf(operation, chance)
    const { maxTimeMs } = body['execution'] as { maxTimeMs: number }
    return {
      method: METHODS[operation],
      path: `/data/${operation}/${entity}${query}`,
      body,
      limitMs: maxTimeMs,
    }
  }
  return Object.defineProperty(shape, 'name', { value: `${operation}${query}` })
}

function bulk(chance: Chance): Made {
  const requests = times(1 + chance(6), (seq) => {
    const op = OPERATIONS[chance(OPERATIONS.length)]!
    return { seq, op, request: entryOf(op, chance) }
  })
  const body = { requests, atomic: chance(2) === 0, ordered: chance(2) === 0 }
  return { method: 'POST', path: '/data/bulk', body, limitMs: requests.length * MAX_MS }
}

function longNumber(chance: Chance): Made {
  const digits = `${1 + chance(9)}${'0'.repeat(chance(20_000))}${chance(10)}`
  const number = chance(2) === 0 ? digits : `0.${digits}e-${chance(3_000)}`
  const field = ['price', 'k', 'nums#'][chance(3)]!
  switch (chance(4)) {
    case 0:
      return {
        method: 'GET',
        path: `/data/find/wide?Q=${encodeURIComponent(field)}:${digits.slice(0, 14_000)}`,
      }
    case 1:
      return { method: 'PUT', path: '/data/insert/wide', body: `{"data":[{"k":-2,"${field}":${number}}]}` }
    case 2:
      return {
        method: 'POST',
        path: '/data/lock',
        body: `{"operation":"acquire","domain":"d","callerId":"c","resourceId":"r","ttl":${number}}`,
      }
    default:
      return {
        method: 'POST',
        path: '/data/find/wide',
        body: `{"query":{"field":"${field}","op":"<","rvalue":${number}},"projection":{"field":"_id"}}`,
      }
  }
}

function manyValues(chance: Chance): Made {
  // at times more than there may be
  const values = times(chance(11_000), (i) => i * 7)
  const field = ['k', 'nums.*', 'a.*.x', 'a.*.b.*.z'][chance(4)]!
  const body = { query: { field, op: chance(2) === 0 ? '$in' : '$nin', values }, projection: ID }
  return { method: 'POST', path: '/data/find/wide', body }
}

function largeBody(chance: Chance): Made {
  const kinds: readonly ((bytes: number) => string)[] = [
    (bytes) => `[0${',1.50'.repeat(bytes / 5)}]`,
    (bytes) => `[0${',{}'.repeat(bytes / 3)}]`,
    (bytes) => `[0${',{"a":[]}'.repeat(bytes / 9)}]`,
    (bytes) => `"${'line\\n'.repeat(bytes / 6)}"`,
    (bytes) => `{${times(Math.floor(bytes / 12), (i) => `"key${i}":${i}`).join(',')}}`,
    (bytes) => `{"text":"${'x'.repeat(bytes)}","a":1,"a":2}`,
    (bytes) => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`,
    (bytes) => `"${'\\\\\\"'.repeat(bytes / 4)}`,
  ]
  const more = kinds[chance(kinds.length)]!(20_000 + chance(600_000))
  const entity = chance(3) === 0 ? 'savedSearch' : 'wide'
  return { method: 'PUT', path: `/data/insert/${entity}`, body: `{"data":[{"k":-3,"more":${more}}]}` }
}

function bySearch(chance: Chance): Made {
  return { method: 'POST', path: '/data/search/wide/byPattern', body: { pattern: expensivePattern(chance) } }
}

function byAddress(chance: Chance): Made {
  const values = times(1 + chance(1_500), () => text(chance, 4).replaceAll(/[^a-z]/g, 'x')).join(',')
  const operation = chance(2) === 0 ? 'find' : 'explain'
  const field = ['long', 'texts.*', 'a.*.t', 'a.*.b.*.w'][chance(4)]!
  return { method: 'GET', path: `/data/${operation}/wide?Q=${field}:${values}&P=_id:1&S=k:d` }
}

function generate(chance: Chance): Made {
  return { method: 'GET', path: `/data/generate/counted/n?n=${1 + chance(10_000)}` }
}

function report(chance: Chance): Made {
  const paths = [
    '/metadata/wide/access',
    '/metadata/roles',
    '/metadata/wide/1.0.0',
    '/events?entity=wide&limit=50',
  ]
  return { method: 'GET', path: paths[chance(paths.length)]! }
}

/** Documents in which most is wrong. */
function faulty(chance: Chance): Json {
  const list = times(chance(3_000), () => ({ i: 'x', d: 'never', [`u${chance(9)}`]: 1 }))
  const own = times(chance(3_000), () => ({ x: 1 }))
  return times(1 + chance(4), () => ({
    n: 'many',
    s: text(chance, chance(5_000)),
    list,
    own,
    more: nested(30, chance),
  }))
}

const SHAPES: readonly Shape[] = [
  single('find'),
  single('find'),
  single('find'),
  single('find', '?stream=true'),
  single('explain'),
  single('insert'),
  single('save'),
  single('update'),
  single('update'),
  single('delete'),
  bulk,
  longNumber,
  manyValues,
  largeBody,
  bySearch,
  byAddress,
  generate,
  report,
]
