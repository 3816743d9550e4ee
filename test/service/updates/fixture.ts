/** The cases about updates speak of entity `t` and document D1 of the corpus, with places to copy to. */
import type { JsonObject } from '../../../src/base/json/json.ts'
import { FIELDS as CORPUS } from '../corpus/fixture.ts'

export const FIELDS: JsonObject = {
  ...CORPUS,
  o2: {
    type: 'object',
    fields: { x: { type: 'string' }, y: { type: 'string' }, a: { type: 'array', items: { type: 'string' } } },
  },
  o3: { type: 'object', fields: { x: { type: 'string' }, y: { type: 'integer' } } },
  deep: { type: 'object', fields: { o: { type: 'object', fields: { l: { type: 'integer' } } } } },
  ba: {
    type: 'array',
    items: { type: 'object', fields: { any: { type: 'any' }, bd: { type: 'bigdecimal' } } },
  },
}
