/**
 * What finds across references answer. Numbered rows are the vectors that the ancestor of the service was known by;
 * where the answer is another one here, the rule says so. Rows named P are what its users complained of.
 */
import type { Code } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'

export interface ReferenceCase {
  readonly rule: string
  readonly entity: string
  readonly body: JsonObject
  /** The documents, or the code of the refusal. */
  readonly answer: readonly Json[] | Code
  /** Absent: as many as there are documents in the answer. */
  readonly matchCount?: number
}

const is = (field: string, rvalue: Json): JsonObject => ({ field, op: '=', rvalue })
const show = (...fields: readonly string[]): Json => fields.map((field) => ({ field }))
const ALL: JsonObject = { field: '*', recursive: true }
const A123: JsonObject = { field: '_id', op: '$in', values: ['A01', 'A02', 'A03'] }
const BY_ID: JsonObject = { sort: { _id: '$asc' } }

const find = (
  rule: string,
  entity: string,
  body: JsonObject,
  answer: ReferenceCase['answer'],
): ReferenceCase => ({
  rule,
  entity,
  body,
  answer,
})
const onA = (rule: string, body: JsonObject, answer: ReferenceCase['answer']): ReferenceCase =>
  find(rule, 'A', body, answer)
const counting = (matchCount: number, each: ReferenceCase): ReferenceCase => ({ ...each, matchCount })

const FIRM_1 = is('_id', 'f1')
/** Some of the staff, by their `_id`. */
const elements = (item: JsonObject): Json => [{ field: 'staff', projection: { field: '_id' }, ...item }]

const DEEP: Json = {
  _id: 'ADEEP',
  level1: {
    arr1: [{ ref: [{ _id: 'BDEEP1' }] }, { ref: [{ _id: 'BDEEP2' }] }],
  },
}
const DEEP_SHOWN = show('_id', 'level1.arr1.*.ref.*._id')

