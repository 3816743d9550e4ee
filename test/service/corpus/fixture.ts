/** The entity `t` and the document D1 that most cases speak of. */
import type { JsonObject } from '../../../src/base/json/json.ts'

const array = (type: string): JsonObject => ({ type: 'array', items: { type } })

export const FIELDS: JsonObject = {
  _id: { type: 'string', constraints: { identity: true } },
  s: { type: 'string' },
  s2: { type: 'string' },
  m: { type: 'string' },
  i: { type: 'integer' },
  i2: { type: 'integer' },
  d: { type: 'double' },
  bi: { type: 'biginteger' },
  bd: { type: 'bigdecimal' },
  b: { type: 'boolean' },
  dt: { type: 'date' },
  bin: { type: 'binary' },
  u: { type: 'uid' },
  any: { type: 'any' },
  o: {
    type: 'object',
    fields: {
      x: { type: 'string', constraints: { required: true } },
      y: { type: 'integer' },
      a: array('integer'),
    },
  },
  sa: array('string'),
  ia: array('integer'),
  ia2: array('integer'),
  da: array('date'),
  oa: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        id: { type: 'integer', constraints: { 'element-identity': true } },
        n: { type: 'string' },
        k: { type: 'integer' },
        na: {
          type: 'array',
          items: { type: 'object', fields: { p: { type: 'string' }, q: { type: 'integer' } } },
        },
        si: array('string'),
      },
    },
  },
}

/** As it is sent; the service adds `objectType` and the sizes of all arrays. */
export const D1 = `{"s":"abc","i":3,"o":{"x":"ox","y":5,"a":[1,2]},
  "sa":["one","two","three"],"ia":[3,1,2],"ia2":[],
  "oa":[{"id":1,"n":"n1","k":10,"na":[{"p":"p1","q":1},{"p":"p2","q":2}]},
        {"id":2,"n":"n2","k":20,"na":[]},{"id":3,"n":"n3"}]}`
