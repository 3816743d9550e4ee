/** In which order documents come, and which of them a range shows. */

export interface OrderCase {
  readonly rule: string
  readonly documents: readonly string[]
  readonly sort: string
  /** Positions of the documents in the order of the answer. */
  readonly order: readonly number[]
}

export const ORDER_CASES: readonly OrderCase[] = [
  {
    rule: 'missing comes first ascending',
    documents: ['{"i":3}', '{}', '{"i":1}'],
    sort: '{"i":"$asc"}',
    order: [1, 2, 0],
  },
  {
    rule: 'missing comes last descending',
    documents: ['{"i":3}', '{}', '{"i":1}'],
    sort: '{"i":"$desc"}',
    order: [0, 2, 1],
  },
  {
    rule: 'ties are broken by _id ascending, also descending',
    documents: ['{"i":1}', '{"i":1}', '{"i":2}'],
    sort: '{"i":"$desc"}',
    order: [2, 0, 1],
  },
  {
    rule: 'false comes before true',
    documents: ['{"b":true}', '{"b":false}'],
    sort: '{"b":"$asc"}',
    order: [1, 0],
  },
  {
    rule: 'biginteger is ordered as a number',
    documents: ['{"bi":10}', '{"bi":9}', '{"bi":-100000000000000000000}'],
    sort: '{"bi":"$asc"}',
    order: [2, 1, 0],
  },
  {
    rule: 'bigdecimal of another scale is a tie',
    documents: ['{"bd":1.10}', '{"bd":1.1}', '{"bd":1.09}'],
    sort: '{"bd":"$asc"}',
    order: [2, 0, 1],
  },
  {
    rule: 'texts are ordered by code point',
    documents: ['{"s":"\\ud800\\udc00"}', '{"s":"\\uffff"}', '{"s":"b"}', '{"s":"B"}', '{"s":"ä"}'],
    sort: '{"s":"$asc"}',
    order: [3, 2, 4, 1, 0],
  },
  {
    rule: 'dates are ordered by instant',
    documents: ['{"dt":"20240102T00:00:00.000+0000"}', '{"dt":"20240102T00:00:00.000+0100"}'],
    sort: '{"dt":"$asc"}',
    order: [1, 0],
  },
  {
    rule: 'an array stands by its least element ascending',
    documents: ['{"ia":[5,2]}', '{"ia":[3,3]}', '{"ia":[]}', '{"ia":[9,null]}'],
    sort: '{"ia.*":"$asc"}',
    order: [2, 3, 0, 1],
  },
  {
    rule: 'an array stands by its greatest element descending',
    documents: ['{"ia":[5,2]}', '{"ia":[3,9]}', '{}', '{"ia":[null]}'],
    sort: '{"ia.*":"$desc"}',
    order: [1, 0, 2, 3],
  },
  {
    rule: 'an index chooses the element to sort by',
    documents: ['{"ia":[5,2]}', '{"ia":[3,9]}'],
    sort: '{"ia.-1":"$asc"}',
    order: [0, 1],
  },
  {
    rule: 'several keys decide one after the other',
    documents: ['{"i":1,"s":"b"}', '{"i":1,"s":"a"}', '{"i":0,"s":"z"}'],
    sort: '[{"i":"$asc"},{"s":"$desc"}]',
    order: [2, 0, 1],
  },
  {
    rule: 'an empty list of keys sorts by _id',
    documents: ['{"i":2}', '{"i":1}'],
    sort: '[]',
    order: [0, 1],
  },
]

/** Twelve documents: the part of the request, and the positions that come out. */
export const RANGE_CASES: readonly (readonly [rule: string, part: string, shown: readonly number[]])[] = [
  ['both bounds are included', '"range":[5,7]', [5, 6, 7]],
  ['a range may reach beyond the end', '"range":[10,99]', [10, 11]],
  ['a range that ends before it starts is empty', '"range":[7,5]', []],
  ['an open end', '"range":[10,null]', [10, 11]],
  ['null as the start is 0', '"range":[null,1]', [0, 1]],
  ['a negative start counts as 0', '"from":-5,"to":1', [0, 1]],
  ['a negative end is an empty page', '"range":[0,-1]', []],
  ['from and to', '"from":3,"to":4', [3, 4]],
  ['to:null is open', '"from":10,"to":null', [10, 11]],
  ['from and maxResults', '"from":5,"maxResults":2', [5, 6]],
  ['maxResults alone', '"maxResults":2', [0, 1]],
  ['maxResults 0 is an empty page', '"from":0,"maxResults":0', []],
  ['a negative maxResults is none', '"from":10,"maxResults":-1', [10, 11]],
  ['to wins over maxResults', '"from":3,"to":5,"maxResults":1', [3, 4, 5]],
  ['range wins over from and to', '"range":[1,1],"from":3,"to":5', [1]],
  ['a start beyond the end shows nothing', '"from":50', []],
]
