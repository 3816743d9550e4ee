/** GET forms: parameters, and the positions of the documents that come out of twelve with `i` = position. */
import type { Code } from '../../../src/base/errors.ts'

export const SIMPLE_CASES: readonly (readonly [
  rule: string,
  parameters: string,
  shown: readonly number[],
])[] = [
  ['without parameters everything', '', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
  ['Q=f:v is equality', 'Q=i:3', [3]],
  ['Q=f:1,2 is $in', 'Q=i:1,2', [1, 2]],
  ['a trailing comma is kept in a single value', 'Q=s:1%2C%2C', []],
  ['; means and', 'Q=i:1,2,3;s:v2', [2]],
  ['a trailing ; is ignored', 'Q=i:3;', [3]],
  ['values may contain colons', 'Q=m:a:b', [4]],
  ['dates may be asked for', 'Q=dt:20240102T03:04:05.678%2B0000', [5]],
  ['commas may be escaped', 'Q=m:x\\,y', [6]],
  ['semicolons may be escaped', 'Q=m:x\\;y', [7]],
  ['null is a text', 'Q=m:null', [8]],
  ['S sorts', 'S=i:d&maxResults=2', [11, 10]],
  ['S takes several keys', 'S=b:d,i:a&to=1', [1, 3]],
  ['to alone is honoured', 'to=1', [0, 1]],
  ['maxResults alone is honoured', 'maxResults=3', [0, 1, 2]],
  ['from and maxResults', 'from=4&maxResults=2', [4, 5]],
  ['to wins over maxResults', 'from=4&to=4&maxResults=3', [4]],
  ['small letters are accepted', 'q=i:3&s=i:a', [3]],
]

export const SIMPLE_PROJECTIONS: readonly (readonly [rule: string, parameters: string, result: string])[] = [
  ['P=f:1 includes', 'Q=i:3&P=i:1', '{"i":3}'],
  ['the last opinion wins in P', 'Q=i:3&P=*:1r,s:0,_id:0,b:0,objectType:0,sa:0,sa%23:0', '{"i":3}'],
  ['r means all below', 'Q=i:3&P=sa:1r', '{"sa":["x"]}'],
  ['without r arrays vanish', 'Q=i:3&P=sa:1', '{}'],
]

export const SIMPLE_REFUSALS: readonly (readonly [rule: string, parameters: string, code: Code])[] = [
  ['Q without a colon', 'Q=i', 'crud:InvalidRequest'],
  ['Q without a value', 'Q=i:', 'crud:InvalidRequest'],
  ['Q with an empty condition', 'Q=;i:3', 'crud:InvalidRequest'],
  ['Q with a value of another type', 'Q=i:abc', 'metadata:IncompatibleValue'],
  ['Q with an unknown field', 'Q=zz:1', 'metadata:InvalidFieldReference'],
  ['P with another flag', 'P=i:true', 'query-api:InvalidProjection'],
  ['S without a direction', 'S=i', 'query-api:InvalidSort'],
  ['from that is no integer', 'from=x', 'crud:InvalidRequest'],
  ['an unknown parameter', 'R=1', 'crud:InvalidRequest'],
  ['a parameter twice', 'from=1&from=2', 'crud:InvalidRequest'],
]
