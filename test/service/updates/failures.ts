/** Updates that cannot be done: to this document, or at all. */
import type { Code } from '../../../src/base/errors.ts'

/** That document's errors; it stays as it is. */
export type Failure = readonly [rule: string, update: string, codes: readonly Code[], given?: string]

const LIMIT: readonly Code[] = ['crud:LimitExceeded']
const INDEX: readonly Code[] = ['crud:InvalidArrayIndex']
const MISFIT: readonly Code[] = ['metadata:IncompatibleValue']

export const FAILURES: readonly Failure[] = [
  ['$set more than 1,000 past the end', '{"$set":{"ia.1004":1}}', LIMIT],
  ['$set far past the end', '{"$set":{"ia.999999999":1}}', LIMIT],
  ['a member more than 1,000 past the end', '{"$set":{"oa.1004.n":"x"}}', LIMIT],
  ['$insert more than 1,000 past the end', '{"$insert":{"ia.1004":1}}', LIMIT],
  ['$set before the start', '{"$set":{"ia.-4":1}}', INDEX],
  ['a member before the start', '{"$set":{"oa.-5.k":1}}', INDEX],
  ['$insert before the start', '{"$insert":{"ia.-4":1}}', INDEX],
  ['$append before the start', '{"$append":{"oa.-5.si":"x"}}', INDEX],
  ['from the end of an absent array', '{"$set":{"ba.-1.any":1}}', INDEX],
  ['$add beyond 64 bits', '{"$add":{"i":1}}', MISFIT, '{"i":9223372036854775807}'],
  ['$add below 64 bits', '{"$add":{"i":-1}}', MISFIT, '{"i":-9223372036854775808}'],
  ['$add beyond all doubles', '{"$add":{"d":1e308}}', MISFIT, '{"d":1e308}'],
  ['$add of a copy that is no number', '{"$add":{"i":{"$valueof":"s"}}}', MISFIT],
  ['a copy that does not convert', '{"$set":{"i":{"$valueof":"s"}}}', MISFIT],
  ['a fraction for an integer', '{"$set":{"i":{"$valueof":"d"}}}', MISFIT, '{"d":1.5}'],
  ['a text that is no date', '{"$set":{"dt":{"$valueof":"s"}}}', MISFIT],
  ['an object with a member too many', '{"$set":{"o3":{"$valueof":"o"}}}', MISFIT],
  ['an array that does not convert', '{"$set":{"ia":{"$valueof":"sa"}}}', MISFIT],
  ['an object from any in a text', '{"$set":{"s":{"$valueof":"any"}}}', MISFIT, '{"any":{"a":1}}'],
  ['a required member taken away', '{"$unset":"o.x"}', ['crud:Required']],
  ['a required member set to null', '{"$set":{"o.x":null}}', ['crud:Required']],
  ['an object without its required member', '{"$set":{"o":{}}}', ['crud:Required']],
  ['an element without its identity', '{"$append":{"oa":{}}}', ['crud:Required']],
  ['an element identity twice', '{"$set":{"oa.1.id":1}}', ['crud:DuplicateArrayElementId']],
  ['an element appended twice', '{"$append":{"oa":{"$valueof":"oa.0"}}}', ['crud:DuplicateArrayElementId']],
  ['a foreign objectType', '{"$set":{"objectType":"x"}}', ['crud:update:NoFieldAccess']],
  ['all violations together', '[{"$unset":"o.x"},{"$append":{"oa":{}}}]', ['crud:Required', 'crud:Required']],
  [
    'copies of copies without end',
    JSON.stringify(
      Array.from({ length: 40 }, () => ({
        $set: { 'ba.0.any': { $valueof: 'ba' }, 'ba.1.any': { $valueof: 'ba' } },
      })),
    ),
    LIMIT,
    '{"ba":[{"any":1},{"any":1}]}',
  ],
  [
    'walks inside walks that grow',
    '{"$foreach":{"ia":"$all","$update":{"$foreach":{"$parent.ia":"$all","$update":{"$foreach":{"$parent.ia":"$all","$update":{"$append":{"$parent.ia":[1,2,3,4,5,6,7,8,9]}}}}}}}}',
    LIMIT,
  ],
  [
    'deeper than requests may be',
    JSON.stringify(Array.from({ length: 100 }, () => ({ $set: { 'ba.0.any': { $valueof: 'ba.0' } } }))),
    LIMIT,
    '{"ba":[{"any":1}]}',
  ],
]