export const VECTORS: readonly ReferenceCase[] = [
  onA('1: * shows no reference', { query: is('_id', 'A01'), projection: ALL }, [
    {
      _id: 'A01',
      objectType: 'A',
      group: 'g1',
      b_ref: 'B01',
      obj1: { c_ref: 'C01' },
      refs: ['B01', 'B02', 'B03'],
      'refs#': 3,
    },
  ]),
  onA(
    '2: a reference that is named is an array, also when it joins one',
    { query: A123, projection: show('_id', 'b.*.field1'), ...BY_ID },
    [
      { _id: 'A01', b: [{ field1: 'x1' }] },
      { _id: 'A02', b: [{ field1: 'x2' }] },
      { _id: 'A03', b: [{ field1: 'x3' }] },
    ],
  ),
  onA(
    '2: the name alone shows the documents as far as one level goes',
    { query: is('_id', 'A01'), projection: show('b') },
    [{}],
  ),
  onA(
    '2: a recursive name shows them whole',
    { query: is('_id', 'A01'), projection: [{ field: 'b', recursive: true }] },
    [{ b: [{ _id: 'B01', objectType: 'B', field1: 'x1', group: 'g1', c_ref: 'C01' }] }],
  ),
  onA(
    '3: several documents come in the order of the reference (the ancestor knew none)',
    {
      query: { field: '_id', op: '$in', values: ['A01', 'A02'] },
      projection: show('_id', 'nonid_b.*._id'),
      ...BY_ID,
    },
    [
      { _id: 'A01', nonid_b: [{ _id: 'B02' }, { _id: 'B01' }] },
      { _id: 'A02', nonid_b: [{ _id: 'B04' }, { _id: 'B03' }] },
    ],
  ),
  counting(
    2,
    onA(
      '3: a range does not change the count',
      {
        query: { field: '_id', op: '$in', values: ['A01', 'A02'] },
        projection: show('_id', 'nonid_b.*._id'),
        ...BY_ID,
        range: [0, 0],
      },
      [{ _id: 'A01', nonid_b: [{ _id: 'B02' }, { _id: 'B01' }] }],
    ),
  ),
  onA(
    '4: roots are found by a document of a reference',
    { query: is('obj1.c.*.field1', 'c3'), projection: show('_id') },
    [{ _id: 'A03' }],
  ),
  onA(
    '5: by that and by the root itself',
    { query: { $and: [is('_id', 'A03'), is('b.*.field1', 'x3')] }, projection: show('_id') },
    [{ _id: 'A03' }],
  ),
  onA(
    '5: both must hold',
    { query: { $and: [is('_id', 'A02'), is('b.*.field1', 'x3')] }, projection: show('_id') },
    [],
  ),
  onA(
    '6: every element of an array has documents of its own',
    { query: is('_id', 'ADEEP'), projection: DEEP_SHOWN },
    [DEEP],
  ),
  onA(
    '6: not named, they are absent',
    { query: is('_id', 'ADEEP'), projection: show('level1.arr1.*.b_ref') },
    [{ level1: { arr1: [{ b_ref: 'BDEEP1' }, { b_ref: 'BDEEP2' }] } }],
  ),
  onA(
    '7: found by one element, all elements are shown with their documents',
    { query: is('level1.arr1.*.ref.*.field1', 'bdeep1'), projection: DEEP_SHOWN },
    [DEEP],
  ),
  onA(
    '7: the same by elemMatch on the array',
    { query: { array: 'level1.arr1', elemMatch: is('ref.*.field1', 'bdeep1') }, projection: DEEP_SHOWN },
    [DEEP],
  ),
  onA(
    '7: the same by elemMatch on the reference',
    { query: { array: 'level1.arr1.*.ref', elemMatch: is('field1', 'bdeep1') }, projection: DEEP_SHOWN },
    [DEEP],
  ),
  onA(
    '8, P18: a match that hits no document leaves the reference out',
    {
      query: is('_id', 'A01'),
      projection: [{ field: '_id' }, { field: 'nonid_b', match: is('field1', 'x9') }],
    },
    [{ _id: 'A01' }],
  ),
  onA(
    '8: a match shows the documents that it hits',
    {
      query: is('_id', 'A01'),
      projection: [{ field: 'nonid_b', match: is('field1', 'x1'), projection: { field: '_id' } }],
    },
    [{ nonid_b: [{ _id: 'B01' }] }],
  ),
  find(
    '9, P18: only what is behind the reference',
    'B',
    { query: is('_id', 'B01'), projection: show('parents.*._id') },
    [{ parents: [{ _id: 'A01' }] }],
  ),
  find(
    '10, P19: each document has its own documents only',
    'firm',
    {
      query: { field: '_id', op: '$in', values: ['f1', 'f2'] },
      projection: show('_id', 'staff.*.name'),
      ...BY_ID,
    },
    [
      { _id: 'f1', staff: [{ name: 'bob' }, { name: 'ann' }] },
      { _id: 'f2', staff: [{ name: 'dan' }, { name: 'cid' }] },
    ],
  ),
  find(
    '11: joined by elements of an array, in one of two ways',
    'offer',
    { query: is('_id', 'f1'), projection: show('_id', 'buyers.*._id') },
    [{ _id: 'f1', buyers: [{ _id: 'u1' }, { _id: 'u2' }] }],
  ),
  find(
    '11: where no element fits, nothing is joined',
    'offer',
    { query: is('buyers', null), projection: show('_id') },
    [{ _id: 'f2' }],
  ),
  counting(
    1,
    find(
      '11, P13: an empty range counts all the same',
      'offer',
      {
        query: is('buyers.*._id', 'u2'),
        projection: show('_id'),
        range: [0, -1],
      },
      [],
    ),
  ),
  onA(
    '12: a reference that is not named ends the recursion',
    { query: is('_id', 'A01'), projection: [{ field: 'b.*', recursive: true }] },
    [{ b: [{ _id: 'B01', objectType: 'B', field1: 'x1', group: 'g1', c_ref: 'C01' }] }],
  ),
  onA(
    '12: naming it goes one level further',
    { query: is('_id', 'A01'), projection: show('b.*._id', 'b.*.c.*.field1') },
    [{ b: [{ _id: 'B01', c: [{ field1: 'c1' }] }] }],
  ),
  find(
    '12: round a circle as far as it is named',
    'person',
    { query: is('_id', 'p1'), projection: show('works_at.*.staff.*.works_at.*._id') },
    [{ works_at: [{ staff: [{ works_at: [{ _id: 'f1' }] }, { works_at: [{ _id: 'f1' }] }] }] }],
  ),
  onA(
    '13, P15: roots without such a document are no matches',
    { query: { $and: [A123, is('nonid_b.*.field1', 'x2')] }, projection: show('_id') },
    [{ _id: 'A01' }],
  ),
  counting(
    1,
    onA(
      '13: an empty range counts them',
      {
        query: { $and: [A123, is('nonid_b.*.field1', 'x2')] },
        projection: show('_id'),
        range: [0, -1],
      },
      [],
    ),
  ),
  onA(
    '14: $in joins a document for each element',
    { query: is('_id', 'A01'), projection: show('in_b.*._id') },
    [{ in_b: [{ _id: 'B01' }, { _id: 'B02' }, { _id: 'B03' }] }],
  ),
  onA(
    '14: an empty array joins nothing',
    { query: is('_id', 'A02'), projection: show('_id', 'in_b.*._id') },
    [{ _id: 'A02' }],
  ),
  onA(
    '14: an absent array joins nothing',
    { query: is('_id', 'A03'), projection: show('_id', 'in_b.*._id') },
    [{ _id: 'A03' }],
  ),
  onA(
    '15, P17: three levels, the last one asked about',
    {
      query: { array: 'b', elemMatch: is('c.*.d.*.field1', 'd2') },
      projection: show('_id', 'b.*.c.*.d.*.field1'),
    },
    [{ _id: 'A02', b: [{ c: [{ d: [{ field1: 'd2' }] }] }] }],
  ),
  onA(
    '15: what the query leads through is shown by a recursive *',
    { query: is('obj1.c.*.d.*.field1', 'd2'), projection: ALL },
    [
      {
        _id: 'A02',
        objectType: 'A',
        group: 'g2',
        b_ref: 'B02',
        refs: [],
        'refs#': 0,
        obj1: {
          c_ref: 'C02',
          c: [
            {
              _id: 'C02',
              objectType: 'C',
              field1: 'c2',
              d_ref: 'D02',
              d: [{ _id: 'D02', objectType: 'D', field1: 'd2' }],
            },
          ],
        },
      },
    ],
  ),
  find(
    '16, P16: $or across entities that refer to each other',
    'person',
    {
      query: {
        $or: [is('name', 'ann'), is('works_at.*.town', 'Oslo'), is('works_at.*.staff.*.name', 'eve')],
      },
      projection: show('_id'),
      ...BY_ID,
    },
    [{ _id: 'p1' }, { _id: 'p3' }, { _id: 'p4' }, { _id: 'p5' }],
  ),
  counting(
    4,
    find(
      '16: a range of those',
      'person',
      {
        query: {
          $or: [is('name', 'ann'), is('works_at.*.town', 'Oslo'), is('works_at.*.staff.*.name', 'eve')],
        },
        projection: show('_id'),
        ...BY_ID,
        range: [0, 1],
      },
      [{ _id: 'p1' }, { _id: 'p3' }],
    ),
  ),
  find(
    '16: $not across them',
    'firm',
    { query: { $not: is('staff.*.works_at.*.town', 'Rome') }, projection: show('_id'), ...BY_ID },
    [{ _id: 'f2' }, { _id: 'f3' }, { _id: 'f4' }],
  ),
  find(
    '18: arrays that have something in common',
    'topic',
    { query: null, projection: show('_id', 'alike.*._id'), ...BY_ID },
    [
      { _id: 't1', alike: [{ _id: 't2' }, { _id: 't3' }, { _id: 't4' }] },
      { _id: 't2', alike: [{ _id: 't1' }, { _id: 't3' }, { _id: 't4' }] },
      { _id: 't3', alike: [{ _id: 't1' }, { _id: 't2' }, { _id: 't4' }] },
      { _id: 't4', alike: [{ _id: 't1' }, { _id: 't2' }, { _id: 't3' }] },
    ],
  ),
  find(
    '18: the stricter one: 2, 2, 1 and none',
    'topic',
    { query: null, projection: show('_id', 'larger.*._id'), ...BY_ID },
    [
      { _id: 't1', larger: [{ _id: 't3' }, { _id: 't4' }] },
      { _id: 't2', larger: [{ _id: 't3' }, { _id: 't4' }] },
      { _id: 't3', larger: [{ _id: 't4' }] },
      { _id: 't4' },
    ],
  ),
  counting(
    5,
    find(
      '22, P14: range and sort of the root hold when it is found by others',
      'person',
      {
        query: { field: 'works_at.*.town', op: '$in', values: ['Rome', 'Oslo', 'Bonn'] },
        projection: show('_id', 'works_at.*.town'),
        sort: { name: '$desc' },
        range: [0, 2],
      },
      [
        { _id: 'p5', works_at: [{ town: 'Bonn' }] },
        { _id: 'p4', works_at: [{ town: 'Oslo' }] },
        { _id: 'p3', works_at: [{ town: 'Oslo' }] },
      ],
    ),
  ),
  counting(
    0,
    onA(
      'P6: the count is left out when it is not wanted',
      {
        query: is('b.*.field1', 'x1'),
        projection: show('_id'),
        execution: { count: 'none' },
      },
      [{ _id: 'A01' }],
    ),
  ),
  onA(
    'the projection of the reference cuts its documents (in the ancestor it widened)',
    { query: is('_id', 'A01'), projection: [{ field: 'short_b', recursive: true }] },
    [
      {
        short_b: [
          { _id: 'B01', group: 'g1' },
          { _id: 'B02', group: 'g1' },
        ],
      },
    ],
  ),
  onA(
    'P20: documents of a reference are sorted by an array projection',
    {
      query: is('_id', 'A01'),
      projection: [
        { field: 'nonid_b', range: [0, 0], projection: { field: '_id' }, sort: { field1: '$asc' } },
      ],
    },
    [{ nonid_b: [{ _id: 'B01' }] }],
  ),
  onA(
    'P20: sorting by a reference that may join several documents is refused',
    { query: null, projection: ALL, sort: { 'nonid_b.*.field1': '$asc' } },
    'query-api:InvalidSort',
  ),
  onA(
    'a document by its place is refused',
    { query: is('b.0.field1', 'x'), projection: ALL },
    'query-api:InvalidQuery',
  ),
  onA(
    'a reference compared with a value is refused',
    { query: is('b', 'B01'), projection: ALL },
    'query-api:InvalidQuery',
  ),
  onA(
    'an unknown field behind a reference is refused',
    { query: is('b.*.nope', 'x'), projection: ALL },
    'metadata:InvalidFieldReference',
  ),
  onA('the number of joined documents', { query: is('nonid_b#', 2), projection: show('_id'), ...BY_ID }, [
    { _id: 'A01' },
    { _id: 'A02' },
  ]),
  onA('none joined', { query: { $and: [A123, is('nonid_b', null)] }, projection: show('_id') }, [
    { _id: 'A03' },
  ]),
  onA(
    'fields behind two references',
    { query: { field: 'b.*.c_ref', op: '=', rfield: 'obj1.c.*._id' }, projection: show('_id'), ...BY_ID },
    [{ _id: 'A01' }, { _id: 'A02' }, { _id: 'A03' }],
  ),
  find(
    'elements are matched by what their references join, shown or not',
    'firm',
    { query: FIRM_1, projection: elements({ match: is('works_at.*.town', 'Rome') }) },
    [{ staff: [{ _id: 'p2' }, { _id: 'p1' }] }],
  ),
  find(
    'elements whose references join nothing',
    'firm',
    { query: FIRM_1, projection: elements({ match: is('works_at', null) }) },
    [{}],
  ),
  find(
    'elements whose references join something',
    'firm',
    { query: FIRM_1, projection: elements({ match: { field: 'works_at', op: '!=', rvalue: null } }) },
    [{ staff: [{ _id: 'p2' }, { _id: 'p1' }] }],
  ),
  find(
    'elements are sorted by what their references join',
    'person',
    {
      query: is('_id', 'p1'),
      projection: [
        { field: 'works_at', range: [0, 9], projection: { field: '_id' }, sort: { 'staff.*.name': '$asc' } },
      ],
    },
    [{ works_at: [{ _id: 'f1' }] }],
  ),
  find(
    'elements whose references lead to no value',
    'person',
    {
      query: is('_id', 'p1'),
      projection: [{ field: 'works_at', match: is('staff.*.name', null), projection: { field: '_id' } }],
    },
    [{}],
  ),
]