/** The whole request is refused; the place is a JSON pointer. */
export type Refusal = readonly [rule: string, update: string, code: Code, at?: string]

const INVALID = 'query-api:InvalidUpdate'
const UNKNOWN = 'metadata:InvalidFieldReference'
const ARRAY = 'metadata:InvalidArrayReference'
const WRONG = 'metadata:IncompatibleValue'

export const REFUSALS: readonly Refusal[] = [
  ['no operator', '{}', INVALID, '/update'],
  ['an unknown operator', '{"$inc":{"i":1}}', INVALID, '/update/$inc'],
  ['an unknown operator beside a known one', '[{"$set":{}},{"$set":{},"x":1}]', INVALID, '/update/1/x'],
  ['a text', '"$set"', INVALID, '/update'],
  ['a text in the list', '[5]', INVALID, '/update/0'],
  ['a list in the list', '[[]]', INVALID, '/update/0'],
  ['$set of a text', '{"$set":"s"}', INVALID, '/update/$set'],
  ['$unset of an object', '{"$unset":{"s":1}}', INVALID, '/update/$unset'],
  ['$unset of a number', '{"$unset":["s",1]}', INVALID, '/update/$unset/1'],
  ['$append to two arrays', '{"$append":{"ia":1,"sa":"x"}}', INVALID, '/update/$append'],
  ['$append to none', '{"$append":{}}', INVALID, '/update/$append'],
  ['$insert without an index', '{"$insert":{"ia":1}}', INVALID, '/update/$insert/ia'],
  ['$insert everywhere', '{"$insert":{"ia.*":1}}', INVALID, '/update/$insert/ia.*'],
  ['$foreach without $update', '{"$foreach":{"ia":"$all"}}', INVALID, '/update/$foreach'],
  ['$foreach without an array', '{"$foreach":{"$update":"$remove"}}', INVALID, '/update/$foreach'],
  [
    '$foreach of two arrays',
    '{"$foreach":{"ia":"$all","sa":"$all","$update":"$remove"}}',
    INVALID,
    '/update/$foreach',
  ],
  [
    '$foreach with another text',
    '{"$foreach":{"ia":"$all","$update":"$delete"}}',
    INVALID,
    '/update/$foreach/$update',
  ],
  [
    '$foreach with a bad selector',
    '{"$foreach":{"ia":"$any","$update":"$remove"}}',
    'query-api:InvalidUpdate',
    '/update/$foreach/ia',
  ],
  [
    'a bad update inside',
    '{"$foreach":{"ia":"$all","$update":[{"$set":5}]}}',
    INVALID,
    '/update/$foreach/$update/0/$set',
  ],
  ['pointers escape what they must', '{"$set":{"a/b~c":1}}', UNKNOWN, '/update/$set/a~1b~0c'],
  ['$valueof of a number', '{"$set":{"s":{"$valueof":5}}}', INVALID, '/update/$set/s/$valueof'],
  ['$add of null', '{"$add":{"i":null}}', INVALID, '/update/$add/i'],
  ['$add of $null', '{"$add":{"i":"$null"}}', INVALID, '/update/$add/i'],
  ['$add to a text', '{"$add":{"s":1}}', INVALID, '/update/$add/s'],
  ['$add to an object', '{"$add":{"o":1}}', INVALID],
  ['$add to an array', '{"$add":{"ia":1}}', INVALID],
  ['$append to no array', '{"$append":{"s":1}}', INVALID, '/update/$append/s'],
  ['$insert into no array', '{"$insert":{"o.0":1}}', INVALID],
  ['$foreach of no array', '{"$foreach":{"o":"$all","$update":"$remove"}}', INVALID, '/update/$foreach/o'],
  ['_id set', '{"$set":{"_id":"x"}}', INVALID, '/update/$set/_id'],
  ['_id set to what it is', '{"$set":{"_id":{"$valueof":"_id"}}}', INVALID],
  ['_id unset', '{"$unset":"_id"}', INVALID, '/update/$unset'],
  ['_id from below', '{"$foreach":{"ia":"$all","$update":{"$set":{"$parent._id":"x"}}}}', INVALID],
  ['a size', '{"$set":{"ia#":9}}', INVALID, '/update/$set/ia#'],
  ['a size inside', '{"$add":{"oa.0.na#":1}}', INVALID],
  ['the document', '{"$set":{"$this":{}}}', INVALID],
  ['$unset of $this', '{"$foreach":{"ia":"$all","$update":{"$unset":"$this"}}}', INVALID],
  ['* in $set', '{"$set":{"ia.*":1}}', INVALID, '/update/$set/ia.*'],
  ['* in $unset', '{"$unset":"oa.*.n"}', INVALID],
  ['* in $append', '{"$append":{"oa.*.si":"x"}}', INVALID],
  ['* in $valueof', '{"$set":{"i":{"$valueof":"ia.*"}}}', INVALID, '/update/$set/i/$valueof'],
  ['an unknown field', '{"$set":{"zz":1}}', UNKNOWN, '/update/$set/zz'],
  ['an unknown member', '{"$unset":"o.zz"}', UNKNOWN],
  ['a member of any', '{"$set":{"any.a":1}}', UNKNOWN],
  ['an unknown member of a literal', '{"$set":{"o":{"x":"a","zz":1}}}', UNKNOWN, '/update/$set/o'],
  ['an unknown member of an element', '{"$append":{"oa":{"id":9,"zz":1}}}', UNKNOWN],
  ['an unknown source', '{"$set":{"s":{"$valueof":"zz"}}}', UNKNOWN, '/update/$set/s/$valueof'],
  [
    'names from the root inside $foreach',
    '{"$foreach":{"oa":"$all","$update":{"$set":{"oa.0.n":"x"}}}}',
    UNKNOWN,
  ],
  ['$parent above the document', '{"$set":{"$parent.s":"x"}}', UNKNOWN],
  ['an array without its index', '{"$set":{"oa.n":"x"}}', ARRAY, '/update/$set/oa.n'],
  ['an index into an object', '{"$set":{"o.0":"x"}}', ARRAY],
  ['a text for an integer', '{"$set":{"i":"x"}}', WRONG, '/update/$set/i'],
  ['a fraction for an integer', '{"$set":{"i":3.9}}', WRONG],
  ['a fraction added to an integer', '{"$add":{"i":2.9}}', WRONG],
  ['a number for an object', '{"$set":{"o":5}}', WRONG, '/update/$set/o'],
  ['an array for an object', '{"$set":{"o":[]}}', WRONG],
  ['an object for an array', '{"$set":{"ia":{}}}', WRONG],
  ['a number for an array', '{"$set":{"ia":5}}', WRONG],
  ['an object for a text', '{"$set":{"s":{}}}', WRONG],
  ['an array for a text', '{"$set":{"s":[]}}', WRONG],
  ['a wrong value inside an array', '{"$set":{"ia":[1,"x"]}}', WRONG],
  ['a wrong value inside an object', '{"$set":{"o":{"x":"a","y":"x"}}}', WRONG],
  ['an array as an element', '{"$append":{"ia":[[1]]}}', WRONG],
  ['a number as an object element', '{"$append":{"oa":5}}', WRONG],
  ['an object as a simple element', '{"$insert":{"ia.0":{}}}', WRONG],
  ['not base64', '{"$set":{"bin":"!!"}}', WRONG],
  ['a container from a simple field', '{"$set":{"o":{"$valueof":"s"}}}', INVALID],
  ['a simple field from a container', '{"$set":{"s":{"$valueof":"o"}}}', INVALID],
]
